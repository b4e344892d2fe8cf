"""PDFs made by hand, byte by byte, for the tests of the readers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

MakePdf = Callable[..., bytes]


@pytest.fixture
def make_pdf() -> MakePdf:
    """Make a PDF with one text per page, each line of it on a line of its own."""
    return build_pdf


def build_pdf(
    pages: Sequence[str],
    info: str = "",
    to_unicode: str = "",
    raw: Sequence[bytes] = (),
    filters: str = "",
    notes: Sequence[str] = (),
) -> bytes:
    """A small valid PDF. `raw` replaces the pages' drawing commands, `to_unicode` maps codes to characters.

    `notes` are the annotations of the first page, such as the fields of a form.
    """
    streams = list(raw) or [_drawing(page) for page in pages]
    count = len(streams)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    unicode_map = f"/ToUnicode {4 + 2 * count} 0 R" if to_unicode else ""
    first_note = 4 + 2 * count + bool(to_unicode)
    shown = b" ".join(b"%d 0 R" % (first_note + number) for number in range(len(notes)))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[%s]/DR<<>>>>>>" % shown
        if notes
        else b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {count}>>".encode(),
        f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding{unicode_map}>>".encode(),
    ]
    for number, stream in enumerate(streams):
        resources = "/Resources<</Font<</F1 3 0 R>>>>" + (f"/Annots[{shown.decode()}]" if number == 0 else "")
        page = f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {5 + 2 * number} 0 R{resources}>>"
        objects += [page.encode(), f"<</Length {len(stream)}{filters}>>stream\n".encode() + stream + b"\nendstream"]
    if to_unicode:
        cmap = (
            "/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <ff> "
            f"endcodespacerange {to_unicode.count(chr(10)) + 1} beginbfchar\n{to_unicode}\nendbfchar endcmap end end"
        ).encode()
        objects.append(f"<</Length {len(cmap)}>>stream\n".encode() + cmap + b"\nendstream")
    objects += (f"<</Type/Annot/F 4{note}>>".encode("latin-1") for note in notes)
    objects.append(f"<<{info}>>".encode("latin-1"))
    return _file(objects)


def _drawing(page: str) -> bytes:
    lines = (line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)") for line in page.split("\n"))
    drawn = " ".join(f"({line}) Tj 0 -20 Td" for line in lines)
    return f"BT /F1 12 Tf 50 700 Td {drawn} ET".encode("cp1252")


def _file(objects: Sequence[bytes]) -> bytes:
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = len(data)
    data += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + b"trailer<</Size %d/Root 1 0 R/Info %d 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        len(objects) + 1,
        len(objects),
        table,
    )
