"""The engine's side of the reading process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.sources.context import ReadContext
from answerable.sources.frames import read_pair, write_pair
from answerable.sources.limits import Bounds, size_of
from answerable.sources.pdf.read import Rectangle, page_spans
from answerable.sources.process.answers import Answers, Died, gather, over_bounds
from answerable.sources.process.deadline import Deadline, kill
from answerable.sources.process.transfer import GOING_ON, unpack_error

# PDFium leaks some memory with every file.
_COST_OF_PDF = 20
_MOST_COST = 10_000
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from answerable.sources.process.worker import main
main()
"""


class ReadingProcess:
    """A process that reads one file after another; started on first use, and again after it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._deadline = Deadline()
        self._owner = 0
        self._cost = 0

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, whatever it is reading. Idempotent."""
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
        """Return the documents in a file as `read_file` does; with a `url`, the web page at that address.

        Raise SourceError, also when the file exceeds its limits or crashes the process. If a member of an archive does
        so, only this member is left out.
        """
        context = context or ReadContext()
        data, path = (file, None) if isinstance(file, bytes) else (b"", os.path.abspath(file))
        request = {"ask": "read", "source": source, "path": path, "url": url}

        # Of a file that needs more than its size says, such as a PDF, the process sends the bounds.
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
        """Return page, left, bottom, right and top of each line of spans of a PDF's content: `pdf.read.rectangles`."""
        request = {"ask": "rectangles", "source": document.source, "spans": page_spans(document.content, spans)}
        return [tuple(box) for box in self._ask(request, data, context, context.limits.of_pdf)]

    def page_sizes(self, data: bytes, source: str, context: ReadContext) -> list[tuple[float, float]]:
        """Return the width and height in points of each page of a PDF: `pdf.read.page_sizes`."""
        request = {"ask": "page sizes", "source": source}
        return [tuple(size) for size in self._ask(request, data, context, context.limits.of_pdf)]

    def _ask(self, request: dict[str, Any], data: bytes, context: ReadContext, bounds: Bounds) -> Any:
        """Return the result that answers a request. Raise SourceError."""
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
        """Yield each answer to a request with its bytes. Raise Died if the process ends; closing early ends it."""
        with self._lock:
            process = self._running()
            self._deadline.extend(bounds)
            is_over = died = False
            status = None
            try:
                pair = _received(process, {**request, "context": context.pack()}, data)
                while pair is not None:
                    self._take_note(pair[0])
                    is_over = pair[0]["outcome"] not in GOING_ON
                    if is_over:
                        break
                    yield pair
                    pair = _received(process)
                died = not is_over
            finally:
                self._deadline.lift()
                if not is_over:
                    # Nobody waits for further answers.
                    status = self._end(by_force=not died)
        if pair is None:
            raise Died(status)
        yield pair

    def _take_note(self, answer: dict[str, Any]) -> None:
        match answer["outcome"]:
            case "working":
                self._deadline.extend(Bounds(**answer["bounds"]) if "bounds" in answer else None)
            case "file":
                bounds = Bounds(**answer["bounds"])
                self._deadline.extend(bounds)
                self._cost += _COST_OF_PDF * bounds.is_pdf
            case "rectangles":
                self._cost += _COST_OF_PDF
            case "done":
                self._cost += 1
            case "memory":
                # What it still holds would count against the next file.
                self._cost = _MOST_COST

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the process belongs to the parent.
            self._process = None
        elif self._cost >= _MOST_COST or (self._process and self._process.poll() is not None):
            self._end()
        if self._process is None:
            self._process = _start()
            self._owner, self._cost = os.getpid(), 0
            self._deadline = Deadline()
            self._deadline.watch(self._process)
        return self._process

    def _end(self, by_force: bool = False) -> int | None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return None
        if by_force:
            kill(process)
        for pipe in (process.stdin, process.stdout):
            if pipe:
                with suppress(OSError):
                    pipe.close()
        try:
            return process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            kill(process)
            return process.wait()


def _received(
    process: subprocess.Popen[bytes], request: dict[str, Any] | None = None, data: bytes = b""
) -> tuple[dict[str, Any], bytes] | None:
    """Send a request if given; return the next answer, or None if the process has died."""
    assert process.stdin
    assert process.stdout
    try:
        if request is not None:
            write_pair(process.stdin, request, data)
        return read_pair(process.stdout)
    except OSError:
        return None


def _start() -> subprocess.Popen[bytes]:
    # Isolated (-I), without site packages' start-up code (-S), on our search path. In a session of its own, it gets no
    # Ctrl-C from the terminal.
    search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[3])]
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, json.dumps(search_path)]
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    try:
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=nothing, close_fds=True, start_new_session=True
        )
    except OSError as error:
        raise SourceError(
            f"the process that reads files can't be started ({error}): free some memory or processes, then try again"
        ) from error
