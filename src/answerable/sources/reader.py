"""What a path means as a source: one file, or all that can be read in a folder."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from answerable.datatypes import Document
from answerable.errors import EmptySource, SourceNotFound, UnsupportedSource
from answerable.protocols import SourceItem, SourceListing
from answerable.sources.files import read_bytes, read_file, source_of
from answerable.sources.folders import walk
from answerable.sources.limits import ReadLimits, Skipped
from answerable.sources.pdf import PdfWorker
from answerable.sources.pdf_ocr import Ocr


class FileReader:
    """Reads files and folders within limits; `password` opens encrypted PDFs, `ocr` reads pages without text.

    The source of a file under `root` is its name in there, of any other its absolute path.
    """

    def __init__(
        self,
        limits: ReadLimits | None = None,
        password: str | None = None,
        ocr: Ocr | None = None,
        root: Path | None = None,
    ) -> None:
        self._limits = limits or ReadLimits()
        self._password = password
        self._ocr = ocr
        self._root = None if root is None else Path(os.path.abspath(root))
        self._worker = PdfWorker()

    def listing(self, source: str) -> SourceListing:
        """The file, or the readable files of the folder. SourceNotFound and EmptySource say what to do."""
        if not source:
            raise SourceNotFound("the path is empty: name a file or a folder")
        # The functions of os.path take any text for a path; the methods of Path raise errors at some.
        path = Path(os.path.expanduser(source))
        skipped = Skipped()
        if not os.path.isdir(path):
            if not os.path.lexists(path) and "://" in source:
                raise UnsupportedSource(
                    f"{source.partition('://')[0]}:// isn't read: give a file, a folder, or an address with https://"
                )
            if not os.path.lexists(path):
                raise SourceNotFound(f"there is nothing at {self._source(path)}: check the path")
            return SourceListing((self._item(path, skipped),), skipped.counts, skipped.errors, is_single=True)
        items = tuple(self._item(file, skipped) for file in walk(path, skipped))
        if not items:
            left_out = ", ".join(f"{count} {reason}" for reason, count in sorted(skipped.counts.items()))
            raise EmptySource(
                f"{source_of(path)} has no file that can be read{f' ({left_out})' if left_out else ''}: "
                "add a folder with chats, PDF, Word, EPUB, Markdown, HTML, CSV, JSON, code or text files"
            )
        return SourceListing(items, skipped.counts, skipped.errors, is_single=False)

    def visit(self, source: str) -> None:
        """None: files and folders are read, not followed."""

    def read_bytes(self, data: bytes, source: str) -> list[Document]:
        """The documents in the bytes of what has this name somewhere else."""
        return read_bytes(data, source, self._limits, self._password, self._worker, self._ocr)

    def close(self) -> None:
        """Ends the process that reads PDFs."""
        self._worker.close()

    def _item(self, path: Path, skipped: Skipped) -> SourceItem:
        return SourceItem(self._source(path), partial(self._read, path, skipped))

    def _read(self, path: Path, skipped: Skipped) -> list[Document]:
        source = self._source(path)
        return read_file(path, self._limits, self._password, skipped, self._worker, self._ocr, source)

    def _source(self, path: Path) -> str:
        absolute = Path(os.path.abspath(path))
        if self._root is None or not absolute.is_relative_to(self._root):
            return source_of(path)
        return source_of(absolute)[len(source_of(self._root)) :].lstrip("/")
