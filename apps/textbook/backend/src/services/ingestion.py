"""The ingestion that a client asks for: one at a time, in a thread, which goes on when the client no longer waits."""

from __future__ import annotations

import asyncio
import logging
import threading
from dataclasses import dataclass

from answerable.errors import AnswerableError, LibraryBusy
from src.models import IngestResponse
from src.tools.sync_book_to_qdrant import sync_book

STARTED = "The book is being ingested. GET /ingest says what has become of it."

_log = logging.getLogger("textbook")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is said of an ingestion, and the HTTP status to say it with."""

    response: IngestResponse
    status: int


class Ingestion:
    """The last ingestion of this process, which may still be under way. Belongs to one event loop."""

    def __init__(self) -> None:
        self._stopping = threading.Event()
        self._task: asyncio.Task[Outcome] | None = None

    async def start(self, force_resync: bool, patience: float) -> Outcome:
        """Start an ingestion and wait at most `patience` seconds for it; 409 while another one runs."""
        if self._task is not None and not self._task.done():
            return _failed(LibraryBusy("The book is being ingested already. Try again when that has ended."))
        self._task = asyncio.create_task(self._run(force_resync))
        await asyncio.wait({self._task}, timeout=patience)
        return self._task.result() if self._task.done() else _started()

    def last(self) -> Outcome | None:
        """What has become of the last one; None before the first."""
        if self._task is None:
            return None
        return self._task.result() if self._task.done() else _started()

    async def close(self) -> None:
        """Ends the one that is under way after its current batch; the book stays as it was."""
        self._stopping.set()
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _run(self, force_resync: bool) -> Outcome:
        try:
            report = await asyncio.to_thread(sync_book, force_resync, self._stopping)
        except AnswerableError as error:
            _log.error("The ingestion failed: %s", " ".join(str(error).split()))
            return _failed(error)
        except Exception:
            _log.exception("The ingestion failed.")
            return _failed(AnswerableError("The service has a fault. Its log says more; tell whoever runs it."))
        return Outcome(IngestResponse(status="success", message=str(report), ingested_count=report.chunks), 200)


def _started() -> Outcome:
    return Outcome(IngestResponse(status="started", message=STARTED, ingested_count=None), 202)


def _failed(error: AnswerableError) -> Outcome:
    failed = IngestResponse(status="failed", message=str(error), ingested_count=None)
    return Outcome(failed, 409 if isinstance(error, LibraryBusy) else 500)
