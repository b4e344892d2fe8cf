"""The original files of documents, the places of quotes on the pages of PDFs and on pictures, and recordings' sound.

By the time of a request, another file may be at a document's path. So a file is served only if reading it again yields
the document in the library.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path

from answerable.datatypes import Document, DocumentType
from answerable.errors import AnswerableError, DocumentNotFound
from answerable.interfaces.http.libraries import Libraries
from answerable.interfaces.http.uploads import delete, remember_read, was_read
from answerable.sources.archives.beside import opened_member
from answerable.sources.archives.unpacking import PASSED_OVER, Unpacking
from answerable.sources.context import Beside, ReadContext
from answerable.sources.dispatch import beside_file, load
from answerable.sources.limits import ReadLimits
from answerable.sources.pdf.read import Rectangle
from answerable.sources.pictures import rectangles as picture_rectangles
from answerable.sources.process.reading_process import ReadingProcess
from answerable.sources.whatsapp.voice_notes import fingerprint, note_at

_REMEMBERED = 256
_MEMBER = re.compile(r"(.+?\.[A-Za-z0-9]{1,5})!/.+", re.DOTALL)

_Checked = tuple[str, str, int, int, int]


class Originals:
    """A finder of original files, which remembers the unchanged files it has verified. Thread-safe."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._worker = ReadingProcess()
        self._lock = threading.Lock()
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
            # Requests for the file and for places on it come together: one of them checks it.
            with self._checking:
                if self._is_known(checked) or self._is_same(library, path, document):
                    self._remember(checked)
                    return path
        except (AnswerableError, OSError, ValueError):
            # Clients can't tell a missing file from an unreadable one or an invalid path.
            pass
        raise DocumentNotFound("The original file of this document is gone or has changed.")

    def rectangles(self, library: str, document: Document, spans: Sequence[tuple[int, int]]) -> list[Rectangle]:
        """Return (page, left, bottom, right, top) of each line of the spans, from the lower left corner.

        They are in points on a PDF, in fractions of its size on a picture. Raise DocumentNotFound if the PDF is gone or
        has changed, and SourceError.
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
        """Return the recording in which the text at an offset is said: the document's, or a voice note of a chat.

        Raise DocumentNotFound if it is gone or has changed, or the text is from no recording.
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
            delete(path)

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
            # Recognising its text again takes seconds.
            return sha256(path.read_bytes()).hexdigest() == document.metadata.get("sha256")
        heard = document.metadata.get("sha256")
        if heard and document.type is not DocumentType.PICTURE:
            # Hearing it again would take minutes.
            with self._opened(library, path, document.source) as (data, beside):
                return bool(fingerprint(document, data, beside) == heard)
        if document.type is DocumentType.PDF and not _MEMBER.fullmatch(document.source):
            # Reading hundreds of pages again would take seconds.
            is_upload = path.parent == self._libraries.uploads(library)
            if was_read(path) if is_upload else self._was_followed(library, path, document):
                return True
        with closing(self._libraries.reader(library)) as reader:
            found = [found for item in reader.listing(str(path)) for found in item.read()]
        is_same = any(each.source == document.source and each.content == document.content for each in found)
        if is_same and document.type is DocumentType.PDF and path.parent == self._libraries.uploads(library):
            remember_read(path)
        return is_same

    def _was_followed(self, library: str, path: Path, document: Document) -> bool:
        digest = sha256(path.read_bytes()).hexdigest()
        return digest in self._libraries.get(library).file_hashes(document.id)

    @contextmanager
    def _opened(self, library: str, path: Path, source: str) -> Iterator[tuple[bytes, Beside]]:
        """Yield the bytes of a document's file, and what finds the files beside it."""
        limit = self._libraries.settings(library).max_file_size
        if member := _MEMBER.fullmatch(source):
            name = source.removeprefix(f"{member[1]}!/")
            unpacking = Unpacking(limit * PASSED_OVER, lambda: None)
            with opened_member(path, member[1], name, limit, unpacking) as opened:
                yield opened
        else:
            yield load(path, source, limit), partial(beside_file, path, limit)

    def _is_known(self, checked: _Checked) -> bool:
        with self._lock:
            return checked in self._checked

    def _remember(self, checked: _Checked) -> None:
        with self._lock:
            self._checked[checked] = None
            self._checked.move_to_end(checked)
            while len(self._checked) > _REMEMBERED:
                self._checked.popitem(last=False)
