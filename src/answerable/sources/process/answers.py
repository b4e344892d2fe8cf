"""Answers of the reading process → documents, or the error for a file that exceeded its limits.

A request is a frame of JSON and a frame with the file; an answer is a frame of JSON and a frame with its text. After an
answer whose outcome is in `GOING_ON`, further answers to the same request follow.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from answerable import errors, left_out
from answerable.codec import part_to_row, parts_from_rows
from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, DamagedSource, SourceError
from answerable.sources.context import Bounds, ReadContext, Skipped

# An archive whose members end the process more often than this is considered malicious.
_MOST_DEATHS = 3

Answers = Generator[tuple[dict[str, Any], bytes], None, None]


class Died(Exception):
    """The process ended before it answered, with this status."""

    def __init__(self, status: int | None) -> None:
        self.status = status


def gather(ask: Callable[[Sequence[int], Sequence[str]], Answers], source: str, context: ReadContext) -> list[Document]:
    """Return the documents in a file. Raise the SourceError that the process sent, or one that explains its death.

    `ask(numbers, lost)` requests the file without the archive members up to the one with these numbers (those of the
    members around it, then its own), and without the `lost` files next to a chat. It is called again when a member or a
    file next to a chat has ended the process.
    """
    reading = _Gathering(source, context.limits.bounds(0))
    while not reading.is_over:
        with closing(ask(reading.passed, reading.lost)) as answers:
            reading.take_all(answers)
    found = reading.skipped
    context.skipped.add(found.counts, found.errors, found.passed_over)
    return reading.documents


class _Gathering:
    """The documents, errors and skipped members of a file received so far."""

    def __init__(self, source: str, bounds: Bounds) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.skipped = Skipped()
        self.passed: Sequence[int] = ()
        self.lost: list[str] = []
        self.is_over = False
        self._members: Sequence[int] = ()
        self._is_beside = False
        self._deaths = 0
        self._current = source
        # The bounds for a small file, until the process sends this file's bounds.
        self._bounds = bounds

    def take_all(self, answers: Answers) -> None:
        """Record the answers to one request. Raise SourceError."""
        try:
            for answer, data in answers:
                self._take(answer, data)
        except Died as died:
            self._lose(over_bounds(self._current, self._bounds, died.status))

    def _take(self, answer: dict[str, Any], data: bytes) -> None:
        match answer["outcome"]:
            case "file":
                self._current, self._members = answer["source"], answer["members"]
                self._is_beside = answer.get("beside", False)
                self._bounds = Bounds(**answer["bounds"])
            case "document":
                self.documents.append(unpack(answer["document"], data))
            case "error":
                self.skipped.errors.append(unpack_error(answer["error"]))
            case "left out":
                self.skipped.count(answer["reason"], answer["source"])
            case "memory":
                self._lose(over_bounds(self._current, self._bounds))
            case "failed":
                self.is_over = True
                if not self._deaths:
                    raise unpack_error(answer["error"])
            case "done":
                self.is_over = True
                for source, reason in answer["left_out"]:
                    self.skipped.count(reason, source)

    def _lose(self, error: SourceError) -> None:
        """Raise the error; in an archive, record it instead, since later members may be readable."""
        if self._is_beside:
            # The chat is read again, without this file next to it.
            self.lost.append(self._current)
            self.passed = (*self._members[:-1], self._members[-1] - 1) if self._members else ()
        elif not self._members:
            raise error
        else:
            self.passed = self._members
        self._deaths += 1
        self.skipped.errors.append(error)
        if self._deaths > _MOST_DEATHS:
            self.is_over = True
            self.skipped.errors.append(
                DamagedSource(
                    f"{self.source} was not read to the end, too many of its files exceed their limits: leave it out, "
                    "or unpack it and add the other files"
                )
            )


def over_bounds(source: str, bounds: Bounds, status: int | None = None) -> DamagedSource:
    """Return the error for a file that exceeded its bounds, or ended the process with this status."""
    took_long = status is not None and os.name == "posix" and -status in (signal.SIGXCPU, signal.SIGKILL)
    what = f"took longer than {bounds.seconds:g} s to read"
    if not took_long:
        library = "the PDF library" if bounds.is_pdf else "its reader"
        what = f"crashed {library} or needed over {bounds.memory / 1e9:g} GB"
    advice = "or split it into several files"
    if bounds.is_recording and took_long:
        advice = "or raise the setting max_audio_seconds if you trust it"
    if bounds.is_pdf:
        setting = "max_pdf_seconds" if took_long else "max_pdf_memory"
        advice = f"print it to a new PDF, or raise the setting {setting} if you trust it"
    return DamagedSource(f"{source} {what}; it is probably damaged or malicious: leave it out, {advice}")


GOING_ON = frozenset({"working", "file", "document", "error", "left out"})


def pack(document: Document) -> tuple[dict[str, Any], bytes]:
    """Return a document as JSON, and its content in UTF-8."""
    described = {name: getattr(document, name) for name in ("id", "source", "title", "type", "language", "metadata")}
    rows = {"parts": list(map(part_to_row, document.parts)), "left_out": left_out.to_rows(document.left_out)}
    return {**described, **rows}, document.content.encode("utf-8")


def unpack(described: dict[str, Any], content: bytes) -> Document:
    """Return the document that was packed."""
    rows = {"parts": parts_from_rows(described["parts"]), "left_out": left_out.from_rows(described["left_out"])}
    read = {"type": DocumentType(described["type"]), "content": content.decode("utf-8")}
    return Document(**{**described, **rows, **read})


def pack_error(error: AnswerableError) -> list[str]:
    """Return an error's class and message."""
    return [type(error).__name__, str(error)]


def unpack_error(packed: list[str]) -> SourceError:
    """Return the error that was packed, as a SourceError if it has another class."""
    kind = getattr(errors, packed[0], SourceError)
    return kind(packed[1]) if issubclass(kind, SourceError) else SourceError(packed[1])
