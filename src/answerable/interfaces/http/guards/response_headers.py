"""Set the security headers of every response."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.guards.paths import is_page

# Styles and scripts are our own files; nothing is inline, nothing is evaluated.
PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        # Recordings are fetched with the key, then played.
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
)
DATA_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"

_ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
# Browsers revalidate the page's files each time, and fetch only changed ones.
_PAGE = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
_DATA = {"Content-Security-Policy": DATA_POLICY, "Cache-Control": "no-store"}
_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}


class ResponseHeaders:
    """A middleware that adds security headers to every response that doesn't set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        wanted = {**_ALWAYS, **(_PAGE if is_page(scope) else _DATA)}
        if scope["scheme"] == "https":
            wanted.update(_HTTPS)

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with)
