"""Errors as `application/problem+json` (RFC 9457) with stable codes.

Clients see errors that their requests cause. Errors in the server's folders, settings and keys go to the server's log;
clients only learn that an error occurred.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable import errors
from answerable.errors import AnswerableError, error_code
from answerable.interfaces.http.libraries import UnknownLibrary
from answerable.text import printable_line
from answerable.threads import Busy

MEDIA_TYPE = "application/problem+json"

_STATUS: dict[type[AnswerableError], int] = {
    AnswerableError: 500,
    errors.SourceError: 422,
    errors.SourceTooLarge: 413,
    errors.SiteUnreachable: 502,
    errors.LibraryError: 503,
    errors.DocumentNotFound: 404,
    errors.DiskFull: 507,
    UnknownLibrary: 404,
    errors.EmbeddingError: 503,
    errors.FilterError: 422,
    errors.SettingsError: 503,
    errors.MissingPackage: 503,
    errors.ProviderError: 502,
    errors.ProviderOverloaded: 503,
    errors.ContentFiltered: 422,
}
_CODES = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_media_type",
    422: "invalid_request",
    429: "too_many_requests",
    503: "busy",
}
# Their messages reveal folders, addresses and settings of the server.
_PRIVATE = (errors.LibraryError, errors.SettingsError, errors.MissingPackage, errors.ProviderRefused)
_OPEN = (errors.DocumentNotFound, UnknownLibrary)
_log = logging.getLogger("answerable")


class Problem(Exception):
    """The error that routes raise to answer with a problem. `detail` tells people what to do next."""

    def __init__(self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.detail = detail
        self.headers = dict(headers or {})

    def json(self) -> dict[str, Any]:
        """Return the body of the response."""
        return {
            "type": f"urn:answerable:problem:{self.code}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }

    def response(self, **more: Any) -> JSONResponse:
        """Return the response; `more` are extra members."""
        return JSONResponse({**self.json(), **more}, self.status, self.headers, MEDIA_TYPE)


def problem(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> JSONResponse:
    """Return a problem as a response; `more` are extra members."""
    return Problem(status, code, detail, headers).response(**more)


def problem_of(error: Exception) -> Problem:
    """Return the problem for an error: by class for the engine's errors, otherwise a fault of the server."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Busy):
        return Problem(503, "busy", str(error), {"Retry-After": str(error.retry_after)})
    if isinstance(error, ClientDisconnect):
        # The client has gone, so nobody reads this; nothing is wrong with the server.
        return Problem(400, "bad_request", "The body ended early. Send it completely.")
    if not isinstance(error, AnswerableError):
        _log.error("Unexpected error.", exc_info=error)
        return Problem(500, "internal_error", "Internal error. Tell the server's administrator; the log has details.")
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    detail = str(error)
    if isinstance(error, _PRIVATE) and not isinstance(error, _OPEN):
        _log.error("%s", printable_line(str(error)))
        detail = "The server isn't set up to do this. Tell its administrator; the reason is in its log."
        if isinstance(error, errors.DiskFull):
            detail = "The server's disk is full. Tell its administrator, and try again later."
    elif isinstance(error, errors.DocumentNotFound):
        detail = detail.replace("`answerable list` shows them.", "GET /api/v1/{library}/documents lists them.")
    retry_after = getattr(error, "retry_after", None)
    return Problem(
        status, error_code(type(error)), detail, {"Retry-After": str(int(retry_after))} if retry_after else None
    )


def add_handlers(app: FastAPI) -> None:
    """Make the app answer every error with a problem."""
    for kind in (Problem, Busy, AnswerableError, ClientDisconnect):
        app.add_exception_handler(kind, _handle)
    app.add_middleware(_Faults)
    app.add_exception_handler(RequestValidationError, _handle_invalid)
    app.add_exception_handler(HTTPException, _handle_http)


class _Faults:
    """A middleware that answers unhandled errors.

    Starlette would answer them too, but would then close the connection.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_started = False

        async def noting(message: Message) -> None:
            nonlocal is_started
            is_started = is_started or message["type"] == "http.response.start"
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as error:
            if scope["type"] != "http" or is_started:
                raise
            await problem_of(error).response()(scope, receive, send)


async def _handle(_: Request, error: Exception) -> JSONResponse:
    return problem_of(error).response()


async def _handle_invalid(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    # Omit the input: it may be long or secret.
    wrong = [{"where": ".".join(map(str, each["loc"])), "message": each["msg"]} for each in error.errors()]
    named = "; ".join(f"{each['where']}: {each['message']}" for each in wrong[:3])
    return problem(422, "invalid_request", f"The request is invalid ({named}). Correct it.", errors=wrong[:20])


async def _handle_http(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    return problem(status, _CODES.get(status, "error"), str(error.detail), error.headers)
