"""Recognise text with the installed tesseract, which decodes picture files itself."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from itertools import groupby

from answerable.sources.context import Ocr
from answerable.sources.ocr.lines import NEW_BLOCK, NEW_ROW, Box, Line, Page, PictureRefused, Pixels

# Columns of its table: level, page, block, paragraph, line, word, left, top, width, height, confidence, text.
_COLUMNS = 12
_PAGE_LEVEL, _WORD_LEVEL = "1", "5"
_RESOLUTION = 300


class TesseractRecogniser:
    """See `Recogniser`."""

    def __init__(self, ocr: Ocr) -> None:
        self._ocr = ocr

    def page(self, pixels: Pixels, seconds: float) -> Page | None:
        """Return the page's lines, or None if it fails or takes too long."""
        image = f"P5 {pixels.width} {pixels.height} 255\n".encode() + pixels.data
        found = self._run(image, pixels.resolution, seconds)
        return None if found is None else next(_pages(found), Page())

    def pages(self, picture: bytes, seconds: float) -> Iterator[Page | None]:
        """Yield each page of a picture file, or None if it takes too long. Raise PictureRefused."""
        # Pictures don't say their resolution reliably.
        found = self._run(picture, 0, seconds)
        if found is None:
            yield None
            return
        pages = list(_pages(found))
        if not pages:
            raise PictureRefused("tesseract can't decode it")
        yield from pages

    def _run(self, image: bytes, resolution: int, seconds: float) -> str | None:
        """Return tesseract's table, or None after `seconds`; "" if it fails."""
        command = [self._ocr.command, "stdin", "stdout", "-l", self._ocr.languages]
        command += ["--dpi", str(resolution)] if resolution else []
        try:
            # Several threads are slower than one on images of this size.
            done = subprocess.run(
                [*command, "tsv"],
                input=image,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                env={**os.environ, "OMP_THREAD_LIMIT": "1"},
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        # A negative status is a signal: it was killed at a limit.
        if done.returncode < 0:
            return None
        return "" if done.returncode else done.stdout.decode("utf-8", "replace")


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
