"""How the service starts: a setting that makes no sense ends that with one line, a missing key is warned of."""

from __future__ import annotations

import logging

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from answerable.errors import SettingsError
from src.settings import Settings

_FAILED = "lifespan.startup.failed"
_log = logging.getLogger("textbook")


class PlainStart:
    """Tells what prevents a start by the error's message instead of a traceback."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes everything on but the traceback of a SettingsError."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        failure: Message | None = None

        async def kept(message: Message) -> None:
            nonlocal failure
            if message["type"] == _FAILED:
                failure = message
            else:
                await send(message)

        try:
            await self._app(scope, receive, kept)
        except SettingsError as error:
            failure = {"type": _FAILED, "message": " ".join(str(error).split())}
        finally:
            if failure:
                await send(failure)


def warn(settings: Settings) -> None:
    """Tells the operator what will not work."""
    if not settings.admin_key:
        _log.warning("ADMIN_API_KEY is not set: POST /ingest refuses everyone. Set it to a secret of your own.")
