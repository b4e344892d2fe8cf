"""The parts that all requests of a server share, which close with the server, and the jobs that change libraries."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from answerable.indexing.ingest import AddReport, OnProgress
from answerable.interfaces.http.jobs import Job, Jobs
from answerable.interfaces.http.library_records import SyncReports
from answerable.interfaces.http.metrics import Metrics
from answerable.interfaces.http.session_store import Sessions
from answerable.interfaces.plain import verification_json
from answerable.text import printable_line
from answerable.threads import Pool

if TYPE_CHECKING:
    from answerable.interfaces.http.libraries import Libraries
    from answerable.interfaces.http.originals import Originals

_log = logging.getLogger("answerable")


def default_data_folder() -> Path:
    """Return the default folder for sessions and uploads."""
    return Path(platformdirs.user_data_dir("answerable", appauthor=False)) / "server"


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a server. Times are in seconds, except `session_days`.

    Admins may let the server follow files in `folders`, and may change providers' addresses with `addresses`. For
    settings that can't be chosen on the page, `fixed` has the environment variable or option that sets them. Schedules
    are checked every `look_every` seconds. `stop_after` limits answers after a stop signal, `heartbeat` is the time
    between keep-alives of a silent stream: many proxies close a connection that is silent for 30 or 60 seconds. The
    numbers are round, not measured.
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
    folders: tuple[Path, ...] = ()
    addresses: bool = False
    fixed: Mapping[str, str] = field(default_factory=dict)
    look_every: float = 60.0


@dataclass(frozen=True)
class Service:
    """The parts of a running server, in `request.app.state.service`. `stopping` is set when streams must end.

    `reads` are threads for short reads, such as a list of documents, so that these don't wait for questions.
    """

    libraries: Libraries
    pool: Pool
    reads: Pool
    jobs: Jobs
    sessions: Sessions
    originals: Originals
    reports: SyncReports
    metrics: Metrics
    options: Options
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    started: int = field(default_factory=lambda: int(time.time()))

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
        self.pool.close()
        self.reads.close()
        self.originals.close()
        self.sessions.close()
        self.libraries.close()


def start_adding(service: Service, library: str, source: str) -> Job:
    """Add a site, folder or file and follow it, in a job."""

    def work(report: AddReport, on_progress: OnProgress) -> None:
        opened = service.libraries.get(library)
        report.merge(opened.add(source, on_progress))
        followed = opened.origins()
        named = {origin.name: report for origin in followed if origin.is_called(source)}
        service.reports.record(service.libraries.identity(library), named, followed)

    return service.jobs.start(library, [source], work)


def start_sync(service: Service, library: str, origins: Sequence[str] = (), password: str = "") -> Job:
    """Visit these followed sources, or all, in a job. The password is for PDFs, and isn't kept."""
    libraries, reports = service.libraries, service.reports

    def work(report: AddReport, on_progress: OnProgress) -> None:
        opened, identity = libraries.get(library), libraries.identity(library)
        if not origins:
            # Record the time at the beginning, so that a failed sync isn't tried again before the next is due.
            reports.begin(identity)
        with closing(libraries.reader(library, password)) as reader:
            found = opened.reading_with(reader).sync(origins, on_progress)
        report.merge(found.total)
        reports.record(identity, found.origins, opened.origins())

    return service.jobs.start(library, list(origins), work, kind="sync")


def start_verification(service: Service, library: str, repair: bool = False) -> Job:
    """Compare a library with its sources and its index in a job, and with `repair` fix the differences."""

    def work(report: AddReport, on_progress: OnProgress) -> dict[str, Any]:
        return verification_json(service.libraries.get(library).verify(repair))

    return service.jobs.start(library, [], work, kind="verify")


def start_vectors(service: Service, library: str) -> Job:
    """Make the vectors that an interrupted job has left to be made, in a job."""

    def work(report: AddReport, on_progress: OnProgress) -> None:
        report.merge(service.libraries.get(library).make_vectors(on_progress))

    return service.jobs.start(library, [], work, kind="sync")


async def keep_schedule(service: Service) -> None:
    """Sync each library when it is due, until cancelled; at once if it became due while the server was off."""
    while True:
        await asyncio.sleep(service.options.look_every)
        try:
            await service.pool.run(start_due, service)
        except Exception as error:
            # Go on after an error: a full queue or disk now must not prevent all later syncs.
            _log.warning("%s", printable_line(f"A scheduled sync couldn't start: {error}"))


def start_due(service: Service) -> list[Job]:
    """Start the syncs that are due now, and the making of vectors that wait, and return the jobs."""
    started = []
    for name in service.libraries.names():
        opened = service.libraries.opened(name)
        unfinished = [job for job in service.jobs.list(name) if not job.is_over]
        if opened is not None and opened.store.is_writable and not unfinished and opened.waiting():
            unfinished = [start_vectors(service, name)]
            started += unfinished
        every = service.libraries.choices(name).every
        if not every or any(job.kind == "sync" for job in unfinished):
            continue
        if service.reports.read(service.libraries.identity(name))["tried"] + every <= time.time():
            started.append(start_sync(service, name))
    return started
