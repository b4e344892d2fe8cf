"""The reading process: takes requests on stdin, sends answers on stdout.

A malicious file can make a parser loop, use up memory or crash, so files are read apart from the engine, under limits.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path, PurePath
from typing import IO, Any

from answerable.datatypes import Document
from answerable.errors import AnswerableError, EmptySource, SourceError
from answerable.sources.context import Beside, ReadContext
from answerable.sources.dispatch import beside_file, is_archive, load, read_bytes
from answerable.sources.formats import SAMPLE
from answerable.sources.limits import Bounds, Skipped, with_short_metadata
from answerable.sources.process.own_limits import Limits
from answerable.sources.process.transfer import pack, pack_error, read_pair, write_pair
from answerable.sources.recordings.formats import is_recording

Send = Callable[..., None]
"""Sends an answer: a dictionary for JSON, and optional bytes."""


def answer(request: dict[str, Any], data: bytes, send: Send, allowed: Limits) -> dict[str, Any]:
    """Carry out a request: send all answers but the last, and return that."""
    context = ReadContext.unpack(request["context"], lambda: send({"outcome": "working"}))
    try:
        match request["ask"]:
            case "page":
                allowed.allow(context.limits.bounds(len(data)))
                return _facts(request, data)
            case "rectangles":
                allowed.allow(context.limits.of_pdf)
                return _rectangles(request, data, context)
        return _Reading(request, context, send, allowed).answer(data)
    except AnswerableError as error:
        return {"outcome": "failed", "error": pack_error(error)}


def _facts(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    from answerable.sources.html.page_facts import page_facts

    return {"outcome": "page", "result": asdict(page_facts(data, request["source"], request["url"]))}


def _rectangles(request: dict[str, Any], data: bytes, context: ReadContext) -> dict[str, Any]:
    from answerable.sources.pdf.read import rectangles

    found = rectangles(data, request["source"], request["spans"], context.password)
    return {"outcome": "rectangles", "result": found}


class _Reading:
    """One file, or the members of an archive, read and sent document by document."""

    def __init__(self, request: dict[str, Any], context: ReadContext, send: Send, allowed: Limits) -> None:
        self._request = request
        self._context = context
        self._limits = context.limits
        self._send = send
        self._allowed = allowed
        self._members = 0

    def answer(self, data: bytes) -> dict[str, Any]:
        source, most = self._request["source"], self._limits.max_file_size
        file: Path | bytes = data if self._request["path"] is None else Path(self._request["path"])
        self._allowed.allow(self._limits.bounds(_size(file)))
        if self._request["url"] is None and is_archive(file, source):
            from answerable.sources.archives import read_zip

            # The unpacked files may be larger.
            self._allowed.allow(self._limits.bounds(most))
            read_zip(file, source, self._member, self._context)
        else:
            if isinstance(file, Path):
                self._context = replace(self._context, beside=partial(beside_file, file, most))
            self._file(load(file, source, most), source)
        # Empty members have been sent already.
        left_out = [(each.source, each.reason) for each in self._context.skipped.passed_over if each.reason != "empty"]
        return {"outcome": "done", "left_out": left_out}

    def _member(self, data: bytes, source: str, beside: Beside | None) -> list[Document]:
        """Read a member of an archive, unless an earlier process has already read it or died at it."""
        self._members += 1
        if self._members <= self._request["passed"]:
            return []
        self._context = replace(self._context, beside=beside)
        try:
            return self._file(data, source)
        except SourceError as error:
            # Sent now: the last answer is lost if the process dies at a later member.
            is_empty = isinstance(error, EmptySource)
            empty = {"outcome": "empty", "source": source}
            self._send(empty if is_empty else {"outcome": "error", "error": pack_error(error)})
            raise

    def _file(self, data: bytes, source: str) -> list[Document]:
        is_heard = is_recording(data[:SAMPLE], PurePath(source).suffix.lower())
        bounds = self._limits.of_recording if is_heard else self._limits.bounds(len(data), data[:SAMPLE])
        if self._members or bounds != self._limits.bounds(0):
            self._send({"outcome": "file", "source": source, "members": self._members, "bounds": asdict(bounds)})
        self._allowed.allow(bounds)
        found = Skipped()
        context = replace(self._context, skipped=found, enter=self._enter)
        for document in (documents := self._documents(data, source, context)):
            described, content = pack(document)
            self._send({"outcome": "document", "document": described}, content)
        for error in found.errors:
            self._send({"outcome": "error", "error": pack_error(error)})
        self._context.skipped.add(found.counts, (), found.passed_over)
        return documents

    def _enter(self, source: str, bounds: Bounds) -> bool:
        """Begin to read a file beside the current one, unless an earlier process died at it."""
        if source in self._request["lost"]:
            return False
        self._send(
            {"outcome": "file", "source": source, "members": self._members, "bounds": asdict(bounds), "beside": True}
        )
        self._allowed.allow(bounds)
        return True

    def _documents(self, data: bytes, source: str, context: ReadContext) -> list[Document]:
        if self._request["url"] is not None:
            from answerable.sources.html.read import read_html

            return [with_short_metadata(read_html(data, source, self._request["url"]))]
        return read_bytes(data, source, context)


def _size(file: Path | bytes) -> int:
    if isinstance(file, bytes):
        return len(file)
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0


_LOOKS_AFTER_PARENT = 0.5


def main() -> None:
    """Serve the engine that started this process until it closes stdin."""
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output of libraries must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.stdin.buffer, answers)


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    limits = Limits()

    def send(message: dict[str, Any], data: bytes = b"") -> None:
        # Flush only what the engine acts on at once.
        write_pair(answers, message, data, flush=message["outcome"] in ("working", "file"))

    while (pair := read_pair(requests)) is not None:
        try:
            last = answer(*pair, send, limits)
        except MemoryError:
            last = {"outcome": "memory"}
        write_pair(answers, last, b"")


def _end_with(parent: int) -> None:
    """End this process and its children when the engine dies."""
    while os.getppid() == parent:
        time.sleep(_LOOKS_AFTER_PARENT)
    os.killpg(0, signal.SIGKILL)
