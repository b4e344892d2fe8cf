"""Fuzz pictures: the checked size is the decoded size, and only AnswerableErrors are raised."""

from __future__ import annotations

import io
import warnings

from draw import Draw
from fuzz_packages import spoilt
from fuzz_targets import Target
from PIL import Image

from answerable.errors import SourceError
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.ocr.lines import MOST_PIXELS, declared_sizes
from answerable.sources.ocr.pictures import read_picture

FORMATS = ("PNG", "JPEG", "GIF", "BMP", "WEBP", "TIFF")
SIDES = (1, 9, 40, 300)
IN_NO_TIME = ReadContext(ocr=Ocr(page_seconds=0))


def _picture(draw: Draw) -> None:
    image = Image.new(draw.pick(("RGB", "L")), (draw.pick(SIDES), draw.pick(SIDES)), "white")
    buffer = io.BytesIO()
    image.save(buffer, draw.pick(FORMATS))
    data = spoilt(draw, buffer.getvalue()) if draw.number(7) else draw.rest()
    sizes = declared_sizes(data)
    assert all(width >= 0 and height >= 0 for width, height in sizes), sizes
    decoded = _opened(data)
    if decoded is not None and decoded[0] * decoded[1] > MOST_PIXELS:
        assert any(width * height > MOST_PIXELS for width, height in sizes), (decoded, sizes)
    try:
        read_picture(data, "/in/a.png", IN_NO_TIME)
    except SourceError as error:
        assert str(error).startswith(("/in/a.png ", "/in/a.png:"))
    else:
        raise AssertionError("a picture without text was read")


def _opened(data: bytes) -> tuple[int, int] | None:
    """The size that Pillow would decode, or None."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                return image.size
    except Exception:
        # Decoders raise errors of any kind.
        return None


TARGETS = {"picture": Target(_picture, (b"\x01" * 60, b"\2" * 60))}
