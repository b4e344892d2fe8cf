"""The reading process: takes requests on stdin, sends answers on stdout.

A malicious file can make a parser loop, use up memory or crash, so files are read in a separate process with limits.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import IO, Any

from answerable.datatypes import Document
from answerable.errors import AnswerableError, EmptySource, SourceError, UnsupportedSource
from answerable.formats.format import Format
from answerable.formats.registry import format_called
from answerable.sources.context import Beside, Bounds, ReadContext, Skipped, size_of, with_short_metadata
from answerable.sources.dispatch import beside_file, format_of, load, read_bytes, read_members, with_metadata
from answerable.sources.formats import SAMPLE, recognise
from answerable.sources.frames import read_pair, set_limit, write_pair
from answerable.sources.process.answers import pack, pack_error

Send = Callable[..., None]
"""Sends an answer: a dictionary for JSON, and optional bytes."""
Allow = Callable[[Bounds], None]
"""Allows this process this much more processor time and address space."""


def answer(request: dict[str, Any], data: bytes, send: Send, allow: Allow) -> dict[str, Any]:
    """Carry out a request: send all answers but the last, and return the last."""
    context = ReadContext.unpack(request["context"], lambda: send({"outcome": "working"}))
    try:
        match request["ask"]:
            case "page":
                from answerable.sources.html.links import page_facts

                allow(context.limits.bounds(len(data)))
                return {"outcome": "page", "result": asdict(page_facts(data, request["source"], request["url"]))}
            case "rectangles" | "page sizes" as asked:
                from answerable.sources.pdf.extraction import page_sizes, rectangles

                allow(context.limits.of_pdf)
                ask = page_sizes if asked == "page sizes" else partial(rectangles, spans=request["spans"])
                return {"outcome": "rectangles", "result": ask(data, request["source"], password=context.password)}
        return _Reading(request, context, send, allow).answer(data)
    except AnswerableError as error:
        return {"outcome": "failed", "error": pack_error(error)}


class _Reading:
    """One file, or the members of an archive, read and sent document by document."""

    def __init__(self, request: dict[str, Any], context: ReadContext, send: Send, allow: Allow) -> None:
        self._request = request
        self._context = context
        self._limits = context.limits
        self._send = send
        self._allow = allow
        self._passed = tuple(request["passed"])
        # The numbers, from 1, of the archive members being read, such as a message in a mailbox and a file attached to
        # it; the last counts the members of the innermost.
        self._numbers: list[int] = []
        # The metadata that the outer archive members give to the documents in them.
        self._outer: Mapping[str, Any] = {}
        self._failed: list[SourceError] = []
        self._empty: set[tuple[str, str]] = set()

    def answer(self, data: bytes) -> dict[str, Any]:
        source, most = self._request["source"], self._limits.max_file_size
        file: Path | bytes = data if self._request["path"] is None else Path(self._request["path"])
        self._allow(self._limits.bounds(size_of(file)))
        found = format_of(file, source) if self._request["url"] is None else None
        if found and found.read_members:
            self._numbers.append(0)
            read_members(found, file, source, self._member, self._unpacking() if found.is_archive else self._context)
            for error in self._context.skipped.errors:
                # The errors of members are already sent; the remaining errors are about archives within the archive.
                if error not in self._failed:
                    self._send({"outcome": "error", "error": pack_error(error)})
        else:
            if isinstance(file, Path):
                self._context = replace(self._context, beside=partial(beside_file, file, most))
            self._file(load(file, source, most), source)
        left_out = [(each.source, each.reason) for each in self._context.skipped.passed_over]
        return {"outcome": "done", "left_out": [each for each in left_out if each not in self._empty]}

    def _unpacking(self) -> ReadContext:
        """Return the context for an archive, whose unpacked files may be larger."""
        bounds = self._limits.bounds(self._limits.max_file_size)

        def go_on() -> None:
            # Time spent on skipped members doesn't count against the next member.
            self._allow(bounds)
            self._context.working()

        self._allow(bounds)
        self._send({"outcome": "working", "bounds": asdict(bounds)})
        return replace(self._context, working=go_on)

    def _member(
        self,
        data: bytes | Document,
        source: str,
        *,
        known: Format | None = None,
        metadata: Mapping[str, Any] | None = None,
        beside: Beside | None = None,
    ) -> list[Document]:
        """Read an archive member, unless an earlier process has already read it or died in it."""
        self._numbers[-1] += 1
        numbers = tuple(self._numbers)
        # An earlier process read up to this archive member, or died in it: skip it.
        if numbers <= self._passed and (numbers == self._passed or numbers != self._passed[: len(numbers)]):
            return []
        added = {**self._outer, **(metadata or {})}
        self._context = replace(self._context, beside=beside)
        try:
            if isinstance(data, Document):
                return self._sent([with_metadata(data, added)])
            return self._file(data, source, known, added)
        except SourceError as error:
            # Send the error at once: the last answer is lost if the process dies at a later member.
            if isinstance(error, EmptySource):
                self._empty.add((source, "empty"))
                self._send({"outcome": "left out", "source": source, "reason": "empty"})
            else:
                self._failed.append(error)
                self._send({"outcome": "error", "error": pack_error(error)})
            raise

    def _file(
        self, data: bytes, source: str, known: Format | None = None, added: Mapping[str, Any] | None = None
    ) -> list[Document]:
        form = known or (recognise(data[:SAMPLE], source) if self._request["url"] is None else format_called("html"))
        bounds = self._limits.bounds(len(data), form.cost)
        if self._numbers or bounds != self._limits.bounds(0):
            self._send({"outcome": "file", "source": source, "members": self._numbers, "bounds": asdict(bounds)})
        self._allow(bounds)
        found = Skipped()
        context = replace(self._context, skipped=found, enter=self._enter)
        if self._numbers and (inner := known or format_of(data, source)).read_members:
            documents = self._nested(inner, data, source, added or {}, context)
        else:
            documents = self._documents(data, source, context)
            documents = self._sent([with_metadata(each, added) for each in documents] if added else documents)
            for error in found.errors:
                self._send({"outcome": "error", "error": pack_error(error)})
        for each in (each for each in found.passed_over if each.reason != "empty"):
            self._send({"outcome": "left out", "source": each.source, "reason": each.reason})
        return documents

    def _nested(
        self, form: Format, data: bytes, source: str, added: Mapping[str, Any], context: ReadContext
    ) -> list[Document]:
        """Read a member that has members itself, whose documents and errors are sent one by one."""
        if form.is_archive:
            raise UnsupportedSource(f"{source} is an archive: unpack it and add the folder")
        before, self._outer = self._outer, added
        self._numbers.append(0)
        try:
            return read_members(form, data, source, self._member, context)
        finally:
            self._numbers.pop()
            self._outer = before

    def _sent(self, documents: list[Document]) -> list[Document]:
        for document in documents:
            described, content = pack(document)
            self._send({"outcome": "document", "document": described}, content)
        return documents

    def _enter(self, source: str, bounds: Bounds) -> bool:
        """Begin to read a file next to the current one, unless an earlier process died at that file."""
        if source in self._request["lost"]:
            return False
        self._send(
            {"outcome": "file", "source": source, "members": self._numbers, "bounds": asdict(bounds), "beside": True}
        )
        self._allow(bounds)
        return True

    def _documents(self, data: bytes, source: str, context: ReadContext) -> list[Document]:
        if self._request["url"] is not None:
            from answerable.sources.html.read import read_html

            return [with_short_metadata(read_html(data, source, self._request["url"]))]
        return read_bytes(data, source, context)


def main() -> None:
    """Serve the engine that started this process until it closes stdin."""
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What libraries print must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    _serve(sys.stdin.buffer, answers)


def _serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    def send(message: dict[str, Any], data: bytes = b"") -> None:
        # Flush only the answers that the engine acts on at once.
        write_pair(answers, message, data, flush=message["outcome"] in ("working", "file"))

    while (pair := read_pair(requests)) is not None:
        try:
            last = answer(*pair, send, allow)
        except MemoryError:
            last = {"outcome": "memory"}
        write_pair(answers, last, b"")


def _end_with(parent: int) -> None:
    """End this process and its children when the engine dies."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.killpg(0, signal.SIGKILL)


def allow(bounds: Bounds) -> None:
    """Allow this process this much more processor time and address space; macOS can't limit the latter."""
    set_limit("RLIMIT_CPU", int(time.process_time() + bounds.seconds) + 1)
    set_limit("RLIMIT_AS", _address_space() + bounds.memory)


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1_000_000_000
