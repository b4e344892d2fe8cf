"""In the recognising process: picture files → their pages, upright as cameras marked them, on white, in colours."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from typing import Any

import numpy as np
from PIL import Image, ImageOps, ImageSequence

from answerable.sources.ocr.sizes import MOST_PIXELS

# An A4 page at 300 dpi has 3,508 pixels.
LONGEST_SIDE = 4_000


def pages(data: bytes) -> Iterator[Any]:
    """Yield the pages of a TIFF file, or the only or first picture of any other. Raise errors of Pillow."""
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
    with suppress(ImportError):
        from pillow_heif import register_heif_opener  # type: ignore[import-not-found,unused-ignore]

        register_heif_opener()
    with Image.open(BytesIO(data)) as picture:
        if picture.width * picture.height > MOST_PIXELS:
            raise ValueError("it has too many pixels")
        # JPEG can be decoded at a half or a quarter of its size.
        picture.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
        for page in ImageSequence.Iterator(picture) if picture.format == "TIFF" else [picture]:
            if page.width * page.height > MOST_PIXELS:
                raise ValueError("it has too many pixels")
            yield _prepared(page)


def _prepared(page: Any) -> Any:
    upright = ImageOps.exif_transpose(page)
    if upright.mode.startswith(("I", "F")):
        # 16 bits and more for each pixel.
        levels = np.asarray(upright, np.float32)
        low, high = float(levels.min()), float(levels.max())
        upright = Image.fromarray(((levels - low) * (255 / max(high - low, 1e-6))).astype(np.uint8))
    if upright.has_transparency_data:
        shown = upright.convert("RGBA")
        upright = Image.new("RGBA", shown.size, "white")
        upright.alpha_composite(shown)
    coloured = upright.convert("RGB")
    coloured.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return coloured
