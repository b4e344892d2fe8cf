"""Files and folders → Documents, read under limits in a process of their own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from answerable.datatypes import Document
from answerable.disk.names import expanded, source_of
from answerable.errors import SourceNotFound, UnsupportedSource
from answerable.protocols import Visit
from answerable.protocols.reading import FileContents, ReadsAhead, SourceFile, SourceItem
from answerable.sources.context import ReadContext
from answerable.sources.file_visits import READERS, FileReading, FileVisit
from answerable.sources.folders import nothing_to_read, walk
from answerable.sources.html.page_facts import PageFacts
from answerable.sources.limits import Skipped
from answerable.sources.process.reading_process import ReadingProcess


class FileReader:
    """Reads files and folders. Files under `root` are named relative to it, others by their absolute path.

    On a visit, `ahead` may read files before they are needed.
    """

    def __init__(
        self, context: ReadContext | None = None, root: Path | None = None, ahead: ReadsAhead | None = None
    ) -> None:
        self._context = context or ReadContext()
        self._languages = self._context.ocr.languages if self._context.ocr else ""
        self._ocr_version = self._context.ocr.version if self._context.ocr else ""
        self._root = None if root is None else Path(os.path.abspath(root))
        self._ahead = ahead
        self._process = ReadingProcess()

    def listing(self, source: str) -> list[SourceItem]:
        """Return the file, or the readable files of the folder. Raise SourceNotFound and EmptySource."""
        path, skipped = self._path(source), Skipped()
        files = walk(path, skipped, self._context.ocr) if os.path.isdir(path) else [path]
        items = [SourceItem(self._source(file), partial(self._read, file, skipped)) for file in files]
        if not items:
            raise nothing_to_read(source_of(path), skipped)
        return items

    def options(self, source: str) -> Mapping[str, str]:
        """Return {}: files are always read with this reader's context."""
        return {}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """Return a visit to the file or folder, which keeps no records under `root`. Raise SourceNotFound."""
        path = self._path(source)
        origin = source_of(path) if self._source(path) == source_of(path) else ""
        readers = f"{READERS} {self._ocr_version}".rstrip()
        reading = FileReading(self._read_next, self._source, self._expect, self.stop, readers, self._context.ocr)
        return FileVisit(path, origin, reading, checksum)

    def read(self, file: SourceFile) -> FileContents:
        """Return the contents of a file. Raise SourceError."""
        skipped = Skipped()
        documents = self._documents(Path(file.path) if file.data is None else file.data, file.source, skipped)
        return FileContents(tuple(documents), skipped.counts, tuple(skipped.errors), tuple(skipped.passed_over))

    def read_bytes(self, data: bytes, source: str) -> list[Document]:
        """Parse the bytes of a file with this name; return its documents."""
        return self._documents(data, source, Skipped())

    def read_page(self, data: bytes, source: str) -> list[Document]:
        """Parse the bytes of the web page at this address; return its document."""
        return self._process.read(data, source, self._context, url=source)

    def page_facts(self, data: bytes, source: str, url: str) -> PageFacts:
        """Return the facts of a page fetched from `url` and cited as `source`."""
        return PageFacts(**self._process.facts(data, source, url, self._context))

    def stop(self) -> None:
        """Stop reading; pending reads raise SourceError."""
        if self._ahead is not None:
            self._ahead.stop()
        self._process.stop()

    def close(self) -> None:
        """End the process that reads files."""
        self._process.close()

    def _path(self, source: str) -> Path:
        if not source:
            raise SourceNotFound("the path is empty: name a file or a folder")
        # The functions of os.path accept any text; the methods of Path raise errors for some.
        path = Path(expanded(source))
        if not os.path.lexists(path):
            if "://" in source:
                scheme = source.partition("://")[0]
                raise UnsupportedSource(
                    f"{scheme}:// addresses aren't supported: give a file, a folder, or an address with https://"
                )
            raise SourceNotFound(f"there is nothing at {self._source(path)}: check the path")
        return path

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
        return self._documents(path, self._source(path), skipped)

    def _documents(self, file: Path | bytes, source: str, skipped: Skipped) -> list[Document]:
        return self._process.read(file, source, replace(self._context, skipped=skipped))

    def _source(self, path: Path) -> str:
        absolute = Path(os.path.abspath(path))
        if self._root is None or not absolute.is_relative_to(self._root):
            return source_of(path)
        return source_of(absolute)[len(source_of(self._root)) :].lstrip("/")
