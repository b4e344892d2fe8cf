"""Fuzz PDFs, which are read in a separate process."""

from __future__ import annotations

import re
import zlib

from draw import Draw
from fuzz_packages import spoilt
from fuzz_targets import Target
from soundness import assert_sound
from sources.conftest import build_pdf

from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.process.reading_process import ReadingProcess

LIMITS = ReadLimits(max_file_size=2_000_000, max_seconds=5, max_memory=1_000_000_000)
DRAWINGS = (
    "BT /F1 12 Tf 50 700 Td (A line of text) Tj ET\n",
    "BT /F1 1e38 Tf -99999999999 7 Td <00ff41> Tj T* (x) ' ET\n",
    "BT /F9 12 Tf [(a) -9999999 (b)] TJ ET\n",
    "(Name) Tj 100 0 Td (Price) Tj 0 -20 Td ",
    "q 0 0 0 0 0 0 cm ",
    "Q ",
    "q ",
    "BT ",
    "ET ",
    "/X Do ",
    "0 0 600 800 re f ",
    "BI /W 99999999 /H 99999999 ID x EI ",
    "((((",
    "\\777",
    "<<",
    ">>",
    "/Span <</ActualText <D800>>> BDC ",
)
VALUES = (
    b"0",
    b"-1",
    b"99999999999999999999",
    b"2 0 R",
    b"1 0 R",
    b"[]",
    b"<<>>",
    b"null",
    b"[0 0 1e30 1e30]",
    b"/Pages",
)
_VALUE = re.compile(rb"\d+ 0 R|\[[^\]]*\]|\d+")
WORKER = ReadingProcess()


def _pdf(draw: Draw) -> None:
    pages = [draw.text(DRAWINGS, 15).encode("latin-1", "replace") for _ in range(draw.number(2))]
    filters = draw.pick(("", "", "/Filter/FlateDecode", "/Filter[/FlateDecode/FlateDecode]", "/Filter/ASCIIHexDecode"))
    raw = [zlib.compress(page) for page in pages] if "Flate" in filters else pages
    data = build_pdf(["Some text"], draw.pick(("", "/Title(T)", "/Title<FEFFD800>/Author(\\0)")), "", raw, filters)
    for _ in range(draw.number(2)):
        places = list(_VALUE.finditer(data))
        place = places[draw.number(65_535) % len(places)]
        data = data[: place.start()] + draw.pick(VALUES) + data[place.end() :]
    data = spoilt(draw, data) if draw.number(3) else draw.rest()
    (document,) = WORKER.read(data, "/in/a.pdf", ReadContext(LIMITS))
    assert_sound(document)


TARGETS = {"pdf": Target(_pdf, (b"\x01" * 60, b"\2" * 60), may_start_programs=True)}
