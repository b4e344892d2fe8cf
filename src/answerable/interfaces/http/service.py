"""The parts that all requests of a server share. They are closed with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import platformdirs
from fastapi import Depends, Request

from answerable.interfaces.http.folders import Folders
from answerable.interfaces.http.jobs import Jobs
from answerable.interfaces.http.libraries import Build, Libraries, open_library
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.originals import Originals
from answerable.interfaces.http.overviews import Overviews
from answerable.interfaces.http.session_store import Sessions
from answerable.interfaces.http.sync_reports import SyncReports
from answerable.interfaces.http.uploads import clean_up
from answerable.settings import Settings
from answerable.threads import Pool

# Each read takes milliseconds of a processor; a few at once, since some wait for a disk or a database.
_READERS = 4


def default_data_folder() -> Path:
    """Return the default folder for sessions and uploads."""
    return Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "server"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a server. Times are in seconds, except `session_days`.

    Admins may have the server follow what lies in `folders`. `fixed` names, for settings that can't be chosen on the
    page, what sets them: an environment variable or an option. Schedules are looked at every `look_every` seconds.
    `stop_after` limits answers after a stop signal, `heartbeat` is the time between keep-alives of a silent stream,
    `patience` the time a client may take to accept a piece of a stream.
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
    folders: tuple[Path, ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    look_every: float = 60.0


@dataclass(frozen=True)
class Service:
    """The parts of a running server, in `request.app.state.service`. `stopping` is set when streams must end.

    `reads` are threads for what is read quickly, such as a list of documents, so that it doesn't wait behind questions.
    """

    libraries: Libraries
    pool: Pool
    reads: Pool
    jobs: Jobs
    sessions: Sessions
    originals: Originals
    reports: SyncReports
    folders: Folders
    overviews: Overviews
    metrics: Metrics
    options: Options
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def stop(self) -> None:
        """Cancel jobs now, and answers after `stop_after` seconds. Call it in the thread of the event loop."""
        self.jobs.cancel_all()
        asyncio.get_running_loop().call_later(self.options.stop_after, self.stopping.set)

    def remove_library(self, name: str) -> None:
        """Remove a library that was made on the page, with its documents, uploads and conversations.

        Blocks until its jobs have ended. Raise SettingsError, LibraryError and DiskFull.
        """
        identity = self.libraries.identity(name)
        self.jobs.end(name)
        self.libraries.remove(name)
        self.sessions.delete_library(identity)
        self.reports.forget(identity)

    def close(self) -> None:
        """End jobs and calls, close the libraries, and block until all are closed. Idempotent."""
        self.jobs.close()
        self.overviews.close()
        self.pool.close()
        self.reads.close()
        self.originals.close()
        self.sessions.close()
        self.libraries.close()


def open_service(
    libraries: Mapping[str, Settings], options: Options | None = None, build: Build = open_library
) -> Service:
    """Make the service for named libraries, which open on first use. Raise SettingsError.

    The first library is the default.
    """
    options = options or Options()
    data = options.data_folder
    clean_up(data / "uploads")
    named = Libraries(libraries, data, build)
    metrics = Metrics()
    return Service(
        libraries=named,
        pool=Pool(options.workers, options.waiting),
        reads=Pool(_READERS, options.waiting),
        jobs=Jobs(options.jobs_waiting, metrics=metrics),
        sessions=Sessions(data / "sessions.db", options.session_days),
        originals=Originals(named),
        reports=SyncReports(data / "reports"),
        folders=Folders(options.folders, data),
        overviews=Overviews(named),
        metrics=metrics,
        options=options,
    )


def service_of(request: Request) -> Service:
    """Return the service of a request."""
    service: Service = request.app.state.service
    return service


Serving = Annotated[Service, Depends(service_of)]
