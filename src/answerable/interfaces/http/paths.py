"""Classify the path of a request."""

from __future__ import annotations

from starlette.types import Scope

OPENAI = "/v1"
"""The path prefix of OpenAI's protocol."""
# Paths without a key; all other routes need a key, so a new route is protected unless it is listed here.
_PUBLIC = frozenset({"/health", "/ready", "/openapi.json"})


def route_path(scope: Scope) -> str:
    """Return the path without the server's base path."""
    path: str = scope["path"]
    base = scope.get("root_path", "").rstrip("/")
    return path[len(base) :] if f"{path}/".startswith(f"{base}/") else path


def is_page(scope: Scope) -> bool:
    """Return whether the request is for the web page or one of its files."""
    path = route_path(scope)
    return path in ("", "/") or path.startswith("/page/")


def is_public(scope: Scope) -> bool:
    """Return whether the request needs no key."""
    return scope["method"] in ("GET", "HEAD") and (is_page(scope) or route_path(scope) in _PUBLIC)


def is_upload(scope: Scope) -> bool:
    """Return whether the request's path accepts uploads; the router refuses other methods than POST."""
    return route_path(scope).endswith("/documents")
