"""Write errors in OpenAI's form for every route under the prefix of OpenAI's protocol."""

from __future__ import annotations

import json

from fastapi.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.guards.paths import route_path
from answerable.interfaces.http.problems import MEDIA_TYPE
from answerable.interfaces.plain import Plain

PREFIX = "/v1"

_OF_THE_BODY = (b"content-type", b"content-length")


class OpenAIErrors:
    """A middleware that rewrites the problems of these routes in OpenAI's form, whatever raised them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not route_path(scope).startswith(f"{PREFIX}/"):
            await self._app(scope, receive, send)
            return
        started: Message | None = None
        body = b""

        async def translate(message: Message) -> None:
            nonlocal started, body
            if message["type"] == "http.response.start" and _is_problem(message):
                started = message
            elif started is None:
                await send(message)
            else:
                body += message.get("body", b"")
                if not message.get("more_body", False):
                    await _error(started, json.loads(body))(scope, receive, send)

        await self._app(scope, receive, translate)


def error_body(status: int, found: Plain) -> Plain:
    """Return a problem in OpenAI's form."""
    code: str = found["code"]
    param = (
        "model" if code == "model_not_found" else code.removeprefix("unsupported_") if "unsupported_" in code else None
    )
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": found["detail"], "type": kind, "param": param, "code": code}}


def _is_problem(message: Message) -> bool:
    return any(
        name.lower() == b"content-type" and value.startswith(MEDIA_TYPE.encode()) for name, value in message["headers"]
    )


def _error(started: Message, found: Plain) -> Response:
    # OpenAI uses 400 for invalid bodies.
    status = 400 if started["status"] == 422 else started["status"]
    response = JSONResponse(error_body(status, found), status)
    kept = [(name, value) for name, value in started["headers"] if name.lower() not in _OF_THE_BODY]
    response.raw_headers += kept
    return response
