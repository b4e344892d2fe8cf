"""Files and folders → Documents, read within limits in a separate process, and visited again if they are followed.

A file whose size and modification time are unchanged isn't opened, unless that time is recent: a second change within
the clock's resolution would have the same time.
"""

from __future__ import annotations

import os
import shlex
import stat
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from dataclasses import replace
from datetime import datetime, timezone
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TypeVar

from answerable.datatypes import Document
from answerable.disk.files import expanded, source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound, UnsupportedSource
from answerable.formats.built_in import PICTURE
from answerable.protocols import SyncRecord, Visit, Visited
from answerable.protocols.sources import FileContents, ReadsAhead, SourceFile, SourceItem, UnreadFile
from answerable.sharing import settle
from answerable.sources.context import ReadContext, Skipped
from answerable.sources.folders import Scan, nothing_to_read, reason_to_skip, walk
from answerable.sources.formats import WITHOUT_TEXT, first_bytes, recognise, without_ocr
from answerable.sources.html.page_parts import PageFacts, page_scripts
from answerable.sources.process.reading_process import ReadingProcess


class FileReader:
    """Reads files and folders. Files under `root` are named relative to it, others by their absolute path.

    On a visit, `ahead` may read files before they are needed.
    """

    def __init__(
        self, context: ReadContext | None = None, root: Path | None = None, ahead: ReadsAhead | None = None
    ) -> None:
        self._context = context or ReadContext()
        self.ocr = self._context.ocr
        # If this version changes, unchanged files are read again.
        self.version = f"{READERS} {self.ocr.version if self.ocr else ''}".rstrip()
        self._root = None if root is None else Path(os.path.abspath(root))
        self._ahead = ahead
        self._process = ReadingProcess()

    def listing(self, source: str) -> list[SourceItem]:
        """Return the file, or the readable files of the folder. Raise SourceNotFound and EmptySource."""
        path, skipped = self._path(source), Skipped()
        files = walk(path, skipped, self._context.ocr) if os.path.isdir(path) else [path]
        items = [SourceItem(self.name(file), partial(self._read, file, skipped)) for file in files]
        if not items:
            raise nothing_to_read(source_of(path), skipped)
        return items

    def options(self, source: str) -> Mapping[str, str]:
        """Return {}: files are always read with this reader's context."""
        return {}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """Return a visit to the file or folder; files under `root` get no records. Raise SourceNotFound."""
        path = self._path(source)
        origin = source_of(path) if self.name(path) == source_of(path) else ""
        return FileVisit(path, origin, self, checksum)

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
        # The functions of os.path accept any string; the methods of Path raise errors for some strings.
        path = Path(expanded(source))
        if not os.path.lexists(path):
            if "://" in source:
                scheme = source.partition("://")[0]
                raise UnsupportedSource(
                    f"{scheme}:// addresses aren't supported: give a file, a folder, or an address with https://"
                )
            raise SourceNotFound(f"there is nothing at {self.name(path)}: check the path")
        return path

    def expect(self, paths: Sequence[Path]) -> None:
        """Prepare to read these files, in this order; some may turn out to be unchanged."""
        if self._ahead is not None:
            languages = self.ocr.languages if self.ocr else ""
            self._ahead.expect([SourceFile(os.path.abspath(path), self.name(path), languages) for path in paths])

    def read_next(self, path: Path, skipped: Skipped) -> list[Document]:
        """Return the documents of the next expected file; record in `skipped` what is left out. Raise SourceError."""
        contents = self._ahead.read(os.path.abspath(path)) if self._ahead else None
        if contents is None:
            return self._read(path, skipped)
        skipped.add(contents.skipped, contents.errors, contents.passed_over)
        return list(contents.documents)

    def _read(self, path: Path, skipped: Skipped) -> list[Document]:
        return self._documents(path, self.name(path), skipped)

    def _documents(self, file: Path | bytes, source: str, skipped: Skipped) -> list[Document]:
        return self._process.read(file, source, replace(self._context, skipped=skipped))

    def name(self, path: str | Path) -> str:
        """Return the source of a file."""
        if self._root is None or not (absolute := Path(os.path.abspath(path))).is_relative_to(self._root):
            return source_of(path)
        return source_of(absolute)[len(source_of(self._root)) :].lstrip("/")


