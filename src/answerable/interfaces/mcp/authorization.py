"""What a caller over HTTP may do. Over standard input and output whoever started the server may do everything."""

from __future__ import annotations

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError

ADMIN = "admin"


def user_of(key_id: str, role: str) -> AuthenticatedUser:
    """A key as the SDK knows callers: a session belongs to the one that began it."""
    return AuthenticatedUser(AccessToken(token="", client_id=key_id, scopes=[role]))


def require_admin() -> None:
    """Raises ToolError where the caller has a key that may only ask."""
    found = get_access_token()
    if found is not None and ADMIN not in found.scopes:
        raise ToolError("This key may ask, search and read. Use one that was made with --role admin.")
