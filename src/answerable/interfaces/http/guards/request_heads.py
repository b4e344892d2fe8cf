"""Limit the head of a request. The HTTP parser limits only heads that arrive in pieces."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.interfaces.http.problems import problem

LONGEST_TARGET = 8_192
LONGEST_HEADERS = 16_384
MOST_HEADERS = 100


class Heads:
    """A middleware that answers 414 to long addresses and 431 to large headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        app = self._app
        if scope["type"] == "http":
            headers = scope["headers"]
            if len(scope["raw_path"]) + len(scope["query_string"]) > LONGEST_TARGET:
                app = problem(414, "address_too_long", f"The address is over {LONGEST_TARGET:,} bytes. Shorten it.")
            elif (
                len(headers) > MOST_HEADERS or sum(len(name) + len(value) for name, value in headers) > LONGEST_HEADERS
            ):
                detail = f"The headers are over {LONGEST_HEADERS:,} bytes, or more than {MOST_HEADERS}. Send fewer."
                app = problem(431, "headers_too_large", detail)
        await app(scope, receive, send)