Result = TypeVar("Result")
Sign = TypeVar("Sign")


def while_waiting(work: Callable[[], Result], sign: Sign, stop: Callable[[], None]) -> Generator[Sign, None, Result]:
    """Run `work` in a thread and return its result; meanwhile yield `sign` every 0.2 s. Closing early calls `stop`."""
    future: Future[Result] = Future()
    threading.Thread(target=settle, args=(future, work), name="reading", daemon=True).start()
    try:
        while not wait_for([future], 0.2).done:
            yield sign
    finally:
        # Call `stop` again and again, since the work may not yet have begun what `stop` ends.
        while not future.done():
            stop()
            wait_for([future], 0.05)
    return future.result()


# Increment this version if file readers return other documents for the same bytes: every file is then read again.
READERS = "7"
# Nanoseconds: file systems round times to two seconds at worst, so a later change may have the same time.
_RECENT = 2_000_000_000


class FileVisit:
    """One visit to a file or folder; see `protocols.Visit`. With the origin "", yield no records.

    With `checksum`, hash every file even if its size and modification time are unchanged.
    """

    def __init__(self, path: Path, origin: str, reader: FileReader, checksum: bool = False) -> None:
        self.origin = origin
        # Folders that can't be listed count as skipped, and documents read from them earlier are kept.
        self.errors: Sequence[SourceError] = ()
        self._path = path
        self._reader = reader
        self._checksum = checksum
        self._skipped = Skipped()
        self._known: Mapping[str, SyncRecord] = {}
        self._there: dict[str, str] = {}
        self._unreadable: list[str] = []
        self._is_over = False

    @property
    def total(self) -> int:
        """Number of files."""
        return len(self._there)

    @property
    def skipped(self) -> Mapping[str, int]:
        """Number of files and archive members skipped so far, by reason."""
        return self._skipped.counts

    @property
    def passed_over(self) -> Sequence[UnreadFile]:
        """Names of skipped files and folders."""
        return self._skipped.passed_over

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        """Yield the files by name. Raise SourceError for a single file, EmptySource if nothing is readable."""
        self._known = known
        is_folder = os.path.isdir(self._path)
        unchanged = self._scan() if is_folder else set()
        if not is_folder:
            self._there[self._reader.name(self._path)] = str(self._path)
        else:
            self._reader.expect([Path(each) for source, each in self._there.items() if not self._is_read_alike(source)])
        for source, name in self._there.items():
            if source in unchanged:
                yield Visited(source, record=known[source], is_unchanged=True)
                continue
            path = Path(name)
            yield Visited(source)
            try:
                yield from self._visited(source, path)
            except SourceError as error:
                if not is_folder:
                    raise
                if isinstance(error, EmptySource) and _is_picture(path):
                    yield self._without_text(source, path)
                else:
                    yield Visited(source, error=error)
        self._is_over = True

    def gone(self) -> list[str]:
        """Return known files that no longer exist or are now skipped, except in folders that can't be listed."""
        unseen = [source for source in self._known if source not in self._there] if self._is_over else []
        return [source for source in unseen if not source.startswith(tuple(self._unreadable))]

    def close(self) -> None:
        """Do nothing: a visit keeps no file open."""

    def _scan(self) -> set[str]:
        """List the folder; return the sources that haven't changed."""
        unchanged = set()
        scan = Scan(self._path, self._skipped, self._reader.name)
        files = list(scan)
        scripts = page_scripts([path.replace(os.sep, "/") for path, _ in files])
        for path, status in files:
            source = self._reader.name(path)
            if self._is_same(source, status):
                unchanged.add(source)
            elif reason := reason_to_skip(path, scripts, self._reader.ocr):
                self._skipped.count(reason, source)
                if reason != without_ocr() or source not in self._known:
                    continue
                # Without OCR, keep what was read from the picture where OCR was installed.
                unchanged.add(source)
            self._there[source] = path
        self._unreadable = [f"{self._reader.name(folder).rstrip('/')}/" for folder in scan.unreadable]
        if self._there:
            return unchanged
        folder = source_of(self._path)
        if not self._known:
            raise nothing_to_read(folder, self._skipped)
        remove = f"`answerable remove {shlex.quote(folder)}`"
        advice = f"what was read there earlier is kept; bring the files back, or remove them with {remove}"
        raise nothing_to_read(folder, self._skipped, advice)

    def _is_same(self, source: str, status: os.stat_result) -> bool:
        known = self._known.get(source)
        if known is None or not known.hash or self._checksum:
            return False
        is_settled = status.st_mtime_ns < known.seen.timestamp() * 1e9 - _RECENT
        return is_settled and self._validators(status) == known.validators

    def _is_read_alike(self, source: str) -> bool:
        """Whether this version of the file readers made the known documents: unchanged bytes give these again."""
        known = self._known.get(source)
        return known is not None and bool(known.hash) and known.validators.get("readers") == self._reader.version

    def _visited(self, source: str, path: Path) -> Generator[Visited, None, None]:
        seen = datetime.now(timezone.utc)
        known = self._known.get(source)
        before = _status(path)
        if before and self._is_same(source, before):
            yield Visited(source, record=known, is_unchanged=True)
            return
        if before and known and self._is_read_alike(source) and _digest(path) == known.hash:
            record = replace(known, seen=seen, validators=self._validators(before))
            yield Visited(source, record=record, is_unchanged=True)
            return
        counted = len(self._skipped.errors)
        work = partial(self._reader.read_next, path, self._skipped)
        documents = yield from while_waiting(work, Visited(source), self._reader.stop)
        errors = self._skipped.errors[counted:]
        yield from (Visited(source, error=error) for error in errors)
        record = SyncRecord(self.origin, source, seen, documents=tuple(document.id for document in documents))
        proven = self._proven(record, path, before, bool(errors)) if self.origin else None
        yield Visited(source, tuple(documents), proven)

    def _without_text(self, source: str, path: Path) -> Visited:
        """Count a picture without text, and record it, so that OCR doesn't read it again while it is unchanged."""
        self._skipped.count(WITHOUT_TEXT, source)
        record = SyncRecord(self.origin, source, datetime.now(timezone.utc))
        return Visited(source, (), self._proven(record, path, _status(path), False) if self.origin else None)

    def _proven(self, record: SyncRecord, path: Path, before: os.stat_result | None, is_partial: bool) -> SyncRecord:
        """Add the file's hash to the record, unless the file changed meanwhile or was only partly read."""
        known = self._known.get(record.source)
        if is_partial and known:
            # Keep the documents that were read earlier and can't be read now.
            kept = tuple(each for each in known.documents if each not in record.documents)
            record = replace(record, documents=record.documents + kept)
        digest = _digest(path)
        after = _status(path)
        if is_partial or before is None or after is None or _version(before) != _version(after):
            return record
        return replace(record, hash=digest, validators=self._validators(after))

    def _validators(self, status: os.stat_result) -> Mapping[str, str]:
        size, time = str(status.st_size), str(status.st_mtime_ns)
        return {"size": size, "mtime_ns": time, "readers": self._reader.version}


def _is_picture(path: Path) -> bool:
    try:
        return recognise(first_bytes(path, path.name), path.name) is PICTURE
    except SourceError:
        return False


def _version(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ino


def _status(path: Path) -> os.stat_result | None:
    """Return the status of a regular file, or None."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def _digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, or "" if it can't be read."""
    digest = sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()
