"""The web application: the routes of a service behind its guards."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable import __version__
from answerable.interfaces.http.guards.stack import Guards
from answerable.interfaces.http.metrics import CountRequests
from answerable.interfaces.http.openai import routes as openai_api
from answerable.interfaces.http.openai.openai_errors import OpenAIErrors
from answerable.interfaces.http.page_files import page_router
from answerable.interfaces.http.problems import add_handlers
from answerable.interfaces.http.routes import (
    ask,
    documents,
    following,
    ingestion,
    libraries,
    operations,
    sessions,
    settings,
)
from answerable.interfaces.http.service import Service
from answerable.interfaces.http.syncing import keep_schedule

_ABOUT = "Ask your own documents. Every answer quotes its exact source, or reports that the documents don't answer."


def create_app(service: Service) -> FastAPI:
    """Return an app with a service's routes but without guards (see `protect`).

    Closing the app closes the service.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        schedule = asyncio.create_task(keep_schedule(service))
        try:
            yield
        finally:
            schedule.cancel()
            await asyncio.to_thread(service.close)

    app = FastAPI(
        title="Answerable",
        summary=_ABOUT,
        version=__version__,
        lifespan=lifespan,
        # These pages load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    add_handlers(app)
    for routes in (operations, libraries, ask, documents, ingestion, following, sessions, settings, openai_api):
        app.include_router(routes.router)
    app.include_router(page_router())
    return app


def protect(app: FastAPI, guards: Guards) -> ASGIApp:
    """Return the app behind guards and metrics, under the service's base path."""
    service: Service = app.state.service
    counted = CountRequests(OpenAIErrors(guards.around(app)), service.metrics)
    return _BasePath(counted, app, service.options.base_path)


class _BasePath:
    """A middleware that serves an app under a base path, whether or not a proxy strips that path.

    Lifespan events go to `inner`.
    """

    def __init__(self, app: ASGIApp, inner: ASGIApp, base: str) -> None:
        self._app = app
        self._inner = inner
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        if self._base:
            path: str = scope["path"]
            if path == self._base:
                # The page's relative URLs need the slash.
                await RedirectResponse(f"{self._base}/")(scope, receive, send)
                return
            is_whole = path.startswith(f"{self._base}/")
            scope = {**scope, "root_path": self._base, "path": path if is_whole else self._base + path}
        await self._app(scope, receive, send)
