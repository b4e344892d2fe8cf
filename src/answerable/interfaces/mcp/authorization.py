"""Permissions of callers over HTTP. Over standard input and output the caller may do everything."""

from __future__ import annotations

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError

ADMIN = "admin"


def user_of(key_id: str, role: str) -> AuthenticatedUser:
    """The SDK's user for a key; a session belongs to the key that started it."""
    return AuthenticatedUser(AccessToken(token="", client_id=key_id, scopes=[role]))


def require_admin() -> None:
    """Raise ToolError if the caller's key may only ask."""
    found = get_access_token()
    if found is not None and ADMIN not in found.scopes:
        raise ToolError("This key may only ask, search and read. Use a key made with --role admin.")
