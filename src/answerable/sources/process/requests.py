"""In the worker: what is done with a request. See worker.py."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from answerable.datatypes import Document
from answerable.errors import AnswerableError, EmptySource, SourceError
from answerable.sources.files import is_archive, load, read_bytes
from answerable.sources.formats import SAMPLE
from answerable.sources.limits import Bounds, ReadLimits, Skipped, with_short_metadata
from answerable.sources.pdf.ocr import Ocr
from answerable.sources.process.own_limits import Limits
from answerable.sources.process.transfer import pack, pack_error

Send = Callable[..., None]
"""Gives an answer: a dictionary for JSON, and the bytes that go with it, if any."""


def answer(request: dict[str, Any], data: bytes, send: Send, allowed: Limits) -> dict[str, Any]:
    """The last answer to a request; those before it are sent."""
    limits = ReadLimits(**request["limits"])
    if request["ask"] == "read":
        return _Reading(request, limits, send, allowed).answer(data)
    if request["ask"] == "page":
        _keep_to(allowed, limits.bounds(len(data)))
        return _page(request, data)
    _keep_to(allowed, limits.of_pdf)
    if request["ask"] == "rectangles":
        from answerable.sources.pdf.rectangles import span_rectangles

        return span_rectangles(data, request["password"], request["spans"])
    from answerable.sources.pdf.extraction import extract

    return extract(data, request["password"], request["ocr"], lambda: send({"outcome": "working"}))


def _page(request: dict[str, Any], data: bytes) -> dict[str, Any]:
    """What decides on a page of a site."""
    from answerable.sources.html.page_facts import page_facts

    try:
        return {"outcome": "page", "facts": asdict(page_facts(data, request["source"], request["url"]))}
    except AnswerableError as error:
        return {"outcome": "failed", "error": pack_error(error)}


def _keep_to(allowed: Limits, bounds: Bounds) -> None:
    allowed.allow(bounds.seconds, bounds.memory)


class _Reading:
    """One file, or what is in an archive, read and sent document by document."""

    def __init__(self, request: dict[str, Any], limits: ReadLimits, send: Send, allowed: Limits) -> None:
        self._request = request
        self._limits = limits
        self._send = send
        self._allowed = allowed
        self._ocr = Ocr(**request["ocr"]) if request["ocr"] else None
        self._members = 0

    def answer(self, data: bytes) -> dict[str, Any]:
        source = self._request["source"]
        file: Path | bytes = data if self._request["path"] is None else Path(self._request["path"])
        skipped = Skipped()
        _keep_to(self._allowed, self._limits.bounds(_size(file)))
        try:
            if self._request["url"] is None and is_archive(file, source):
                from answerable.sources.archives import read_zip

                # What is unpacked may be larger.
                _keep_to(self._allowed, self._limits.bounds(self._limits.max_file_size))
                read_zip(file, source, self._limits.max_file_size, self._member, skipped)
            else:
                self._file(load(file, source, self._limits.max_file_size), source)
        except AnswerableError as error:
            return {"outcome": "failed", "error": pack_error(error)}
        # Empty members were told of when they were met.
        left_out = [(each.source, each.reason) for each in skipped.passed_over if each.reason != "empty"]
        return {"outcome": "done", "left_out": left_out}

    def extract(
        self, data: bytes, source: str, password: str | None, limits: ReadLimits, ocr: Ocr | None = None
    ) -> dict[str, Any]:
        """Takes a PDF apart in this process, for `read_pdf`."""
        from answerable.sources.pdf.extraction import extract

        return extract(data, password, ocr.request() if ocr else None, lambda: self._send({"outcome": "working"}))

    def _member(self, data: bytes, source: str) -> list[Document]:
        """A member of an archive, unless the process died over it, or over a later one, the last time."""
        self._members += 1
        if self._members <= self._request["passed"]:
            return []
        try:
            return self._file(data, source)
        except SourceError as error:
            # Told now: what is only returned at the end is lost when the process dies over a later member.
            is_empty = isinstance(error, EmptySource)
            empty = {"outcome": "empty", "source": source}
            self._send(empty if is_empty else {"outcome": "error", "error": pack_error(error)})
            raise

    def _file(self, data: bytes, source: str) -> list[Document]:
        bounds = self._limits.bounds(len(data), data[:SAMPLE])
        if self._members or bounds != self._limits.bounds(0):
            self._send({"outcome": "file", "source": source, "members": self._members, "bounds": asdict(bounds)})
        _keep_to(self._allowed, bounds)
        found = Skipped()
        for document in (documents := self._documents(data, source, found)):
            described, content = pack(document)
            self._send({"outcome": "document", "document": described}, content)
        for error in found.errors:
            self._send({"outcome": "error", "error": pack_error(error)})
        return documents

    def _documents(self, data: bytes, source: str, found: Skipped) -> list[Document]:
        if self._request["url"] is not None:
            from answerable.sources.html.read import read_html

            return [with_short_metadata(read_html(data, source, self._request["url"]))]
        return read_bytes(data, source, self._limits, self._request["password"], self, self._ocr, found)


def _size(file: Path | bytes) -> int:
    if isinstance(file, bytes):
        return len(file)
    try:
        return file.stat().st_size
    except (OSError, ValueError):
        return 0
