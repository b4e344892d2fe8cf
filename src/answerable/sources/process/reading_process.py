"""The reading process as seen from the engine, and the deadline that kills the process when it takes too long."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document
from answerable.errors import SourceError
from answerable.sources.context import Bounds, ReadContext, size_of
from answerable.sources.frames import Child
from answerable.sources.process.answers import GOING_ON, Answers, Died, gather, over_bounds, unpack_error

if TYPE_CHECKING:
    from answerable.sources.pdf.page_text import Rectangle

# The memory that PDFium leaks with every PDF, in small files. The process is replaced after `_MOST_COST`.
_COST_OF_PDF = 20
_MOST_COST = 10_000  # cost in small files, as much as 500 PDFs


class ReadingProcess:
    """A process that reads one file after another; started on first use, and again after it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = Child("answerable.sources.process.worker", leads=True)
        self._cost = 0

    def __enter__(self) -> ReadingProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process, even if it is reading a file. Idempotent."""
        self.stop()
        with self._lock:
            self._child.end()

    def stop(self) -> None:
        """End the current read, which raises SourceError. A new process reads the next file."""
        if self._lock.locked():
            self._child.kill()

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
        # Imported here, since a sync of unchanged files imports this module.
        from answerable.sources.pdf.read import page_spans

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
            if self._cost >= _MOST_COST:
                self._child.end()
                self._cost = 0
            is_over = False
            try:
                pair = self._child.answer(_deadline(bounds), {**request, "context": context.pack()}, data)
                while pair and pair[0]["outcome"] in GOING_ON:
                    bounds = self._noted(pair[0], bounds)
                    yield pair
                    pair = self._child.answer(_deadline(bounds))
                is_over = True
            except OSError as error:
                raise SourceError(
                    f"the process that reads files can't be started ({error}): free some memory or processes, then "
                    "try again"
                ) from error
            finally:
                if not is_over:
                    # The caller no longer waits for the remaining answers.
                    self._child.kill()
                    self._child.end()
            if pair is None:
                raise Died(self._child.end())
            self._noted(pair[0], bounds)
        yield pair

    def _noted(self, answer: dict[str, Any], bounds: Bounds) -> Bounds:
        """Count what an answer has cost; return the bounds that hold from now on."""
        bounds = Bounds(**answer["bounds"]) if "bounds" in answer else bounds
        match answer["outcome"]:
            case "file":
                self._cost += _COST_OF_PDF * bounds.is_pdf
            case "rectangles":
                self._cost += _COST_OF_PDF
            case "done":
                self._cost += 1
            case "memory":
                # Memory that the process still holds would count against the next file's limit.
                self._cost = _MOST_COST
        return bounds


def _deadline(bounds: Bounds) -> float:
    """Return the seconds of waiting for an answer after which the process is killed.

    The process limits its own processor time. The deadline also ends a process that sleeps, or that can't limit itself
    on this system; it is longer than the limit, so that a busy machine doesn't trigger it.
    """
    return bounds.seconds * 3 + 30
