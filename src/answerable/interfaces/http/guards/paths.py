"""Classify the path of a request, for the guards."""

from __future__ import annotations

from starlette.types import Scope

# All other routes need a key, so a new route is closed until it is listed here.
_PUBLIC = frozenset({"/health", "/ready", "/openapi.json"})
_PAGE = "/page/"


def route_path(scope: Scope) -> str:
    """Return the path without the server's base path."""
    path: str = scope["path"]
    base = scope.get("root_path", "").rstrip("/")
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else path


def is_page(scope: Scope) -> bool:
    """Return whether the request is for the web page or one of its files."""
    path = route_path(scope)
    return path in ("", "/") or path.startswith(_PAGE)


def is_public(scope: Scope) -> bool:
    """Return whether the request needs no key."""
    return scope["method"] in ("GET", "HEAD") and (is_page(scope) or route_path(scope) in _PUBLIC)


def is_upload(scope: Scope) -> bool:
    """Return whether the request's path accepts uploads."""
    return scope["method"] == "POST" and route_path(scope).endswith("/documents")
