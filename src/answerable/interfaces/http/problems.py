"""Errors as `application/problem+json` (RFC 9457) with stable codes, in OpenAI's form, or as a page.

Clients see errors that their requests cause. Errors in the server's folders, settings and keys go to the server's log;
clients only learn that an error occurred.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from html import escape
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable import errors
from answerable.errors import AnswerableError, LibraryNotFound, error_code
from answerable.interfaces.http.paths import OPENAI, route_path
from answerable.text import printable_line
from answerable.threads import Busy

MEDIA_TYPE = "application/problem+json"
FORMS = "answerable.forms_of_problems"
"""The ASGI scope key that allows problems in the form that their client expects; without it, they are JSON."""


class UnknownLibrary(LibraryNotFound):
    """The error for a name that no library of the server has."""


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
    errors.PlanError: 422,
    errors.SettingsError: 503,
    errors.MissingPackage: 503,
    errors.ProviderError: 502,
    errors.ProviderOverloaded: 503,
    errors.ContentFiltered: 422,
}
# Codes of errors of Starlette; problems of ours name theirs.
_CODES = {
    400: "bad_request",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_media_type",
}
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
# Errors whose messages are hidden, since they reveal folders, addresses and settings of the server.
_PRIVATE = (errors.LibraryError, errors.SettingsError, errors.MissingPackage, errors.ProviderRefused)
_OPEN = (errors.DocumentNotFound, UnknownLibrary)
_log = logging.getLogger("answerable")


class Problem(Exception):
    """The error that routes raise to answer with a problem. `detail` says what the user can do next."""

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
        return _ProblemResponse(self, more)


class _ProblemResponse(JSONResponse):
    """A problem as JSON, or in the form that its client expects."""

    def __init__(self, found: Problem, more: Mapping[str, Any]) -> None:
        super().__init__({**found.json(), **more}, found.status, found.headers, MEDIA_TYPE)
        self._problem = found

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        other = _form_of(scope, self._problem) if FORMS in scope else None
        await (other or super().__call__)(scope, receive, send)


def problem(status: int, code: str, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> JSONResponse:
    """Return a problem as a response; `more` are extra members."""
    return Problem(status, code, detail, headers).response(**more)


def problem_of(error: Exception) -> Problem:
    """Return the problem for an error: for the engine's errors by their class, for others a fault of the server."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, Busy):
        return Problem(503, "busy", str(error), {"Retry-After": str(error.retry_after)})
    if isinstance(error, ClientDisconnect):
        # The client has gone: nobody reads this response, and the server has no fault to log.
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


async def _handle_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    status = error.status_code
    headers = {"Allow": _allowed(request)} if status == 405 else error.headers
    return problem(status, _CODES.get(status, "error"), str(error.detail), headers)


def _allowed(request: Request) -> str:
    """Return all methods of a path: the router names those of one of its routes only."""
    matches, scope = [each.matches for each in request.app.routes], request.scope
    return ", ".join(each for each in _METHODS if any(m({**scope, "method": each})[0] is Match.FULL for m in matches))


# Paths that programs use, so that their problems are JSON.
_API = ("/api/", f"{OPENAI}/", "/openapi.json", "/metrics", "/health", "/ready", "/mcp")
_LANGUAGES = ("en", "es", "pt")
_ELSEWHERE = (
    "The server doesn't know this address. Open the one that its administrator gave you.",
    "El servidor no reconoce esta dirección. Abre la que te dio quien lo administra.",
    "O servidor não reconhece este endereço. Abra o que quem o administra informou.",
)
_NOTHING = ("There is no page here.", "Aquí no hay ninguna página.", "Não há nenhuma página aqui.")
_BUSY = (
    "The server can't show this page now. Try again in a minute.",
    "El servidor no puede mostrar esta página ahora. Inténtalo en un minuto.",
    "O servidor não pode mostrar esta página agora. Tente de novo em um minuto.",
)
_TEXTS = {403: _ELSEWHERE, 421: _ELSEWHERE, 401: _NOTHING, 404: _NOTHING, 405: _NOTHING}
_START = ("Go to the start page", "Ir a la página de inicio", "Ir para a página inicial")


def _form_of(scope: Scope, found: Problem) -> Response | None:
    """Return a problem in the form for a request, or None for JSON."""
    if route_path(scope).startswith(f"{OPENAI}/"):
        # OpenAI's API uses 400 for invalid bodies.
        status = 400 if found.status == 422 else found.status
        return JSONResponse(openai_error(found, status), status, found.headers)
    if scope["method"] == "GET" and Headers(scope=scope).get("sec-fetch-dest") == "document":
        return None if route_path(scope).startswith(_API) else _page(scope, found)
    return None


def openai_error(found: Problem, status: int) -> dict[str, Any]:
    """Return a problem in OpenAI's form."""
    param = "model" if found.code == "model_not_found" else None
    if found.code.startswith("unsupported_"):
        param = found.code.removeprefix("unsupported_")
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": found.detail, "type": kind, "param": param, "code": found.code}}


def _page(scope: Scope, found: Problem) -> HTMLResponse:
    language = _language(Headers(scope=scope).get("accept-language", ""))
    said, start = (texts[_LANGUAGES.index(language)] for texts in (_TEXTS.get(found.status, _BUSY), _START))
    # Show no link with a wrong address, where the start page doesn't work either.
    home = escape(f"{scope.get('root_path', '').rstrip('/')}/")
    link = f'<p><a href="{home}">{start}</a></p>' if found.status not in (403, 421) else ""
    head = '<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Answerable</title>'
    body = f"<h1>Answerable</h1><p>{said}</p>{link}"
    return HTMLResponse(
        f'<!doctype html><html lang="{language}"><head>{head}</head><body>{body}</body></html>', found.status
    )


def _language(accepted: str) -> str:
    """Return the first of `_LANGUAGES` that the browser accepts."""
    wanted = (tag.strip()[:2].lower() for tag in accepted.split(","))
    return next((each for each in wanted if each in _LANGUAGES), _LANGUAGES[0])
