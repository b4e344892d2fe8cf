"""Who calls: every request has a caller, known by the key that it came with, and routes say what a caller must be.

Without a key file the server listens to this machine alone, and whoever calls may do everything.
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
    "The server has no keys and serves this machine only, but a proxy passed this on. Start it with --keys, or, where "
    "the proxy itself lets in only who may, name that with --proxy."
)
_log = logging.getLogger("answerable")


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls: the key's id, what it may do, and the one library that it is bound to (None: all of them)."""

    id: str
    role: Role
    library: str | None = None

    def sees(self, library: str) -> bool:
        """Whether a library is there for this caller."""
        return self.library in (None, library)


LOCAL = Caller("local", "admin")
"""Whoever calls a server without keys."""


class Authentication:
    """Gives each request its caller, and answers 401 for those that have none, unless `is_public` says of the path
    that anybody may have it.

    A key comes as `Authorization: Bearer …` or `X-API-Key: …`, exactly once, and never in an address, which logs and
    histories keep. Without keys, what a proxy passes on isn't from this machine, and is refused unless `behind_proxy`.

    An address that was refused `most_refused` times in a minute gets 429 instead; whoever has a key comes in all the
    same, from there too.
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
        """Answers a request, or hands it on with `caller` in its state."""
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
    """Who calls. Raises Problem 401 where nobody has been let in."""
    caller: Caller | None = getattr(request.state, "caller", None)
    if caller is None:
        raise Problem(401, "unauthorized", _HOW, {"WWW-Authenticate": _CHALLENGE})
    return caller


def asker(request: Request, service: Serving) -> Caller:
    """The caller, who may ask in the path's `{library}`, if it has one.

    Raises UnknownLibrary for one that isn't there and for one that the key doesn't open: a caller can't tell which.
    """
    caller = caller_of(request)
    library = request.path_params.get("library")
    if library is not None:
        # One that the key doesn't open is looked for under a name that none has, which gives the same answer.
        service.libraries.settings(library if caller.sees(library) else "")
    return caller


def admin(caller: Annotated[Caller, Depends(asker)]) -> Caller:
    """The caller, who may change the path's `{library}`. Raises Problem 403 for a key that may only ask."""
    if caller.role != "admin":
        raise Problem(403, "forbidden", "This key may ask, search and read. Use one that was made with --role admin.")
    return caller


Asker = Annotated[Caller, Depends(asker)]
Admin = Annotated[Caller, Depends(admin)]

_CHALLENGE = 'Bearer realm="answerable"'
_HOW = "Send a key as `Authorization: Bearer …` or `X-API-Key: …`. `answerable keys add` makes one."


def _given(headers: Headers) -> Sequence[str]:
    """The keys that a request came with."""
    bearers = [_BEARER.fullmatch(value.strip()) for value in headers.getlist("authorization")]
    return [match[1] if match else "" for match in bearers] + headers.getlist("x-api-key")


def _caller(keys: Keys, given: Sequence[str]) -> Caller | None:
    if len(given) != 1:
        return None
    try:
        key = keys.find(given[0])
    except SettingsError as error:
        # Without its file the server knows nobody.
        _log.error("%s", printable_line(str(error)))
        return None
    return Caller(key.id, key.role, key.library) if key else None


def _refusal(given: Sequence[str]) -> ASGIApp:
    if not given:
        return problem(401, "unauthorized", _HOW, {"WWW-Authenticate": _CHALLENGE})
    detail = "That is no key of this server, or not exactly one. " + _HOW
    return problem(401, "unauthorized", detail, {"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'})
