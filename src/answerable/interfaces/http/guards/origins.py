"""Restrict browsers to the service's own page and to allowed origins.

A server without keys trusts every local request, and a local browser sends requests for any page that it shows. So a
request must address the server by a known name, because a foreign name for this machine means DNS rebinding. And it
must not come from a page of another origin.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.interfaces.http.problems import problem

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::[0-9]{1,5})?")


class Origins:
    """A middleware that answers 421 to requests for another server and 403 to requests from pages of another site.

    `hosts` are the server's names besides local ones; None allows any name. `allowed` are origins
    (`https://example.org`) whose pages may use the service.
    """

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None = (), allowed: Collection[str] = ()) -> None:
        self._app = app
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._allowed = {origin.lower().rstrip("/") for origin in allowed}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if not self._is_ours(headers.get("host", "")):
            detail = "This is not a name of the server. Use one of its names, or start it with --server-name."
            await problem(421, "misdirected_request", detail)(scope, receive, send)
        elif not (self._is_of_own_page(headers) or _is_navigation(scope, headers)):
            detail = "Pages of other sites may not use this server. Allow one with --allow-origin."
            await problem(403, "cross_origin", detail)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

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
    """Return whether the request follows a link. The page with the link can't read the response."""
    is_top = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
    return scope["method"] == "GET" and is_top and "origin" not in headers
