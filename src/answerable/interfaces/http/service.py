"""What every request works with, made once for a server and closed with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import platformdirs
from fastapi import Depends, Request

from answerable.interfaces.http.jobs import Jobs
from answerable.interfaces.http.libraries import Build, Libraries, open_library
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.originals import Originals
from answerable.interfaces.http.pool import Pool
from answerable.interfaces.http.sessions import Sessions
from answerable.interfaces.http.uploads import clean_up
from answerable.settings import Settings


def default_data_folder() -> Path:
    """Where a server keeps its sessions and what was uploaded, unless it is told otherwise."""
    return Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "server"


@dataclass(frozen=True, slots=True)
class Options:
    """How a server works. Times are in seconds, but for `session_days`.

    `stop_after` is how long answers may go on when the server is told to stop, `heartbeat` how often a silent stream
    says that it lives, `patience` how long a client may take to accept a piece of a stream.
    """

    data_folder: Path = field(default_factory=default_data_folder)
    base_path: str = ""
    workers: int = 8
    waiting: int = 128
    session_days: float = 30.0
    jobs_waiting: int = 16
    max_files: int = 100
    stop_after: float = 10.0
    heartbeat: float = 15.0
    patience: float = 60.0


@dataclass(frozen=True)
class Service:
    """The parts of a running server, at `request.app.state.service`. `stopping` is set when streams must end."""

    libraries: Libraries
    pool: Pool
    jobs: Jobs
    sessions: Sessions
    originals: Originals
    metrics: Metrics
    options: Options
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self) -> None:
        """Cancels jobs, and lets answers go on for as long as the options say. For the event loop's thread."""
        self.jobs.cancel_all()
        asyncio.get_running_loop().call_later(self.options.stop_after, self.stopping.set)

    def close(self) -> None:
        """Ends jobs and calls and closes the libraries; blocks until all of it is over. Closing twice is fine."""
        self.jobs.close()
        self.pool.close()
        self.originals.close()
        self.sessions.close()
        self.libraries.close()


def open_service(
    libraries: Mapping[str, Settings], options: Options | None = None, build: Build = open_library
) -> Service:
    """The service over named libraries, the first being the default; they are opened later. Raises SettingsError."""
    options = options or Options()
    uploads = options.data_folder / "uploads"
    clean_up(uploads)
    named = Libraries(libraries, uploads, build)
    metrics = Metrics()
    return Service(
        libraries=named,
        pool=Pool(options.workers, options.waiting),
        jobs=Jobs(options.jobs_waiting, metrics=metrics),
        sessions=Sessions(options.data_folder / "sessions.db", options.session_days),
        originals=Originals(named),
        metrics=metrics,
        options=options,
    )


def service_of(request: Request) -> Service:
    """The service of the app that a request came to."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(service_of)]
