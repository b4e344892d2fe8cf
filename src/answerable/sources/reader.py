"""What a path means as a source: one file, or all that can be read in a folder; read in a process under limits."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from answerable.datatypes import Document
from answerable.disk.names import source_of
from answerable.errors import SourceNotFound, UnsupportedSource
from answerable.protocols import Visit
from answerable.protocols.reading import FileContents, ReadsAhead, SourceFile, SourceItem, SourceListing
from answerable.sources.context import ReadContext
from answerable.sources.file_visits import READERS, FileReading, FileVisit
from answerable.sources.folders import nothing_to_read, walk
from answerable.sources.html.page_facts import PageFacts
from answerable.sources.limits import Skipped
from answerable.sources.process.reading_process import ReadingProcess


class FileReader:
    """Reads files and folders under limits, in a process of its own.

    The source of a file under `root` is its name in there, of any other its absolute path. On a visit, `ahead` reads
    what it can before it is its turn.
    """

    def __init__(
        self,
        context: ReadContext | None = None,
        root: Path | None = None,
        ahead: ReadsAhead | None = None,
    ) -> None:
        self._context = context or ReadContext()
        self._languages = self._context.ocr.languages if self._context.ocr else ""
        self._root = None if root is None else Path(os.path.abspath(root))
        self._ahead = ahead
        self._process = ReadingProcess()

    def listing(self, source: str) -> SourceListing:
        """The file, or the readable files of the folder. SourceNotFound and EmptySource say what to do."""
        path = self._path(source)
        skipped = Skipped()
        if not os.path.isdir(path):
            return SourceListing((self._item(path, skipped),), skipped.counts, skipped.errors, is_single=True)
        items = tuple(self._item(file, skipped) for file in walk(path, skipped))
        if not items:
            raise nothing_to_read(source_of(path), skipped)
        return SourceListing(items, skipped.counts, skipped.errors, is_single=False)

    def options(self, source: str) -> Mapping[str, str]:
        """Nothing: what decides on how files are read was given when this was made."""
        return {}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """A visit to the file or the folder; nothing under `root` is remembered. SourceNotFound says what to do."""
        path = self._path(source)
        readers = f"{READERS} {self._languages}" if self._languages else READERS
        origin = source_of(path) if self._source(path) == source_of(path) else ""
        return FileVisit(
            path, origin, FileReading(self._read_next, self._source, self._expect, self.stop, readers), checksum
        )

    def read(self, file: SourceFile) -> FileContents:
        """What is in one file. Raises SourceError."""
        skipped = Skipped()
        where = Path(file.path) if file.data is None else file.data
        documents = self._process.read(where, file.source, replace(self._context, skipped=skipped))
        return FileContents(tuple(documents), skipped.counts, tuple(skipped.errors), tuple(skipped.passed_over))

    def read_bytes(self, data: bytes, source: str) -> list[Document]:
        """The documents in the bytes of what has this name somewhere else."""
        return self._process.read(data, source, replace(self._context, skipped=Skipped()))

    def read_page(self, data: bytes, source: str) -> list[Document]:
        """The document in the bytes of the page at this address."""
        return self._process.read(data, source, replace(self._context, skipped=Skipped()), source)

    def page_facts(self, data: bytes, source: str, url: str) -> PageFacts:
        """What decides on the page called `source`, found at `url`."""
        return PageFacts(**self._process.facts(data, source, url, self._context))

    def stop(self) -> None:
        """Ends what is being read: who waits for it gets a SourceError."""
        if self._ahead is not None:
            self._ahead.stop()
        self._process.stop()

    def close(self) -> None:
        """Ends the process that reads files, whatever it is reading."""
        self._process.close()

    def _path(self, source: str) -> Path:
        if not source:
            raise SourceNotFound("the path is empty: name a file or a folder")
        # The functions of os.path take any text for a path; the methods of Path raise errors at some.
        path = Path(os.path.expanduser(source))
        if not os.path.lexists(path) and "://" in source:
            raise UnsupportedSource(
                f"{source.partition('://')[0]}:// isn't read: give a file, a folder, or an address with https://"
            )
        if not os.path.lexists(path):
            raise SourceNotFound(f"there is nothing at {self._source(path)}: check the path")
        return path

    def _item(self, path: Path, skipped: Skipped) -> SourceItem:
        return SourceItem(self._source(path), partial(self._read, path, skipped))

    def _expect(self, paths: Sequence[Path]) -> None:
        if self._ahead is not None:
            self._ahead.expect(
                [SourceFile(os.path.abspath(path), self._source(path), self._languages) for path in paths]
            )

    def _read_next(self, path: Path, skipped: Skipped) -> list[Document]:
        contents = self._ahead.read(os.path.abspath(path)) if self._ahead else None
        if contents is None:
            return self._read(path, skipped)
        skipped.add(contents.skipped, contents.errors, contents.passed_over)
        return list(contents.documents)

    def _read(self, path: Path, skipped: Skipped) -> list[Document]:
        return self._process.read(path, self._source(path), replace(self._context, skipped=skipped))

    def _source(self, path: Path) -> str:
        absolute = Path(os.path.abspath(path))
        if self._root is None or not absolute.is_relative_to(self._root):
            return source_of(path)
        return source_of(absolute)[len(source_of(self._root)) :].lstrip("/")
