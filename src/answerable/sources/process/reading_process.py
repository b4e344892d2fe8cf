"""The reading process as seen from the engine, and the deadline that kills the process when it takes too long."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.sources.context import Bounds, ReadContext, size_of
from answerable.sources.frames import close_pipes, read_pair, start_program, write_pair
from answerable.sources.pdf.page_text import Rectangle
from answerable.sources.pdf.read import page_spans
from answerable.sources.process.answers import GOING_ON, Answers, Died, gather, over_bounds, unpack_error

# The memory that PDFium leaks with every PDF, in small files. The process is replaced after `_MOST_COST`.
_COST_OF_PDF = 20
_MOST_COST = 10_000  # cost in small files, as much as 500 PDFs


class ReadingProcess:
    """A process that reads one file after another; started on first use, and again after it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._deadline = threading.Timer(0, kill)
        self._seconds = 0.0
        self._owner = 0
        self._cost = 0

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, even if it is reading a file. Idempotent."""
        self.stop()
        with self._lock:
            self._end()

    def stop(self) -> None:
        """End the current read, which raises SourceError. A new process reads the next file."""
        process = self._process
        if process is not None and self._owner == os.getpid() and self._lock.locked():
            kill(process)

    def read(
        self, file: Path | bytes, source: str, context: ReadContext | None = None, url: str | None = None
    ) -> list[Document]:
        """Return the documents in a file; with a `url`, the web page there. Raise SourceError, also over limits."""
        context = context or ReadContext()
        data, path = (file, None) if isinstance(file, bytes) else (b"", os.path.abspath(file))
        request = {"ask": "read", "source": source, "path": path, "url": url}

        # For a file that needs more than its size suggests, such as a PDF, the process sends other bounds.
        bounds = context.limits.bounds(size_of(file if isinstance(file, bytes) else Path(file)))

        def ask(passed: Sequence[int], lost: Sequence[str]) -> Answers:
            return self._answers({**request, "passed": passed, "lost": lost}, data, context, bounds)

        return gather(ask, source, context)

    def facts(self, data: bytes, source: str, url: str, context: ReadContext) -> dict[str, Any]:
        """Return the `page_facts` of a page fetched from `url` and cited as `source`. Raise SourceError like `read`."""
        request = {"ask": "page", "source": source, "url": url}
        facts: dict[str, Any] = self._ask(request, data, context, context.limits.bounds(len(data)))
        return facts

    def rectangles(
        self, data: bytes, document: Document, spans: Sequence[tuple[int, int]], context: ReadContext
    ) -> list[Rectangle]:
        """Return the places of each line of the spans of a PDF's content, as `pdf.extraction.rectangles` does."""
        request = {"ask": "rectangles", "source": document.source, "spans": page_spans(document.content, spans)}
        return [tuple(box) for box in self._ask(request, data, context, context.limits.of_pdf)]

    def page_sizes(self, data: bytes, source: str, context: ReadContext) -> list[tuple[float, float]]:
        """Return the width and height in points of each page of a PDF, as `pdf.extraction.page_sizes` does."""
        request = {"ask": "page sizes", "source": source}
        return [tuple(size) for size in self._ask(request, data, context, context.limits.of_pdf)]

    def _ask(self, request: dict[str, Any], data: bytes, context: ReadContext, bounds: Bounds) -> Any:
        """Return the result in the answer to a request. Raise SourceError."""
        try:
            with closing(self._answers(request, data, context, bounds)) as answers:
                *_, (answer, _) = answers
        except Died as died:
            raise over_bounds(request["source"], bounds, died.status) from None
        if answer["outcome"] == "failed":
            raise unpack_error(answer["error"])
        if answer["outcome"] == "memory":
            raise over_bounds(request["source"], bounds)
        return answer["result"]

    def _answers(self, request: dict[str, Any], data: bytes, context: ReadContext, bounds: Bounds) -> Answers:
        """Yield each answer to a request with its bytes. Raise Died if the process ends; closing this early ends it."""
        with self._lock:
            process = self._running()
            self._extend(process, bounds)
            is_over = died = False
            status = None
            try:
                pair = _received(process, {**request, "context": context.pack()}, data)
                while pair is not None:
                    self._take_note(process, pair[0])
                    is_over = pair[0]["outcome"] not in GOING_ON
                    if is_over:
                        break
                    yield pair
                    pair = _received(process)
                died = not is_over
            finally:
                self._deadline.cancel()
                if not is_over:
                    # The caller no longer waits for the remaining answers.
                    status = self._end(by_force=not died)
        if pair is None:
            raise Died(status)
        yield pair

    def _extend(self, process: subprocess.Popen[bytes], bounds: Bounds | None = None) -> None:
        """Restart the countdown after which the process is killed, with these bounds or the previous ones.

        The process limits its own processor time. The deadline also ends a process that sleeps, or that can't limit
        itself on this system; it is longer than the limit, so that a busy machine doesn't trigger it.
        """
        self._deadline.cancel()
        self._seconds = self._seconds if bounds is None else bounds.seconds * 3 + 30
        self._deadline = threading.Timer(self._seconds, kill, (process,))
        self._deadline.daemon = True
        self._deadline.start()

    def _take_note(self, process: subprocess.Popen[bytes], answer: dict[str, Any]) -> None:
        match answer["outcome"]:
            case "working":
                self._extend(process, Bounds(**answer["bounds"]) if "bounds" in answer else None)
            case "file":
                bounds = Bounds(**answer["bounds"])
                self._extend(process, bounds)
                self._cost += _COST_OF_PDF * bounds.is_pdf
            case "rectangles":
                self._cost += _COST_OF_PDF
            case "done":
                self._cost += 1
            case "memory":
                # Memory that the process still holds would count against the next file's limit.
                self._cost = _MOST_COST

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the reading process belongs to the parent process.
            self._process = None
        elif self._cost >= _MOST_COST or (self._process and self._process.poll() is not None):
            self._end()
        if self._process is None:
            self._process = _start()
            self._owner, self._cost = os.getpid(), 0
        return self._process

    def _end(self, by_force: bool = False) -> int | None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return None
        if by_force:
            kill(process)
        close_pipes(process)
        try:
            return process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            kill(process)
            return process.wait()


def _received(
    process: subprocess.Popen[bytes], request: dict[str, Any] | None = None, data: bytes = b""
) -> tuple[dict[str, Any], bytes] | None:
    """Send a request, if there is one; return the next answer, or None if the process has died."""
    assert process.stdin
    assert process.stdout
    try:
        if request is not None:
            write_pair(process.stdin, request, data)
        return read_pair(process.stdout)
    except OSError:
        return None


def _start() -> subprocess.Popen[bytes]:
    try:
        # In a session of its own, the process gets no Ctrl-C from the terminal.
        return start_program("answerable.sources.process.worker", start_new_session=True)
    except OSError as error:
        raise SourceError(
            f"the process that reads files can't be started ({error}): free some memory or processes, then try again"
        ) from error


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    if os.name != "posix":
        process.kill()
    elif process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
