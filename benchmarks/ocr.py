"""How well RapidOCR and tesseract read printed pages: word F1, and seconds of processor time for a page.

    python benchmarks/ocr.py [--pages 2]

The texts are of XQuAD (English, Spanish) and FaQuAD (Portuguese) in `../shared/data`, set in Liberation Serif at 11
points, and spoilt as scanners do. Words are compared as they are, with their punctuation, as bags.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import resource
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from answerable.sources.ocr.lines import Page
from answerable.sources.ocr.pictures import DETECTOR, RECOGNISER, TesseractRecogniser, find_ocr, models_folder

DATA = Path(os.environ.get("ANSWERABLE_TEST_DATA") or Path(__file__).parents[2] / "shared" / "data")
TEXTS = {"en": "xquad/en", "es": "xquad/es", "pt": "faquad"}
FONT = "/usr/share/fonts/truetype/liberation/LiberationSerif-Regular.ttf"
POINTS = 11
PAPER = (8.27, 11.69)
MARGIN = 0.9

Spoil = Callable[[Image.Image], Image.Image]


def noisy(image: Image.Image, deviation: float = 20) -> Image.Image:
    """The page with noise on each pixel."""
    shades = np.asarray(image, float) + np.random.default_rng(0).normal(0, deviation, (image.height, image.width))
    return Image.fromarray(np.clip(shades, 0, 255).astype(np.uint8))


def turned(image: Image.Image, degrees: float) -> Image.Image:
    """The page turned left on white."""
    return image.rotate(degrees, Image.Resampling.BICUBIC, expand=True, fillcolor=255)


CASES: list[tuple[str, int, Spoil]] = [
    ("100 dpi", 100, lambda page: page),
    ("200 dpi", 200, lambda page: page),
    ("300 dpi", 300, lambda page: page),
    ("200 dpi, noise", 200, noisy),
    ("200 dpi, turned 2°", 200, lambda page: turned(page, 2)),
    ("100 dpi, noise, turned -1°", 100, lambda page: noisy(turned(page, -1))),
    ("200 dpi, upside down", 200, lambda page: turned(page, 180)),
    ("200 dpi, on its side", 200, lambda page: turned(page, 90)),
]


def typeset(texts: list[str], resolution: int, pages: int) -> Iterator[tuple[Image.Image, list[str]]]:
    """Yield pages and their words."""
    font = ImageFont.truetype(FONT, round(POINTS * resolution / 72))
    width, height = (int(side * resolution) for side in PAPER)
    margin, step = int(MARGIN * resolution), int(1.3 * POINTS * resolution / 72)
    lines = [line for text in texts for line in [*wrapped(text, font, width - 2 * margin), ""]]
    room = (height - 2 * margin) // step
    for number in range(pages):
        image = Image.new("L", (width, height), 255)
        pen = ImageDraw.Draw(image)
        shown = lines[number * room : (number + 1) * room]
        for row, line in enumerate(shown):
            pen.text((margin, margin + row * step), line, font=font, fill=20)
        yield image, " ".join(shown).split()


def wrapped(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """The lines of a paragraph."""
    lines = [""]
    for word in text.replace("\ufeff", "").split():
        longer = f"{lines[-1]} {word}".strip()
        if font.getlength(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def f1(expected: list[str], found: list[str]) -> float:
    """The harmonic mean of precision and recall of words, each as often as it occurs."""
    shared = (Counter(expected) & Counter(found)).total()
    return 2 * shared / max(len(expected) + len(found), 1)


def readers() -> dict[str, Callable[[Image.Image, int], str]]:
    """What is compared, each in this process or a child that it waits for, so that its time is counted."""
    from answerable.sources.ocr.models import Models

    folder, ocr = models_folder(), find_ocr("eng+spa+por")
    assert folder is not None
    assert ocr is not None
    models, tesseract = Models(folder, DETECTOR, RECOGNISER), TesseractRecogniser(ocr)

    def rapid(image: Image.Image, resolution: int) -> str:
        return Page(tuple(models.lines(np.asarray(image.convert("RGB"))[:, :, ::-1]))).text

    def installed(image: Image.Image, resolution: int) -> str:
        page, *_ = tesseract.pages(f"P5 {image.width} {image.height} 255\n".encode() + image.tobytes(), 600)
        assert page is not None
        return page.text

    return {"RapidOCR": rapid, "tesseract": installed}


def used() -> float:
    """Seconds of processor time so far, of this process and its children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--pages", type=int, default=1, help="pages for each language and case")
    arguments = parser.parse_args()
    texts = {
        language: [json.loads(line)["text"] for line in (DATA / folder / "corpus.jsonl").open(encoding="utf-8")]
        for language, folder in TEXTS.items()
    }
    compared = readers()
    print("| page | reader | en | es | pt | s a page |\n|---|---|---|---|---|---|")
    for name, resolution, spoil in CASES:
        for reader, read in compared.items():
            scores, seconds = [], 0.0
            for language in TEXTS:
                expected, found = [], []
                for image, words in typeset(texts[language], resolution, arguments.pages):
                    buffer = io.BytesIO()
                    spoil(image).save(buffer, "JPEG", quality=85)
                    before = used()
                    found += read(Image.open(buffer), resolution).split()
                    seconds += used() - before
                    expected += words
                scores.append(f1(expected, found))
            each = seconds / arguments.pages / len(TEXTS)
            print(f"| {name} | {reader} | {' | '.join(f'{score:.3f}' for score in scores)} | {each:.1f} |", flush=True)


if __name__ == "__main__":
    main()
