"""The HTTP server: a service's parts and routes behind the guards; also the routes health, readiness and metrics."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import FrameType

from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from answerable import __version__
from answerable.interfaces.http.guards.stack import GuardedServer, Guards
from answerable.interfaces.http.jobs import Jobs
from answerable.interfaces.http.libraries import Build, Libraries, open_library
from answerable.interfaces.http.library_records import SyncReports
from answerable.interfaces.http.metrics import CONTENT_TYPE, CountRequests, Metrics
from answerable.interfaces.http.openai import routes as openai_api
from answerable.interfaces.http.originals import Originals, clean_up
from answerable.interfaces.http.page_files import page_router
from answerable.interfaces.http.problems import Problem, add_handlers
from answerable.interfaces.http.routes import ask, documents, sessions
from answerable.interfaces.http.routes.filling import following, ingestion
from answerable.interfaces.http.routes.libraries import of_libraries, of_settings
from answerable.interfaces.http.routes.shared import Admin, PlainResponse, Serving, api_router, responses
from answerable.interfaces.http.schemas import StatusOut
from answerable.interfaces.http.service import Options, Service, keep_schedule
from answerable.interfaces.http.session_store import Sessions
from answerable.settings import Settings
from answerable.threads import Pool

# Seconds for connections to close after answers have ended; a round number.
_GRACE = 3
# Threads for reads, each of which takes milliseconds but may wait for a disk or a database. A guess, not measured.
_READERS = 4
_ABOUT = "Ask your own documents. Every answer quotes its exact source, or reports that the documents don't answer."

router = api_router("operations")


def open_service(named: Mapping[str, Settings], options: Options | None = None, build: Build = open_library) -> Service:
    """Make the service for named libraries, which open on first use. Raise SettingsError.

    The first library is the default.
    """
    options = options or Options()
    data = options.data_folder
    clean_up(data / "uploads")
    opened = Libraries(named, data, build)
    metrics = Metrics()
    return Service(
        libraries=opened,
        pool=Pool(options.workers, options.waiting),
        reads=Pool(_READERS, options.waiting),
        jobs=Jobs(options.jobs_waiting, metrics=metrics),
        sessions=Sessions(data / "sessions.db", options.session_days),
        originals=Originals(opened),
        reports=SyncReports(data / "reports"),
        metrics=metrics,
        options=options,
    )


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
        # FastAPI's documentation pages would load scripts from other sites.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # A filter is the same in a question and in its answer.
        separate_input_output_schemas=False,
    )
    app.state.service = service
    add_handlers(app)
    app.include_router(router)
    of_texts = (ask.router, documents.router)
    for routes in (of_libraries, *of_texts, ingestion, following, sessions.router, of_settings, openai_api.router):
        app.include_router(routes)
    app.include_router(page_router())
    return app


def protect(app: FastAPI, guards: Guards) -> ASGIApp:
    """Return the app behind guards and metrics, under the service's base path."""
    service: Service = app.state.service
    counted = CountRequests(guards.around(app), service.metrics)
    return _BasePath(counted, app, service.options.base_path)


@router.get("/health", responses=responses(StatusOut))
async def get_health() -> Response:
    """Report that the server is running."""
    return PlainResponse({"status": "ok"})


@router.get("/ready", responses=responses(StatusOut))
async def get_readiness(service: Serving) -> Response:
    """Report whether every library is open and its store responds."""

    def count_all() -> None:
        for name in service.libraries.names():
            service.libraries.get(name).count()

    try:
        await service.reads.run(count_all)
    except Exception as error:
        raise Problem(503, "not_ready", "A library is unavailable. See the server's log.") from error
    return PlainResponse({"status": "ready"})


@router.get("/metrics", responses=responses(content={"text/plain": {}}), response_class=Response)
async def get_metrics(caller: Admin, service: Serving) -> Response:
    """Get counts and times of all libraries for Prometheus, without contents of questions or documents."""
    if caller.library:
        raise Problem(403, "forbidden", "Metrics cover all libraries, and this key opens only one.")
    return Response(service.metrics.text(), headers={"Content-Type": CONTENT_TYPE})


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
                # The page's relative URLs need a slash at the end of its own URL.
                await RedirectResponse(f"{self._base}/")(scope, receive, send)
                return
            is_whole = path.startswith(f"{self._base}/")
            scope = {**scope, "root_path": self._base, "path": path if is_whole else self._base + path}
        await self._app(scope, receive, send)


class Server(GuardedServer):
    """A running service. On a stop signal it finishes answers within the time that the options set.

    Raise SettingsError for an unavailable address, or one that other machines could reach without keys.
    """

    def __init__(self, service: Service, guards: Guards, host: str = "127.0.0.1", port: int = 8000) -> None:
        exposed = (
            "read and change everything. Make a key with `answerable keys add --role admin FILE` and start with "
            "--keys FILE, or leave --host out."
        )
        self.service = service
        app = protect(create_app(service), guards)
        super().__init__(app, guards, host, port, exposed, int(service.options.stop_after) + _GRACE)

    @property
    def address(self) -> str:
        """The URL of the server's page."""
        return f"{super().address}{self.service.options.base_path}/"

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop at the first signal; at the second, end the process at once, like a loss of power."""
        if self.should_exit:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Refuse new connections, cancel jobs, and finish or end answers."""
        self.service.stop()
        await super().shutdown(sockets)
