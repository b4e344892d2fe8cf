"""Runs in the OCR process: picture files → pages → lines, by RapidOCR's detector and recogniser.

OpenVINO runs the models in RapidOCR's wheel. Pages are turned upright as the camera recorded, in colour on white.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import cv2  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from PIL import Image, ImageOps, ImageSequence
from rapidocr import EngineType, RapidOCR  # type: ignore[import-not-found,unused-ignore]
from rapidocr.utils.process_img import get_rotate_crop_image  # type: ignore[import-not-found,unused-ignore]

from answerable.sources.ocr.lines import Box, Line, PictureTooLarge, in_reading_order

# Pixels: the cameras of phones make pictures of up to 200 million, which take 0.6 GB when decoded.
MOST_PIXELS = 200_000_000
MOST_PAGES = 2_000  # pages of one file that are read at most
LEAST_SIDE = 8  # pixels: a picture with a smaller width or height shows no legible text
# Pixels on the longer side of a picture. An A4 page at 300 dpi has 3,508.
LONGEST_PICTURE = 4_000
# Pixels to which the detector shrinks larger pages; the lines are cut out of the original page.
LONGEST_SIDE = 2_000
# Mean confidence above which a page is upright: upright lines have 0.99, lines that are upside down 0.5 to 0.7.
UPRIGHT = 0.85
# RapidOCR's own confidence threshold for a line.
LEAST_CONFIDENCE = 0.5
# OpenVINO keeps memory for each shape that it has seen, so lines are widened to one of a few shapes.
SHAPE_STEP = 4
TALL = 1.5  # times as high as wide: such a box is a line that runs up or down the page
Picture = Any
"""An array of height × width × 3, in the order blue, green, red."""


class Models:
    """The models, loaded once."""

    def __init__(self, folder: Path, detector: str, recogniser: str) -> None:
        engine = EngineType.OPENVINO
        # With explicit paths to the models, RapidOCR looks up and downloads nothing.
        parameters = {
            "Global.log_level": "critical",
            "Global.max_side_len": LONGEST_SIDE,
            **{f"{step}.engine_type": engine for step in ("Det", "Cls", "Rec")},
            "Det.model_path": str(folder / detector),
            "Rec.model_path": str(folder / recogniser),
        }
        self._engine = RapidOCR(params=parameters)

    def lines(self, image: Picture) -> list[Line]:
        """Return the lines in reading order; a page that lies on its side or upside down is turned first."""
        if min(image.shape[:2]) < LEAST_SIDE:
            return []
        quads = self._detect(image)
        turns = 1 if _is_sideways(quads) else 0
        found = self._read(np.rot90(image), self._detect(np.rot90(image))) if turns else self._read(image, quads)
        if found and _confidence(found) < UPRIGHT:
            turned = np.rot90(image, turns + 2)
            other = self._read(turned, self._detect(turned))
            if _confidence(other) > _confidence(found):
                found, turns = other, turns + 2
        height, width = np.rot90(image, turns).shape[:2]
        kept = [
            (" ".join(text.split()), quad) for text, score, quad in found if score >= LEAST_CONFIDENCE and text.strip()
        ]
        boxes = [_bounds(quad) for quad in _straightened([quad for _, quad in kept])]
        lines = []
        for index, before in in_reading_order(boxes, [text for text, _ in kept]):
            text, quad = kept[index]
            left, top, right, bottom = _bounds(quad)
            box = _turned_back((left / width, top / height, right / width, bottom / height), turns)
            lines.append(Line(text, box, before))
        return lines

    def _detect(self, image: Picture) -> list[Picture]:
        found: Any = self._engine(np.ascontiguousarray(image), use_det=True, use_cls=False, use_rec=False)
        return [] if found.boxes is None else [quad.astype(np.float32) for quad in found.boxes]

    def _read(self, image: Picture, quads: Sequence[Picture]) -> list[tuple[str, float, Picture]]:
        """Return the text, the confidence and the corners of each line."""
        crops = [(_cut(image, quad), quad) for quad in quads]
        crops = [(crop, quad) for crop, quad in crops if min(crop.shape[:2]) > 1]
        if not crops:
            return []
        read: Any = self._engine.recognize_txt([crop for crop, _ in crops])
        return list(zip(read.txts, read.scores, [quad for _, quad in crops], strict=True))


def _cut(image: Picture, quad: Picture) -> Picture:
    """Cut a line out, and widen it at its end to a shape that other lines have as well."""
    crop = get_rotate_crop_image(image, quad)
    height, width = crop.shape[:2]
    wanted = math.ceil(math.ceil(width / max(height, 1) / SHAPE_STEP) * SHAPE_STEP * height)
    return cv2.copyMakeBorder(crop, 0, 0, 0, max(wanted - width, 0), cv2.BORDER_REPLICATE)


def _is_sideways(quads: Sequence[Picture]) -> bool:
    """Whether most of the text, by length, is in boxes that are taller than wide."""
    sizes = [(right - left, bottom - top) for left, top, right, bottom in map(_bounds, quads)]
    tall = sum(height for width, height in sizes if height > TALL * width)
    return tall > sum(width for width, height in sizes if height <= TALL * width)


def _confidence(found: Sequence[tuple[str, float, Picture]]) -> float:
    """Return the mean confidence of the lines, weighted by their length."""
    letters = sum(len(text) for text, _, _ in found)
    return sum(len(text) * score for text, score, _ in found) / max(letters, 1)


def _straightened(quads: Sequence[Picture]) -> list[Picture]:
    """Turn the corners around the origin by the lines' usual slope, to make heights on a skewed scan comparable."""
    if not quads:
        return []
    edges = [quad[1] - quad[0] for quad in quads]
    angle = float(np.median([math.atan2(y, x) for x, y in sorted(edges, key=lambda edge: -abs(edge[0]))[:20]]))
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return [quad @ turn.T for quad in quads]


