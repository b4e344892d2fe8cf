"""Pictures → Document: the text that OCR finds in photographs, screenshots and scans; and the choice of the OCR engine.

The content is the texts of the pages joined by form feeds. Each line is a part with its page and its box on the page.
RapidOCR recognises the text if it is installed, otherwise tesseract, which decodes pictures itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

from answerable.datatypes import Document, DocumentType, Part, PartKind, Span
from answerable.errors import (
    DamagedSource,
    EmptySource,
    SettingsError,
    SourceTooLarge,
    UnsupportedSource,
    install_command,
)
from answerable.formats.marks import heif_name
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.frames import Child
from answerable.sources.ocr.lines import NEW_BLOCK, NEW_ROW, Box, Line, Page, PictureRefused, PictureTooLarge
from answerable.sources.ocr.program import IDLE_STATUS
from answerable.sources.text import make_document

# Columns of tesseract's table: level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
_COLUMNS = 12
_PAGE_LEVEL, _WORD_LEVEL = "1", "5"
RESOLUTION = 300  # dots per inch of the pages of PDFs, which come as pictures in PGM format
_LANGUAGES = re.compile(r"[A-Za-z_]+(\+[A-Za-z_]+)*")


def install_ocr() -> str:
    """Return the command that installs RapidOCR, in backticks."""
    return f"`{install_command('ocr')}`"


def find_ocr(languages: str = "") -> Ocr | None:
    """Return the OCR engine of this machine, or None if there is none.

    With `languages` (tesseract's codes, `eng+spa`), return tesseract; otherwise RapidOCR, which reads all languages
    written in Latin letters, Chinese and Japanese; otherwise tesseract in those of English, Spanish and Portuguese that
    are installed. Raises SettingsError if tesseract or a requested language isn't installed.
    """
    if not languages and models_folder() is not None:
        return Ocr()
    command = shutil.which("tesseract")
    if command is None:
        if languages:
            raise SettingsError(
                f"tesseract is not installed, but ocr is {languages}: install it, or leave ocr empty, "
                f"with {install_ocr()}"
            )
        return None
    listed = subprocess.run([command, "--list-langs"], capture_output=True, text=True, timeout=60, check=False)
    installed = listed.stdout.split("\n")[1:]
    if not languages:
        usual = [language for language in ("eng", "spa", "por") if language in installed]
        return Ocr(command, "+".join(usual)) if usual else None
    missing = [language for language in languages.split("+") if language not in installed]
    if missing or not _LANGUAGES.fullmatch(languages):
        raise SettingsError(
            f"tesseract can't read {' and '.join(missing) or languages!r}: install the package "
            f"tesseract-ocr-<language>, or choose from {', '.join(filter(None, installed))} (several as eng+spa)"
        )
    return Ocr(command, languages)


def recogniser(ocr: Ocr) -> TesseractRecogniser | RapidRecogniser:
    """Return the recogniser for this OCR engine."""
    return TesseractRecogniser(ocr) if ocr.command else rapid_recogniser()


class TesseractRecogniser:
    """Recognises the text of pages, each within a time limit in seconds, by running tesseract."""

    def __init__(self, ocr: Ocr) -> None:
        self._ocr = ocr

    def pages(self, picture: bytes, seconds: float) -> Iterator[Page | None]:
        """Yield each page of a picture file, or None if it takes too long. Raise PictureRefused."""
        command = [self._ocr.command, "stdin", "stdout", "-l", self._ocr.languages]
        # The resolution that other picture files state is unreliable.
        command += ["--dpi", str(RESOLUTION)] if picture.startswith(b"P5") else []
        # Several threads are slower than one on pages of this size.
        one_thread = {**os.environ, "OMP_THREAD_LIMIT": "1"}
        try:
            done = subprocess.run(
                [*command, "tsv"], input=picture, capture_output=True, timeout=seconds, env=one_thread
            )
        except (OSError, subprocess.TimeoutExpired):
            done = None
        # A negative status is a signal: tesseract was killed at a limit.
        if done is None or done.returncode < 0:
            yield None
            return
        pages = [] if done.returncode else list(_pages(done.stdout.decode("utf-8", "replace")))
        if not pages:
            raise PictureRefused("tesseract can't decode it, or has no memory for it")
        yield from pages


def _pages(table: str) -> Iterator[Page]:
    rows = [cells for row in table.split("\n") if len(cells := row.split("\t")) == _COLUMNS and cells[0].isdigit()]
    for _, page in groupby(rows, key=lambda cells: cells[1]):
        size, *words = [cells for cells in page if cells[0] in (_PAGE_LEVEL, _WORD_LEVEL)]
        width, height = int(size[8]), int(size[9])
        lines: list[Line] = []
        block: list[str] = []
        for (*place, _), found in groupby(words, key=lambda cells: cells[2:5]):
            line = [cells for cells in found if cells[11].strip()]
            if line:
                text = " ".join(cells[11].strip() for cells in line)
                lines.append(Line(text, _box(line, width, height), NEW_ROW if place == block else NEW_BLOCK))
                block = place
        yield Page(tuple(lines))


def _box(words: list[list[str]], width: int, height: int) -> Box:
    edges = [(int(left), int(top), int(wide), int(high)) for left, top, wide, high in (word[6:10] for word in words)]
    left, top = min(edge[0] for edge in edges), min(edge[1] for edge in edges)
    right, bottom = max(edge[0] + edge[2] for edge in edges), max(edge[1] + edge[3] for edge in edges)
    return left / max(width, 1), top / max(height, 1), right / max(width, 1), bottom / max(height, 1)


DETECTOR, RECOGNISER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"


def models_folder() -> Path | None:
    """Return the folder of models in RapidOCR's wheel; None without RapidOCR, or if its version has no models."""
    spec = find_spec("rapidocr")
    for place in (spec and spec.submodule_search_locations) or ():
        folder = Path(place) / "models"
        if (folder / DETECTOR).is_file() and (folder / RECOGNISER).is_file():
            return folder
    return None


class RapidRecogniser:
    """The same by a process with RapidOCR. Thread-safe: handles one page after another."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child = Child("answerable.sources.ocr.program", str(models_folder()), DETECTOR, RECOGNISER)

    def pages(self, picture: bytes, seconds: float) -> Iterator[Page | None]:
        """Yield each page of a picture file, and None as the last if a page takes too long. Raise PictureRefused."""
        with self._lock:
            answer = None
            try:
                answer = self._answer(seconds, {"seconds": seconds}, picture)
                if answer is None and self._child.end() == IDLE_STATUS:
                    # It ended because it was idle, and is started again.
                    answer = self._answer(seconds, {"seconds": seconds}, picture)
                while answer is not None and answer["outcome"] == "page":
                    page = Page(tuple(Line(text, tuple(box), before) for text, box, before in answer["lines"]))
                    answer = None
                    yield page
                    answer = self._answer(seconds)
            finally:
                if answer is None:
                    # The OCR process is still at work, or dead.
                    self._child.kill()
                    self._child.end()
        if answer is None:
            yield None
        elif answer["outcome"] == "too large":
            raise PictureTooLarge(answer["reason"])
        elif answer["outcome"] == "failed":
            raise PictureRefused(answer["reason"])

    def _answer(self, seconds: float, *request: Any) -> dict[str, Any] | None:
        pair = self._child.answer(seconds, *request)
        return pair[0] if pair else None


Rectangle = tuple[int, float, float, float, float]
rapid_recogniser = lru_cache(maxsize=1)(RapidRecogniser)
"""Returns the recogniser of this process, which is kept, because loading the models takes seconds."""
# The container of HEIC and AVIF names its brands, of four letters each, at its beginning.
_BRANDS = 64


def read_picture(data: bytes, source: str, context: ReadContext | None = None) -> Document:
    """Return the document in a picture's bytes; record pages that OCR fails to read in `context.skipped`.

    Raise UnsupportedSource without OCR, EmptySource if the picture shows no text, DamagedSource and SourceTooLarge.
    """
    context = context or ReadContext()
    if reason := undecoded(data[:_BRANDS], context.ocr):
        raise UnsupportedSource(f"{source} is a {reason}")
    if context.ocr is None:
        raise UnsupportedSource(
            f"{source} is a picture: to read its text run {install_ocr()}, or install tesseract; or leave it out"
        )
    found = _pages_of(data, source, context, context.ocr)
    unread = [number for number, page in enumerate(found, 1) if page is None]
    pages = [page or Page() for page in found]
    if unread:
        which = f"page {unread[0]}" if len(found) > 1 else "it"
        reason = f"{source}: OCR failed or took too long at {which}: split it, or make it smaller, then add it again"
        if len(unread) == len(found):
            raise EmptySource(reason)
        context.skipped.errors.append(EmptySource(reason))
        context.left_out.extend(LeftOut.named(LeftOutKind.PAGE, unread))
    if not any(page.text.strip() for page in pages):
        raise EmptySource(f"{source} shows no text that OCR can read: leave it out, or scan it at 200 dpi or more")
    content = "\f".join(page.text for page in pages)
    # This hash shows that the file is unchanged, without reading the file again.
    metadata = {"sha256": sha256(data).hexdigest()}
    return make_document(source, content, DocumentType.PICTURE, _parts(pages), metadata=metadata)


def undecoded(head: bytes, ocr: Ocr | None) -> str:
    """Return a format that can't be decoded on this machine, with what to do; "" if the format can be decoded."""
    name = heif_name(head)
    # Pillow, which RapidOCR uses, reads AVIF itself; tesseract reads neither HEIC nor AVIF.
    if not name or (ocr and not ocr.command and (name == "AVIF" or find_spec("pillow_heif"))):
        return ""
    more = " and `pip install pillow-heif`" if name == "HEIC" else ""
    return f"{name} picture, which isn't read here: save it as JPEG and add that, or run {install_ocr()}{more}"


def rectangles(document: Document, spans: Sequence[Span]) -> list[Rectangle]:
    """Return page (from 1), left, bottom, right and top of each line of spans, as fractions of the picture's size.

    The origin is the lower left corner. All letters of a line are assumed to be equally wide.
    """
    found: list[Rectangle] = []
    for part in document.parts:
        for start, end in spans:
            length = len(document.content[part.start : part.end].rstrip())
            first, last = max(start - part.start, 0), min(end - part.start, length)
            if part.box and first < last:
                found.append((part.page or 1, *_share(part.box, first / length, last / length)))
    return found


def _share(box: Box, first: float, last: float) -> tuple[float, float, float, float]:
    """Return left, bottom, right and top of a share of a line; of the whole line if it runs up or down the page."""
    left, top, right, bottom = box
    if right - left > bottom - top:
        left, right = left + (right - left) * first, left + (right - left) * last
    return left, 1 - bottom, right, 1 - top


def _pages_of(data: bytes, source: str, context: ReadContext, ocr: Ocr) -> list[Page | None]:
    """Return the pages; the last is None if OCR fails on it, or if the time for the file is used up."""
    ends = time.monotonic() + ocr.file_seconds
    pages: list[Page | None] = []
    context.working()
    if min(ocr.page_seconds, ocr.file_seconds) <= 0:
        return [None]
    try:
        for page in recogniser(ocr).pages(data, ocr.page_seconds):
            pages.append(page)
            context.working()
            if time.monotonic() > ends:
                return [*pages, None]
    except PictureTooLarge as error:
        raise SourceTooLarge(f"{source} {error}") from error
    except PictureRefused as error:
        raise DamagedSource(
            f"{source} is not a readable picture ({error}): download it again, or open it and save it as PNG"
        ) from error
    return pages


def _parts(pages: Sequence[Page]) -> Iterator[Part]:
    start = 0
    for number, page in enumerate(pages, 1):
        for place, line in enumerate(page.lines):
            after = page.lines[place + 1].before if place + 1 < len(page.lines) else ""
            left, top, right, bottom = (round(edge, 4) for edge in line.box)
            end = start + len(line.text) + len(after)
            yield Part(start, end, PartKind.PAGE, page=number, box=(left, top, right, bottom))
            start = end
        start += 1
