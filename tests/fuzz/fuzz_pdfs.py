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
    "50 703.5 m 195 703.5 l S ",
    "1e38 w 0 0 m 1e38 -1e38 l S ",
    "BT /F1 6 Tf 120 705 Td (2) Tj ET ",
    "50 600 100 20 re S 150 600 100 20 re S 50 580 200 20 re S BT /F1 9 Tf 55 605 Td (Cell) Tj ET ",
)
NOTES = (
    "/Subtype/Widget/FT/Tx/T(a)/V(Value)/Rect[120 700 220 716]",
    "/Subtype/Widget/FT/Tx/T(b)/V<FEFFD800>/TU(Name)/Rect[1e30 0 -1e30 9]",
    "/Subtype/Widget/FT/Btn/T(c)/V/Yes/AS/Yes/AP<</N<</Yes<<>>/Off<<>>>>>>/Rect[40 700 52 712]",
    "/Subtype/Widget/FT/Btn/Ff 32768/T(d)/V/x/AS/Off/AP<</N<</x<<>>>>>>/Rect[0 0 0 0]",
    "/Subtype/Widget/FT/Ch/Ff 131072/T(e)/Opt[[(1)(One)][(2)]]/V(2)/Rect[50 600 90 612]",
    "/Subtype/StrikeOut/QuadPoints[50 712 195 712 50 700 195 700]/Rect[50 700 195 712]",
    "/Subtype/StrikeOut/QuadPoints[1 2 3]/Rect[50 700 195 712]",
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
    info = draw.pick(("", "/Title(T)", "/Title<FEFFD800>/Author(\\0)"))
    notes = [draw.pick(NOTES) for _ in range(draw.number(3))]
    data = build_pdf(["Some text"], info, "", raw, filters, notes)
    for _ in range(draw.number(2)):
        places = list(_VALUE.finditer(data))
        place = places[draw.number(65_535) % len(places)]
        data = data[: place.start()] + draw.pick(VALUES) + data[place.end() :]
    data = spoilt(draw, data) if draw.number(3) else draw.rest()
    (document,) = WORKER.read(data, "/in/a.pdf", ReadContext(LIMITS))
    assert_sound(document)


TARGETS = {"pdf": Target(_pdf, (b"\x01" * 60, b"\2" * 60), may_start_programs=True)}
