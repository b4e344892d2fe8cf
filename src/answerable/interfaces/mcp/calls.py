"""The library's calls block: they run in threads, a bounded number at once, apart from those that move messages."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, from_thread, to_thread
from mcp.server.mcpserver.exceptions import ToolError

from answerable.errors import AnswerableError

AT_ONCE = 8

Given = TypeVar("Given")


class Calls:
    """Runs blocking functions for tools; what goes wrong as expected becomes an error that the assistant reads."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._limiter = CapacityLimiter(at_once)

    async def run(self, function: Callable[..., Given], *arguments: object) -> Given:
        """What the function gives. A call that is cancelled ends where the function asks `check_cancelled`."""
        try:
            return await to_thread.run_sync(partial(function, *arguments), limiter=self._limiter)
        except (AnswerableError, ValueError) as error:
            raise ToolError(str(error)) from error


def check_cancelled() -> None:
    """Ends a function that `run` runs, from within, if its caller has gone or asked to stop."""
    from_thread.check_cancelled()
