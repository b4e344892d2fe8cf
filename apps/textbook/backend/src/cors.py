"""Which other sites' pages may ask: those of the origins that CORS_ORIGINS names, letter for letter."""

from __future__ import annotations

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from src.settings import load

UNSUPPORTED = "X-Unsupported-Sentences"


class BookPages(CORSMiddleware):
    """Lets the book's pages ask `/chat`. Cookies are never part of it, nor is the administrator's key."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app, allow_methods=["GET", "POST"], expose_headers=["Retry-After", UNSUPPORTED])

    def is_allowed_origin(self, origin: str) -> bool:
        """Whether CORS_ORIGINS names it now."""
        return origin in load().origins
