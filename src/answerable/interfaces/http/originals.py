"""Uploaded files, stored in the library's folder under safe names; and documents' original files, and places in them.

By the time of a request, another file may be at a document's path. So a file is served only if reading it again gives
the same document as in the library.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import threading
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from answerable.datatypes import Document, DocumentType
from answerable.disk.files import for_us, is_full, make_folder, no_room
from answerable.errors import AnswerableError, DocumentNotFound, SourceError
from answerable.indexing.ingest import AddReport, Failure, OnProgress, Progress
from answerable.interfaces.examples import example_documents
from answerable.interfaces.http.problems import Problem
from answerable.sources.archives.archives import PASSED_OVER, Unpacking
from answerable.sources.archives.read import opened_member
from answerable.sources.context import Beside, ReadContext, ReadLimits
from answerable.sources.dispatch import beside_file, load
from answerable.sources.ocr.pictures import rectangles as picture_rectangles
from answerable.sources.pdf.page_text import Rectangle
from answerable.sources.process.reading_process import ReadingProcess
from answerable.sources.whatsapp.voice_notes import fingerprint, note_at

if TYPE_CHECKING:
    from answerable.interfaces.http.libraries import Libraries
    from answerable.library import Library

# Verified files to remember, as many as people open at once; a round number. Each takes a few hundred bytes.
_REMEMBERED = 256
_MEMBER = re.compile(r"(.+?\.[A-Za-z0-9]{1,5})!/.+", re.DOTALL)

_Checked = tuple[str, str, int, int, int]


class Originals:
    """Finds original files, and remembers which files it has found unchanged. Thread-safe."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._worker = ReadingProcess()
        self._checking = threading.Lock()
        self._checked: OrderedDict[_Checked, None] = OrderedDict()

    def path(self, library: str, document: Document) -> Path:
        """Return the path of the document's file, or of the archive that contains the file.

        Raise DocumentNotFound if the file is gone or has changed.
        """
        path = self._named(library, document.source)
        try:
            status = path.stat()
            checked = (library, document.id, status.st_ino, status.st_size, status.st_mtime_ns)
            # Requests for a file and for places in it arrive together: let only one of them check the file.
            with self._checking:
                if checked in self._checked or self._is_same(library, path, document):
                    self._remember(checked)
                    return path
        except (AnswerableError, OSError, ValueError):
            # Give the same error for a missing file, an unreadable file and an invalid path.
            pass
        raise DocumentNotFound("The original file of this document is gone or has changed.")

    def rectangles(self, library: str, document: Document, spans: Sequence[tuple[int, int]]) -> list[Rectangle]:
        """Return (page, left, bottom, right, top) of each line of the spans, from the lower left corner.

        The unit is points for a PDF, fractions of width and height for a picture. Raise DocumentNotFound if the PDF is
        gone or has changed, and SourceError.
        """
        if document.type is DocumentType.PICTURE:
            return picture_rectangles(document, spans)
        data, context = self._pdf(library, document)
        return self._worker.rectangles(data, document, spans, context)

    def page_sizes(self, library: str, document: Document) -> list[tuple[float, float]]:
        """Return the width and height in points of each page of a PDF, as it is shown. Raise as `rectangles` does."""
        data, context = self._pdf(library, document)
        return self._worker.page_sizes(data, document.source, context)

    def recording(self, library: str, document: Document, offset: int) -> bytes:
        """Return the recording of the text at an offset: the document's file, or a voice note of a chat.

        Raise DocumentNotFound if the recording is gone or has changed, or if the text has none.
        """
        path = self.path(library, document)
        try:
            with self._opened(library, path, document.source) as (data, beside):
                if document.type is DocumentType.RECORDING:
                    return data
                found = beside(name) if (name := note_at(document, offset)) else None
        except (AnswerableError, OSError, ValueError):
            found = None
        if found is None:
            raise DocumentNotFound("This text is from no recording that is still there.")
        return found

    def discard(self, library: str, document: Document) -> None:
        """Delete the file of a removed document if it was uploaded and no other document uses it."""
        path = self._named(library, document.source)
        others = {self._named(library, other.source) for other in self._libraries.get(library).documents()}
        if path.parent == self._libraries.uploads(library) and path not in others:
            _delete(path)

    def close(self) -> None:
        """End the process that reads PDFs. Idempotent."""
        self._worker.close()

    def _pdf(self, library: str, document: Document) -> tuple[bytes, ReadContext]:
        """Return the bytes of a PDF, and how to read it."""
        path = self.path(library, document)
        if document.type is not DocumentType.PDF or path.name != Path(document.source).name:
            raise DocumentNotFound("Only pictures, and PDFs outside archives, have rectangles.")
        settings = self._libraries.settings(library)
        limits = ReadLimits(settings.max_file_size, settings.max_pdf_seconds, settings.max_pdf_memory)
        return path.read_bytes(), ReadContext(limits, settings.pdf_password or None)

    def _named(self, library: str, source: str) -> Path:
        """Return the path of a source; for a file in an archive, the path of the archive."""
        member = _MEMBER.fullmatch(source)
        return self._libraries.uploads(library) / (member[1] if member else source)

    def _is_same(self, library: str, path: Path, document: Document) -> bool:
        if not path.is_file():
            return False
        if document.type is DocumentType.PICTURE and path.name == Path(document.source).name:
            # Compare hashes: recognising the picture's text again takes seconds.
            return _digest(path) == document.metadata.get("sha256")
        heard = document.metadata.get("sha256")
        if heard and document.type is not DocumentType.PICTURE:
            # Compare hashes: transcribing the recording again would take minutes.
            with self._opened(library, path, document.source) as (data, beside):
                return bool(fingerprint(document, data, beside) == heard)
        if document.type is DocumentType.PDF and not _MEMBER.fullmatch(document.source):
            # Compare notes of the file: reading hundreds of pages again would take seconds.
            is_upload = path.parent == self._libraries.uploads(library)
            hashes = self._libraries.get(library).file_hashes
            if _was_read(path) if is_upload else _digest(path) in hashes(document.id):
                return True
        with closing(self._libraries.reader(library)) as reader:
            found = [found for item in reader.listing(str(path)) for found in item.read()]
        is_same = any(each.source == document.source and each.content == document.content for each in found)
        if is_same and document.type is DocumentType.PDF and path.parent == self._libraries.uploads(library):
            _remember_read(path)
        return is_same

    @contextmanager
    def _opened(self, library: str, path: Path, source: str) -> Iterator[tuple[bytes, Beside]]:
        """Yield the bytes of a document's file, and an object that finds files in the same folder or archive."""
        limit = self._libraries.settings(library).max_file_size
        if member := _MEMBER.fullmatch(source):
            name = source.removeprefix(f"{member[1]}!/")
            unpacking = Unpacking(limit * PASSED_OVER, lambda: None)
            with opened_member(path, member[1], name, limit, unpacking) as opened:
                yield opened
        else:
            yield load(path, source, limit), partial(beside_file, path, limit)

    def _remember(self, checked: _Checked) -> None:
        self._checked[checked] = None
        self._checked.move_to_end(checked)
        if len(self._checked) > _REMEMBERED:
            self._checked.popitem(last=False)


