"""Run the library's blocking calls in a bounded number of threads."""

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
    """Runs blocking functions for tools; expected errors become errors the assistant reads."""

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._limiter = CapacityLimiter(at_once)

    async def run(self, function: Callable[..., Given], *arguments: object) -> Given:
        """Run a function. A cancelled call ends where the function calls `check_cancelled`."""
        try:
            return await to_thread.run_sync(partial(function, *arguments), limiter=self._limiter)
        except (AnswerableError, ValueError) as error:
            raise ToolError(str(error)) from error


def check_cancelled() -> None:
    """End the running function if its caller has gone or cancelled it."""
    from_thread.check_cancelled()
