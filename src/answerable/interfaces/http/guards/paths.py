"""What a request's path is about, as the guards of the server see it. Routes say the rest."""

from __future__ import annotations

from starlette.types import Scope

# Whatever isn't known to be public needs a key: a route that is added later is closed until it is named here.
_PUBLIC = frozenset({"/health", "/ready", "/openapi.json"})
_PAGE = "/page/"


def route_path(scope: Scope) -> str:
    """The path without the base path that the server stands under."""
    path: str = scope["path"]
    base = scope.get("root_path", "").rstrip("/")
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else path


def is_page(scope: Scope) -> bool:
    """Whether it is the web page or one of its files, which are the same for everybody."""
    path = route_path(scope)
    return path in ("", "/") or path.startswith(_PAGE)


def is_public(scope: Scope) -> bool:
    """Whether anybody may have it, without a key."""
    return scope["method"] in ("GET", "HEAD") and (is_page(scope) or route_path(scope) in _PUBLIC)


def is_upload(scope: Scope) -> bool:
    """Whether its body is files."""
    return scope["method"] == "POST" and route_path(scope).endswith("/documents")
