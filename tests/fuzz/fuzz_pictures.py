"""Fuzz pictures: what is decoded is within the limits."""

from __future__ import annotations

import io
import warnings
from contextlib import suppress

from draw import Draw
from fuzz_packages import spoilt
from fuzz_targets import Target
from PIL import Image

from answerable.sources.ocr.models import LONGEST_PICTURE, pages

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
SIDES = (1, 9, 40, 300)


def _picture(draw: Draw) -> None:
    image = Image.new(draw.pick(("RGB", "L")), (draw.pick(SIDES), draw.pick(SIDES)), "white")
    buffer = io.BytesIO()
    image.save(buffer, draw.pick(FORMATS))
    data = spoilt(draw, buffer.getvalue()) if draw.number(7) else draw.rest()
    # Decoders raise errors of any kind, which the OCR process reports.
    sizes: list[tuple[int, int]] = []
    with warnings.catch_warnings(), suppress(Exception):
        warnings.simplefilter("ignore")
        sizes = [page.size for page in pages(data)]
    assert all(max(size) <= LONGEST_PICTURE for size in sizes), sizes


TARGETS = {"picture": Target(_picture, (b"\x01" * 60, b"\2" * 60))}
