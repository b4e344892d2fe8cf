"""Recognise the text of pages without a text layer: in the worker, within its limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from answerable.sources.context import Ocr
from answerable.sources.ocr.choice import recogniser
from answerable.sources.ocr.lines import Pixels

RESOLUTION = 300
MAX_PIXELS = 40_000_000


def recognise(document: Any, answer: dict[str, Any], ocr: Ocr, working: Callable[[], None]) -> None:
    """Add the texts of scanned pages to the answer, until the time for the file is used up."""
    ends = time.monotonic() + ocr.file_seconds
    reads = recogniser(ocr)
    for number in answer["scanned"]:
        seconds = min(ocr.page_seconds, ends - time.monotonic())
        if seconds <= 0:
            return
        working()
        page = reads.page(_rendered(document, number), seconds)
        if page is not None:
            answer["pages"][number] = page.text
            answer["recognised"].append(number)


def _rendered(document: Any, number: int) -> Pixels:
    """Return the page in shades of grey, at 300 dpi or less for a large page."""
    page = document[number]
    width, height = page.get_size()
    scale = min(RESOLUTION / 72, (MAX_PIXELS / max(width * height, 1)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)
    rows = memoryview(bitmap.buffer)
    lines = b"".join(bytes(rows[row * bitmap.stride :][: bitmap.width]) for row in range(bitmap.height))
    pixels = Pixels(bitmap.width, bitmap.height, lines, RESOLUTION)
    bitmap.close()
    page.close()
    return pixels