_INCOMING = ".incoming"
_READ = ".read"
# Bytes of a file's name: file systems allow 255, and names of temporary files are longer than the file's.
_LONGEST = 180
# Seconds (a day): no upload takes that long.
_STALE = 86_400.0
_SEPARATOR = re.compile(r"[/\\]")
_RESERVED = str.maketrans(dict.fromkeys('<>:"|?*', "_"))


def safe_name(given: str) -> str:
    """Remove paths, control characters and direction marks from a file name; at most 180 bytes of UTF-8."""
    last = _SEPARATOR.split(unicodedata.normalize("NFC", given))[-1]
    visible = "".join(letter if letter.isprintable() else " " * letter.isspace() for letter in last)
    stem, suffix = os.path.splitext(visible.translate(_RESERVED).strip(" .") or "document")
    room = _LONGEST - len(suffix.encode())
    if room < 1:
        stem, suffix, room = stem + suffix, "", _LONGEST
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + suffix


@dataclass(frozen=True, slots=True)
class Incoming:
    """The files of one request by safe name, in a separate folder until they are added."""

    uploads: Path
    folder: Path
    names: tuple[str, ...]

    def discard(self) -> None:
        """Delete the uploaded files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, library: Library, report: AddReport, on_progress: OnProgress) -> None:
        """Add the files one by one; each replaces the earlier file of its name."""
        for number, name in enumerate(self.names):
            before = report.chunks

            def progressed(now: Progress, number: int = number, before: int = before) -> None:
                done, total = before + now.chunks_done, before + now.chunks_total
                files = len(self.names)
                on_progress(
                    replace(now, chunks_done=done, chunks_total=total, sources_done=number, sources_total=files)
                )

            self._add(library, name, report, progressed)
        report.merge(library.make_vectors(on_progress))

    def _add(self, library: Library, name: str, report: AddReport, on_progress: OnProgress) -> None:
        kept, earlier = self.uploads / name, self.folder / "earlier"
        if had_earlier := kept.exists():
            kept.replace(earlier)
        (self.folder / name).replace(kept)
        added = AddReport()
        try:
            added = library.add(kept, on_progress, with_vectors=False)
        except SourceError as error:
            added.failures.append(Failure(name, error))
        finally:
            if not (added.added or added.changed or added.unchanged):
                earlier.replace(kept) if had_earlier else kept.unlink()
            else:
                _remember_read(kept)
        report.merge(added)


def receive(uploads: Path, files: Sequence[tuple[str, BinaryIO]]) -> Incoming:
    """Write the files to a new folder next to the uploads. Raise Problem and DiskFull."""
    names = tuple(safe_name(name) for name, _ in files)
    if len(set(names)) < len(names):
        raise Problem(422, "invalid_request", "Two of the files have the same name. Send them one after the other.")
    folder = uploads / _INCOMING / secrets.token_hex(8)
    incoming = Incoming(uploads, folder, names)
    try:
        make_folder(folder)
        for name, (_, file) in zip(names, files, strict=True):
            with open(folder / name, "xb", opener=for_us) as kept:
                shutil.copyfileobj(file, kept, 1 << 20)
    except OSError as error:
        incoming.discard()
        if is_full(error, folder):
            raise no_room(folder) from error
        raise Problem(503, "storage_failed", "The server can't store the files. Tell its administrator.") from error
    return incoming


def receive_examples(uploads: Path, language: str) -> Incoming:
    """Copy the examples of a language to a new folder next to the uploads. Raise Problem and DiskFull."""
    with ExitStack() as stack:
        return receive(
            uploads, [(path.name, stack.enter_context(path.open("rb"))) for path in example_documents(language)]
        )


def _remember_read(kept: Path) -> None:
    """Write down the hash of an uploaded file whose documents are in the library, to compare it without reading it."""
    note = _note(kept)
    try:
        make_folder(note.parent)
        with open(note, "w", encoding="ascii", opener=for_us) as written:
            written.write(_digest(kept))
    except OSError:
        # Without the written hash, the file is read again.
        note.unlink(missing_ok=True)


def _was_read(kept: Path) -> bool:
    """Whether the file has the hash written by `_remember_read`; False if there is none."""
    try:
        return _note(kept).read_text("ascii") == _digest(kept)
    except (OSError, ValueError):
        return False


def _delete(kept: Path) -> None:
    """Delete an uploaded file and its written hash."""
    kept.unlink(missing_ok=True)
    _note(kept).unlink(missing_ok=True)


def _note(kept: Path) -> Path:
    return kept.parent / _READ / kept.name


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def clean_up(uploads: Path) -> None:
    """Delete, for all libraries, partly uploaded files that a killed server left over a day ago."""
    for left in uploads.glob(f"*/{_INCOMING}/*"):
        if time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