def _bounds(quad: Picture) -> Box:
    left, top = quad.min(axis=0)
    right, bottom = quad.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _turned_back(box: Box, turns: int) -> Box:
    """Map a box from a page that was turned left by `turns` quarters back to the original page."""
    left, top, right, bottom = box
    for _ in range(turns % 4):
        left, top, right, bottom = 1 - bottom, left, 1 - top, right
    return left, top, right, bottom


def pages(data: bytes) -> Iterator[Any]:
    """Yield the pages of a TIFF file, otherwise the first picture. Raise PictureTooLarge or Pillow's errors."""
    # Pillow refuses to open a picture with over twice as many.
    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
    with suppress(ImportError):
        from pillow_heif import register_heif_opener  # type: ignore[import-not-found,unused-ignore]

        register_heif_opener()
    try:
        with Image.open(BytesIO(data)) as picture:
            # JPEG files can be decoded at a half or a quarter of their size.
            picture.draft("RGB", (LONGEST_PICTURE, LONGEST_PICTURE))
            for number, page in enumerate(ImageSequence.Iterator(picture) if picture.format == "TIFF" else [picture]):
                if number == MOST_PAGES:
                    raise PictureTooLarge(f"has over {MOST_PAGES:,} pages: split it into several files")
                if page.width * page.height > MOST_PIXELS:
                    raise Image.DecompressionBombError
                # Pages of PDFs, which come in PGM format, already have the size that suits them.
                longest = max(page.size) if picture.format == "PPM" else LONGEST_PICTURE
                yield _prepared(page, longest)
    except Image.DecompressionBombError as error:
        what_to_do = "save it smaller, or cut it into several pictures"
        raise PictureTooLarge(f"has over {MOST_PIXELS:,} pixels: {what_to_do}") from error


def _prepared(page: Any, longest: int) -> Any:
    upright = ImageOps.exif_transpose(page)
    if upright.mode.startswith(("I", "F")):
        # Modes with 16 bits or more per pixel.
        levels = np.asarray(upright, np.float32)
        low, high = float(levels.min()), float(levels.max())
        upright = Image.fromarray(((levels - low) * (255 / max(high - low, 1e-6))).astype(np.uint8))
    if upright.has_transparency_data:
        shown = upright.convert("RGBA")
        upright = Image.new("RGBA", shown.size, "white")
        upright.alpha_composite(shown)
    coloured = upright.convert("RGB")
    coloured.thumbnail((longest, longest))
    return coloured
