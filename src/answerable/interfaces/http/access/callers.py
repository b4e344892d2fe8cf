"""Identify the caller of each request by its key, and check what the caller may do.

Without a key file the server listens on this machine alone, and every caller may do everything.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable.errors import SettingsError
from answerable.interfaces.http.access.key_file import Keys, Role
from answerable.interfaces.http.access.moving_window import MovingWindow, network_of, too_many
from answerable.interfaces.http.problems import Problem, problem
from answerable.interfaces.http.service import Serving
from answerable.text import printable_line

_BEARER = re.compile(r"bearer +(\S+)", re.IGNORECASE)
_FORWARDING = frozenset({"forwarded", "x-forwarded-for", "x-real-ip"})
_FORWARDED = (
    "The server has no keys and serves only this machine, but a proxy forwarded this request. Start it with --keys or, "
    "if the proxy authenticates users, name it with --proxy."
)
_log = logging.getLogger("answerable")


@dataclass(frozen=True, slots=True)
class Caller:
    """A caller: the id of its key, its role, and the only library that the key opens (None: all libraries)."""

    id: str
    role: Role
    library: str | None = None

    def sees(self, library: str) -> bool:
        """Return whether the caller may use a library."""
        return self.library in (None, library)


LOCAL = Caller("local", "admin")
"""Every caller of a server without keys."""


class Authentication:
    """A middleware that sets each request's caller, and answers 401 to requests without one.

    Paths that `is_public` accepts need no caller. A key is sent as `Authorization: Bearer …` or `X-API-Key: …`, exactly
    once, and never in a URL, because logs and histories keep URLs. Without keys only local requests are accepted; a
    forwarded request isn't local, so it is refused unless `behind_proxy`.

    After `most_refused` refusals in a minute an address gets 429 instead of 401; requests with a valid key still pass.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys | None,
        is_public: Callable[[Scope], bool],
        behind_proxy: bool = False,
        most_refused: int = 60,
    ) -> None:
        self._app = app
        self._keys = keys
        self._is_public = is_public
        self._behind_proxy = behind_proxy
        self._refused = MovingWindow(most_refused)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not self._is_public(scope):
            headers = Headers(scope=scope)
            given = _given(headers)
            if self._keys is None and not self._behind_proxy and not _FORWARDING.isdisjoint(headers):
                await problem(403, "forbidden", _FORWARDED)(scope, receive, send)
                return
            caller = LOCAL if self._keys is None else _caller(self._keys, given)
            if caller is None:
                wait = self._refused.hit(network_of(scope.get("client")))
                refusal = too_many(wait, "requests without a right key") if wait else _refusal(given)
                await refusal(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
        await self._app(scope, receive, send)


def caller_of(request: Request) -> Caller:
    """Return the caller of a request. Raise Problem 401 if there is none."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise Problem(401, "unauthorized", _HOW, {"WWW-Authenticate": _CHALLENGE})
    return caller


def asker(request: Request, service: Serving) -> Caller:
    """Return the caller if it may ask questions of the library in the path (`{library}`).

    Raise UnknownLibrary both for an unknown library and for one that the caller's key doesn't open.
    """
    caller = caller_of(request)
    library = request.path_params.get("library")
    if library is not None:
        # No library has an empty name, so both cases give the same error.
        service.libraries.settings(library if caller.sees(library) else "")
    return caller


def admin(caller: Annotated[Caller, Depends(asker)], request: Request, service: Serving) -> Caller:
    """Return the caller if it may change the library in the path.

    Raise Problem 403 for a key that may only ask, and 409 for all libraries together.
    """
    if caller.role != "admin":
        raise Problem(403, "forbidden", "This key may only ask, search and read. Use a key made with --role admin.")
    if service.libraries.is_together(request.path_params.get("library", "")):
        raise Problem(409, "many_libraries", "All libraries together can only be asked. Choose the one to change.")
    return caller


Asker = Annotated[Caller, Depends(asker)]
Admin = Annotated[Caller, Depends(admin)]

_CHALLENGE = 'Bearer realm="answerable"'
_HOW = "Send a key as `Authorization: Bearer …` or `X-API-Key: …`. Make one with `answerable keys add`."


def _given(headers: Headers) -> Sequence[str]:
    bearers = [_BEARER.fullmatch(value.strip()) for value in headers.getlist("authorization")]
    return [match[1] if match else "" for match in bearers] + headers.getlist("x-api-key")


def _caller(keys: Keys, given: Sequence[str]) -> Caller | None:
    if len(given) != 1:
        return None
    try:
        key = keys.find(given[0])
    except SettingsError as error:
        # Without its key file the server admits nobody.
        _log.error("%s", printable_line(str(error)))
        return None
    return Caller(key.id, key.role, key.library) if key else None


def _refusal(given: Sequence[str]) -> ASGIApp:
    if not given:
        return problem(401, "unauthorized", _HOW, {"WWW-Authenticate": _CHALLENGE})
    detail = "This key is not valid here, or the request has more than one. " + _HOW
    return problem(401, "unauthorized", detail, {"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'})
