"""What the process that reads files answered → documents, and the error where it was over its limits."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.limits import Bounds, Skipped
from answerable.sources.process.transfer import unpack, unpack_error

# An archive that ends the process more often is made to.
_MOST_DEATHS = 3

Answers = Generator[tuple[dict[str, Any], bytes], None, None]


class Died(Exception):
    """The process ended before it answered, with this status."""

    def __init__(self, status: int | None) -> None:
        self.status = status


def gather(ask: Callable[[int], Answers], source: str, context: ReadContext) -> list[Document]:
    """The documents in a file. Raises the SourceError that the process tells of, or that says why it tells nothing.

    `ask` makes the request, for what follows the first so many members of an archive: that is asked when a member has
    ended the process.
    """
    reading = _Reading(source, context)
    while not reading.is_over:
        with closing(ask(reading.members)) as answers:
            reading.take(answers)
    found = reading.skipped
    context.skipped.add(found.counts, found.errors, found.passed_over)
    return reading.documents


class _Reading:
    """What was told of a file by now."""

    def __init__(self, source: str, context: ReadContext) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.skipped = Skipped()
        self.members = 0
        self.is_over = False
        self._deaths = 0
        self._at = source
        # Of small files; those of others are sent.
        self._bounds = context.limits.bounds(0)

    def take(self, answers: Answers) -> None:
        """Takes the answers to one request. Raises SourceError."""
        try:
            for answer, data in answers:
                self._take_one(answer, data)
        except Died as died:
            self._lose(over_bounds(self._at, self._bounds, died.status))

    def _take_one(self, answer: dict[str, Any], data: bytes) -> None:
        match answer["outcome"]:
            case "file":
                self._at, self.members = answer["source"], answer["members"]
                self._bounds = Bounds(**answer["bounds"])
            case "document":
                self.documents.append(unpack(answer["document"], data))
            case "error":
                self.skipped.errors.append(_source_error(answer))
            case "empty":
                self.skipped.count("empty", answer["source"])
            case "memory":
                self._lose(over_bounds(self._at, self._bounds))
            case "failed":
                self.is_over = True
                if not self._deaths:
                    raise _source_error(answer)
            case "done":
                self.is_over = True
                for source, reason in answer["left_out"]:
                    self.skipped.count(reason, source)

    def _lose(self, error: SourceError) -> None:
        """The file that was being read can't be; what follows it in an archive may."""
        if not self.members:
            raise error
        self._deaths += 1
        self.skipped.errors.append(error)
        if self._deaths > _MOST_DEATHS:
            self.is_over = True
            self.skipped.errors.append(
                DamagedSource(f"{self.source} is not read to its end, too many of its files are over their limits")
            )


def over_bounds(source: str, bounds: Bounds, status: int | None = None) -> DamagedSource:
    """The error for a file that was over its bounds or ended the process, with this status where it did."""
    took_long = status is not None and os.name == "posix" and -status in (signal.SIGXCPU, signal.SIGKILL)
    what = f"took longer than {bounds.seconds:g} s to read"
    if not took_long:
        library = "the PDF library" if bounds.is_pdf else "what reads it"
        what = f"crashed {library} or needed over {bounds.memory / 1e9:g} GB"
    if not bounds.is_pdf:
        return DamagedSource(
            f"{source} {what}; it is probably damaged or made to do harm: leave it out, or split it into several files"
        )
    setting = "max_pdf_seconds" if took_long else "max_pdf_memory"
    return DamagedSource(
        f"{source} {what}; it is probably damaged or made to do harm: leave it out, print it to a new PDF, "
        f"or raise the setting {setting} if you trust it"
    )


def _source_error(answer: dict[str, Any]) -> SourceError:
    error = unpack_error(answer["error"])
    return error if isinstance(error, SourceError) else SourceError(str(error))
