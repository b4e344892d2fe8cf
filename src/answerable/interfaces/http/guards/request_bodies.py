"""What comes in a request's body: how much, in which form and how fast, checked while it arrives."""

from __future__ import annotations

import asyncio
import json
import re
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.interfaces.http.guards.paths import is_upload
from answerable.interfaces.http.problems import Problem, problem

# The end is optional, so that a text without one is passed over once and not tried from each of its marks.
_TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_MARKS = (b'"', b"[", b"]", b"{", b"}")
_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """The bytes of a JSON body and of an upload, how involved JSON may be, and how long a body may take.

    `marks` are quotation marks and brackets, which JSON takes its time to read by, `nesting` is how deep brackets may
    stand in each other. A body has `seconds`, and one more for each `pace` bytes that have come.
    """

    json_bytes: int = 4_000_000
    marks: int = 100_000
    upload_bytes: int = 1_000_000_000
    nesting: int = 32
    seconds: float = 30.0
    pace: int = 20_000


class Bodies:
    """Hands a body on that is JSON or an upload within the limits; anything else is answered with a problem.

    JSON is read whole and checked before the app sees any of it, an upload while the app reads it.
    """

    def __init__(self, app: ASGIApp, limits: BodyLimits | None = None) -> None:
        self._app = app
        self._limits = limits or BodyLimits()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request through the app, or refuses it."""
        # What else comes through, such as the app's beginning and end, has no headers.
        headers = Headers(scope=scope) if scope["type"] == "http" else Headers()
        if not _has_body(headers):
            await self._app(scope, receive, send)
            return
        try:
            is_json = _checked_form(headers, is_upload(scope))
            limit = self._limits.json_bytes if is_json else self._limits.upload_bytes
            body = _Body(receive, limit, self._limits)
            body.declared(headers.get("content-length", "0"))
            handed_on = _replay(_checked_json(await body.whole(), self._limits), receive) if is_json else None
        except _Refused as refused:
            found = refused.problem
            await problem(found.status, found.code, found.detail, found.headers)(scope, receive, send)
            return
        await self._app(scope, handed_on or body.receive, send)


class _Refused(HTTPException):
    """A body that isn't taken. Frameworks turn it into a response of its status wherever they read the body."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)
        self.problem = Problem(status, code, detail, headers)


class _Body:
    """A body that is counted and timed while it arrives. Its methods raise _Refused."""

    def __init__(self, receive: Receive, limit: int, limits: BodyLimits) -> None:
        self._receive = receive
        self._limit = limit
        self._limits = limits
        self._started = time.monotonic()
        self._received = 0
        self._is_over = False

    def declared(self, length: str) -> None:
        """Refuses a body that says itself that it is too large."""
        # Longer numbers than any length are refused before this by the HTTP parser.
        if int(length) > self._limit:
            raise self._too_large()

    async def receive(self) -> Message:
        """The next piece, as ASGI has it."""
        if self._is_over:
            return await self._receive()
        deadline = self._started + self._limits.seconds + self._received / self._limits.pace
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, deadline - time.monotonic()))
        except asyncio.TimeoutError:
            detail = "The body took too long to come. Send it again over a faster connection, or in smaller parts."
            raise _Refused(408, "too_slow", detail, {"Connection": "close"}) from None
        self._received += len(message.get("body", b""))
        self._is_over = not message.get("more_body", False)
        if self._received > self._limit:
            raise self._too_large()
        return message

    async def whole(self) -> bytes:
        """All of it."""
        pieces = []
        while not self._is_over:
            pieces.append((await self.receive()).get("body", b""))
        return b"".join(pieces)

    def _too_large(self) -> _Refused:
        return _Refused(413, "too_large", f"The body is over {self._limit:,} bytes. Send less at once.")


def _has_body(headers: Headers) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0").strip("0") != ""


def _checked_form(headers: Headers, takes_files: bool) -> bool:
    """Whether the body is JSON; the other possibility is an upload. Raises _Refused."""
    if "transfer-encoding" in headers and "content-length" in headers:
        # Two servers in a row might disagree on where such a request ends.
        raise _Refused(
            400, "bad_request", "Send Content-Length or Transfer-Encoding, not both.", {"Connection": "close"}
        )
    if headers.get("content-encoding", "identity").lower() != "identity":
        raise _Refused(415, "unsupported_media_type", "Send the body as it is, without Content-Encoding.")
    form = headers.get("content-type", "").partition(";")[0].strip().lower()
    wanted = "multipart/form-data" if takes_files else "application/json"
    if form != wanted:
        raise _Refused(415, "unsupported_media_type", f"Send the body as {wanted}, and say so in Content-Type.")
    return not takes_files


def _checked_json(body: bytes, limits: BodyLimits) -> bytes:
    """The body, if it is JSON that can be read and sent back safely. Raises _Refused."""
    if sum(map(body.count, _MARKS)) > limits.marks:
        raise _Refused(413, "too_large", f"The body has over {limits.marks:,} quotation marks and brackets. Send less.")
    if b"\0" in body or not _is_shallow(body, limits.nesting):
        raise _Refused(400, "bad_request", f"The body is no JSON, or nested deeper than {limits.nesting}.")
    try:
        text = body.decode("utf-8")
        if "\\u" in text:
            # An escape can name half a character, which no text that is sent or stored can hold.
            json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8")
    except ValueError as error:
        raise _Refused(400, "bad_request", f"The body is no JSON in UTF-8 ({type(error).__name__}).") from error
    return body


def _is_shallow(body: bytes, nesting: int) -> bool:
    """Whether brackets close, none deeper than `nesting`."""
    brackets = _TEXT.sub(b"", body).translate(None, _NOT_BRACKETS)
    for _ in range(nesting):
        if not brackets:
            return True
        # Each round takes away what is innermost.
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
    return not brackets


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body at once, then what comes after it: that the client has gone."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def next_message() -> Message:
        return messages.pop() if messages else await receive()

    return next_message
