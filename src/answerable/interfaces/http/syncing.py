"""Jobs that visit followed sources and verify a library, and the schedule that starts them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from answerable.indexing.ingest import AddReport, OnProgress
from answerable.interfaces.http.jobs import Job
from answerable.interfaces.http.service import Service
from answerable.interfaces.plain import verification_json
from answerable.text import printable_line

_log = logging.getLogger("answerable")


def start_adding(service: Service, library: str, source: str) -> Job:
    """Add a site, folder or file and follow it, in a job."""

    def work(report: AddReport, tell: OnProgress) -> None:
        opened = service.libraries.get(library)
        report.merge(opened.add(source, tell))
        followed = opened.origins()
        named = {origin.name: report for origin in followed if origin.is_called(source)}
        service.reports.record(service.libraries.identity(library), named, followed)

    return service.jobs.start(library, [source], work)


def start_sync(service: Service, library: str, origins: Sequence[str] = (), password: str = "") -> Job:
    """Visit these followed sources, or all, in a job. The password is for PDFs, and isn't kept."""
    libraries, reports = service.libraries, service.reports

    def work(report: AddReport, tell: OnProgress) -> None:
        opened, identity = libraries.get(library), libraries.identity(library)
        if not origins:
            # Now rather than at the end: what fails isn't tried again before it is due.
            reports.begin(identity)
        with closing(libraries.reader(library, password)) as reader:
            found = opened.reading_with(reader).sync(origins, tell)
        report.merge(found.total)
        reports.record(identity, found.origins, opened.origins())

    return service.jobs.start(library, list(origins), work, kind="sync")


def start_verification(service: Service, library: str, repair: bool = False) -> Job:
    """Compare a library with its sources and its index in a job, and with `repair` fix the differences."""

    def work(report: AddReport, tell: OnProgress) -> dict[str, Any]:
        return verification_json(service.libraries.get(library).verify(repair))

    return service.jobs.start(library, [], work, kind="verify")


async def keep_schedule(service: Service) -> None:
    """Sync each library when it is due, until cancelled. A time missed while the server was off is made up for."""
    while True:
        await asyncio.sleep(service.options.look_every)
        try:
            await service.pool.run(start_due, service)
        except Exception as error:
            # A full queue or disk today must not end all later syncs.
            _log.warning("%s", printable_line(f"A scheduled sync couldn't start: {error}"))


def start_due(service: Service) -> list[Job]:
    """Start the syncs that are due now, and return them."""
    started = []
    for name in service.libraries.names():
        every = service.libraries.choices(name).every
        if not every or service.jobs.is_unfinished(name, "sync"):
            continue
        if service.reports.read(service.libraries.identity(name))["tried"] + every <= time.time():
            started.append(start_sync(service, name))
    return started
