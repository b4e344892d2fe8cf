"""Run the calls of tools: in a bounded number of threads, and over HTTP only with permission."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from anyio import CapacityLimiter, from_thread, to_thread
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError

from answerable.errors import AnswerableError

_ADMIN = "admin"

Given = TypeVar("Given")


class Calls:
    """A runner of blocking functions for tools; it turns expected errors into errors that the assistant reads."""

    def __init__(self, at_once: int = 8) -> None:
        self._limiter = CapacityLimiter(at_once)

    async def run(self, function: Callable[..., Given], *arguments: object) -> Given:
        """Run a function. A cancelled call ends where the function next calls `check_cancelled`."""
        try:
            return await to_thread.run_sync(partial(function, *arguments), limiter=self._limiter)
        except (AnswerableError, ValueError) as error:
            raise ToolError(str(error)) from error


def check_cancelled() -> None:
    """End the running function if its caller has gone or has cancelled the call."""
    from_thread.check_cancelled()


def user_of(key_id: str, role: str) -> AuthenticatedUser:
    """Return the SDK's user for a key; a session belongs to the key that started it."""
    return AuthenticatedUser(AccessToken(token="", client_id=key_id, scopes=[role]))


def require_admin() -> None:
    """Raise ToolError if the caller's key may only ask. Over standard input and output anything is allowed."""
    found = get_access_token()
    if found is not None and _ADMIN not in found.scopes:
        raise ToolError("This key may only ask, search and read. Use a key made with --role admin.")
