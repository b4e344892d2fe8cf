"""Pictures of text for tests."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

NOTICE = ("The harbour office opens at nine", "in the morning, except on Sunday.", "Dogs travel free of charge.")
TYPE_SIZE = 34


def drawn(lines: Sequence[str], turned: int = 0, size: tuple[int, int] = (900, 300)) -> Image.Image:
    """A picture of lines of text, turned left by so many degrees."""
    image = Image.new("RGB", size, "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(TYPE_SIZE)
    for number, line in enumerate(lines):
        pen.text((50, 40 + number * TYPE_SIZE * 1.5), line, font=font, fill="black")
    return image.rotate(turned, expand=True)


def saved(image: Image.Image, form: str = "PNG", *more: Image.Image) -> bytes:
    """The bytes of a picture file, with more pages if given."""
    buffer = io.BytesIO()
    image.save(buffer, form, **({"save_all": True, "append_images": list(more)} if more else {}))
    return buffer.getvalue()
