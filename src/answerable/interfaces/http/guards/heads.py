"""Check the head of each request: its size, framing, host, and the page that it comes from; add response headers.

A server without keys trusts every local request, and a local browser sends requests for any page that it shows. So a
request must address the server by a known name, because a foreign name for this machine means DNS rebinding. And a
request must not come from a page of another origin.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.paths import is_page
from answerable.interfaces.http.problems import FORMS, Problem, problem

# Round numbers, not measured: browsers and proxies send less, and other servers have about the same limits.
LONGEST_TARGET = 8_192
LONGEST_HEADERS = 16_384  # bytes of names and values
MOST_HEADERS = 100  # other servers have the same limit

TARGET_TOO_LONG = Problem(414, "address_too_long", f"The address is over {LONGEST_TARGET:,} bytes. Shorten it.")
_TOO_LARGE = f"The headers are over {LONGEST_HEADERS:,} bytes, or more than {MOST_HEADERS}. Send fewer."
HEADERS_TOO_LARGE = Problem(431, "headers_too_large", _TOO_LARGE)

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?")

Check = Callable[[Scope], ASGIApp | None]
"""A function that returns the response with which to refuse a request, or None to pass it on."""


class Checked:
    """A middleware that passes on the requests that no check refuses."""

    def __init__(self, app: ASGIApp, *checks: Check) -> None:
        self._app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusals = (check(scope) for check in self._checks) if scope["type"] == "http" else ()
        app = next(filter(None, refusals), self._app)
        await app(scope, receive, send)


def refuse_oversized(scope: Scope) -> ASGIApp | None:
    """Refuse long addresses with 414, and large headers with 431."""
    headers = scope["headers"]
    if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_TARGET:
        return TARGET_TOO_LONG.response()
    if len(headers) > MOST_HEADERS or sum(len(name) + len(value) for name, value in headers) > LONGEST_HEADERS:
        return HEADERS_TOO_LARGE.response()
    return None


def refuse_ambiguous(scope: Scope) -> ASGIApp | None:
    """Refuse with 400 a request that a proxy may read differently and that the HTTP parser accepts."""
    headers = Headers(scope=scope)
    if len(headers.getlist("host")) > 1:
        return problem(400, "bad_request", "Send one Host.", {"Connection": "close"})
    if scope["http_version"] == "1.0" and "transfer-encoding" in headers:
        return problem(400, "bad_request", "HTTP/1.0 has no chunks. Send Content-Length.", {"Connection": "close"})
    return None


class Origins:
    """A `Check` that answers 421 to requests for another server and 403 to requests from pages of another site.

    `hosts` are the server's names besides local ones; None allows any name. `allowed` are origins
    (`https://example.org`) whose pages may use the service.
    """

    def __init__(self, hosts: Collection[str] | None, allowed: Collection[str]) -> None:
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._allowed = {origin.lower().rstrip("/") for origin in allowed}

    def __call__(self, scope: Scope) -> ASGIApp | None:
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            detail = "This is not a name of the server. Use one of its names, or start it with --server-name."
            return problem(421, "misdirected_request", detail)
        if not (self._is_of_own_page(headers) or _is_navigation(scope, headers)):
            detail = "Pages of other sites may not use this server. Allow one with --allow-origin."
            return problem(403, "cross_origin", detail)
        return None

    def _is_ours(self, host: str) -> bool:
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match[1] or match[2]
        return self._hosts is None or name in self._hosts or is_loopback(name)

    def _is_of_own_page(self, headers: Headers) -> bool:
        origins = headers.getlist("origin")
        if not origins:
            return headers.get("sec-fetch-site", "none") in ("none", "same-origin")
        own = headers["host"].lower()
        return all(origin.lower() in self._allowed or _netloc(origin) == own for origin in origins)


def is_loopback(host: str) -> bool:
    """Return whether a host name or address always means this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_navigation(scope: Scope, headers: Headers) -> bool:
    """Return whether the request follows a link, so that the page with the link can't read the response."""
    is_top = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return scope["method"] == "GET" and is_top and "origin" not in headers


# Allow only the server's own styles and scripts, no inline code and no evaluation of strings.
PAGE_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",
        "font-src 'self'",
        # The page fetches recordings with the key, and plays them from a blob.
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
# Browsers ask each time if the page's files have changed, and fetch only changed files.
_PAGE = {**_ALWAYS, "Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-cache"}
DATA_HEADERS = {**_ALWAYS, "Content-Security-Policy": DATA_POLICY, "Cache-Control": "no-store"}
_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}


class ResponseHeaders:
    """A middleware that adds security headers to responses, and gives problems the form that their client expects.

    It keeps headers that a response already has.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope[FORMS] = True
        wanted = dict(_PAGE if is_page(scope) else DATA_HEADERS)
        if scope["scheme"] == "https":
            wanted.update(_HTTPS)

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in wanted.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with)
