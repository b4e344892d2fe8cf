"""Limits on the size, form and speed of request bodies, checked while they arrive."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.paths import is_upload
from answerable.interfaces.http.problems import Problem

# The closing quotation mark is optional, so that an unclosed string is matched once, not once per quotation mark.
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_MARKS = (b'"', b"[", b"]", b"{", b"}")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits on JSON bodies and uploads.

    `marks` counts quotation marks and brackets, which decide how long JSON takes to parse; `nesting` is the depth of
    brackets. A body may take `seconds`, plus one second for each `pace` bytes received. The numbers are round, not
    measured: far above those of the page and other clients.
    """

    json_bytes: int = 4_000_000
    marks: int = 100_000
    upload_bytes: int = 1_000_000_000
    nesting: int = 32
    seconds: float = 30.0
    pace: int = 20_000


class Bodies:
    """A middleware that passes on JSON and uploads within the limits, and answers other bodies with a problem.

    A JSON body is read and checked completely before the app receives it; an upload is checked while the app reads it.
    """

    def __init__(self, app: ASGIApp, limits: BodyLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Lifespan events of ASGI have no headers.
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if not _has_body(headers):
            await self._app(scope, receive, send)
            return
        try:
            is_json = _checked_form(headers, is_upload(scope))
            limit = self._limits.json_bytes if is_json else self._limits.upload_bytes
            body = _Body(receive, limit, self._limits)
            body.check_length(headers.get("content-length", "0"))
            replayed = _replay(_checked_json(await body.whole(), self._limits), receive) if is_json else None
        except _Refused as refused:
            await refused.problem.response()(scope, receive, send)
            return
        await self._app(scope, replayed or body.receive, send)


class _Refused(HTTPException):
    """The error for a refused body. Starlette turns it into a response wherever it reads the body."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)
        self.problem = Problem(status, code, detail, headers)


class _Body:
    """A request body that is counted and timed while it arrives. Methods raise _Refused."""

    def __init__(self, receive: Receive, limit: int, limits: BodyLimits) -> None:
        self._receive = receive
        self._limit = limit
        self._limits = limits
        self._started = time.monotonic()
        self._received = 0
        self._is_over = False

    def check_length(self, length: str) -> None:
        # The HTTP parser has already refused numbers that are too long for int().
        if int(length) > self._limit:
            raise self._too_large()

    async def receive(self) -> Message:
        if self._is_over:
            return await self._receive()
        deadline = self._started + self._limits.seconds + self._received / self._limits.pace
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, deadline - time.monotonic()))
        except asyncio.TimeoutError:
            detail = "The body arrived too slowly. Send it over a faster connection, or in smaller parts."
            raise _Refused(408, "too_slow", detail, {"Connection": "close"}) from None
        self._received += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        if self._received > self._limit:
            raise self._too_large()
        return message

    async def whole(self) -> bytes:
        pieces = []
        while not self._is_over:
            pieces.append((await self.receive()).get("body", b""))
        return b"".join(pieces)

    def _too_large(self) -> _Refused:
        return _Refused(413, "too_large", f"The body is over {self._limit:,} bytes. Send less at once.")


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


def _checked_form(headers: Headers, takes_files: bool) -> bool:
    """Return True for a JSON body, False for an upload. Raise _Refused for any other form."""
    if "transfer-encoding" in headers and "content-length" in headers:
        # With both headers, a proxy and this server might disagree on where the request ends.
        raise _Refused(
            400, "bad_request", "Send Content-Length or Transfer-Encoding, not both.", {"Connection": "close"}
        )
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise _Refused(415, "unsupported_media_type", "Send the body uncompressed, without Content-Encoding.")
    form = headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = "multipart/form-data" if takes_files else "application/json"
    if form != wanted:
        raise _Refused(415, "unsupported_media_type", f"Send the body as {wanted}, with that Content-Type.")
    return not takes_files


def _checked_json(body: bytes, limits: BodyLimits) -> bytes:
    """Return the body if it is JSON that can be parsed and encoded safely. Raise _Refused."""
    if sum(map(body.count, _MARKS)) > limits.marks:
        raise _Refused(413, "too_large", f"The body has over {limits.marks:,} quotation marks and brackets. Send less.")
    if b"\0" in body or not _is_shallow(body, limits.nesting):
        raise _Refused(400, "bad_request", f"The body is not valid JSON, or nested deeper than {limits.nesting}.")
    try:
        text = body.decode("utf-8")
        if "\\u" in text:
            # An escape sequence can be half a surrogate pair, which can be neither sent nor stored.
            json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise _Refused(400, "bad_request", f"The body is not JSON in UTF-8 ({type(error).__name__}).") from error
    return body


def _is_shallow(body: bytes, nesting: int) -> bool:
    """Return whether all brackets close within `nesting` levels."""
    brackets = _TEXT.sub(b"", body).translate(None, _NOT_BRACKETS)
    for _ in range(nesting):
        if not brackets:
            return True
        # Each iteration removes the innermost brackets.
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` function that first returns the body, then later messages such as the disconnect."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
