"""In the recognising process: RapidOCR's detector and recogniser, run by OpenVINO on the models in its wheel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2  # type: ignore[import-not-found,unused-ignore]
import numpy as np
from rapidocr import EngineType, RapidOCR  # type: ignore[import-not-found,unused-ignore]
from rapidocr.utils.process_img import get_rotate_crop_image  # type: ignore[import-not-found,unused-ignore]

from answerable.sources.ocr.lines import Box, Line
from answerable.sources.ocr.reading_order import in_reading_order

# The detector sees larger pages at this many pixels; lines are cut from the original.
LONGEST_SIDE = 2_000
# Lines upright have a mean confidence of 0.99, upside down of 0.5 to 0.7.
UPRIGHT = 0.85
# RapidOCR's own threshold for a line.
LEAST_CONFIDENCE = 0.5
# OpenVINO keeps memory for each shape it has seen, so lines are widened to a few shapes.
SHAPE_STEP = 4
TALL = 1.5

Image = Any
"""An array of height × width × 3, in blue, green, red."""


class Models:
    """The models, loaded once."""

    def __init__(self, folder: Path, detector: str, recogniser: str) -> None:
        engine = EngineType.OPENVINO
        # With paths of the models nothing is looked up or downloaded.
        parameters = {
            "Global.log_level": "critical",
            "Global.max_side_len": LONGEST_SIDE,
            **{f"{step}.engine_type": engine for step in ("Det", "Cls", "Rec")},
            "Det.model_path": str(folder / detector),
            "Rec.model_path": str(folder / recogniser),
        }
        self._engine = RapidOCR(params=parameters)

    def lines(self, image: Image) -> list[Line]:
        """Return the lines in reading order; a page on its side or upside down is turned first."""
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

    def _detect(self, image: Image) -> list[Image]:
        found: Any = self._engine(np.ascontiguousarray(image), use_det=True, use_cls=False, use_rec=False)
        return [] if found.boxes is None else [quad.astype(np.float32) for quad in found.boxes]

    def _read(self, image: Image, quads: Sequence[Image]) -> list[tuple[str, float, Image]]:
        """Return the text, the confidence and the corners of each line."""
        crops = [(_cut(image, quad), quad) for quad in quads]
        crops = [(crop, quad) for crop, quad in crops if min(crop.shape[:2]) > 1]
        if not crops:
            return []
        read: Any = self._engine.recognize_txt([crop for crop, _ in crops])
        return list(zip(read.txts, read.scores, [quad for _, quad in crops], strict=True))


def _cut(image: Image, quad: Image) -> Image:
    """Cut a line out, and widen it at its end to a shape that other lines have too."""
    crop = get_rotate_crop_image(image, quad)
    height, width = crop.shape[:2]
    wanted = math.ceil(math.ceil(width / max(height, 1) / SHAPE_STEP) * SHAPE_STEP * height)
    return cv2.copyMakeBorder(crop, 0, 0, 0, max(wanted - width, 0), cv2.BORDER_REPLICATE)


def _is_sideways(quads: Sequence[Image]) -> bool:
    """Whether most of the text, by length, is in boxes that are taller than wide."""
    sizes = [(right - left, bottom - top) for left, top, right, bottom in map(_bounds, quads)]
    tall = sum(height for width, height in sizes if height > TALL * width)
    return tall > sum(width for width, height in sizes if height <= TALL * width)


def _confidence(found: Sequence[tuple[str, float, Image]]) -> float:
    """Return the mean confidence, in which long lines count more."""
    letters = sum(len(text) for text, _, _ in found)
    return sum(len(text) * score for text, score, _ in found) / max(letters, 1)


def _straightened(quads: Sequence[Image]) -> list[Image]:
    """Turn the corners around the origin by the usual slope of the lines, to compare heights on a skewed scan."""
    if not quads:
        return []
    edges = [quad[1] - quad[0] for quad in quads]
    angle = float(np.median([math.atan2(y, x) for x, y in sorted(edges, key=lambda edge: -abs(edge[0]))[:20]]))
    turn = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
    return [quad @ turn.T for quad in quads]


def _bounds(quad: Image) -> Box:
    left, top = quad.min(axis=0)
    right, bottom = quad.max(axis=0)
    return float(left), float(top), float(right), float(bottom)


def _turned_back(box: Box, turns: int) -> Box:
    """Return a box of a page that was turned left by `turns` quarters on the page as it was."""
    left, top, right, bottom = box
    for _ in range(turns % 4):
        left, top, right, bottom = 1 - bottom, left, 1 - top, right
    return left, top, right, bottom
