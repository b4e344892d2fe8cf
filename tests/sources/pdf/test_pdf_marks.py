"""What a PDF shows other than by its letters: struck text, raised and lowered numbers, notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sources.pdf.test_pdf_fields import texts
from sources.pdf.test_pdf_rectangles import bare, under
from sources.pdf.test_pdf_tables import cells

from answerable.sources.pdf.read import read_pdf
from answerable.sources.process.reading_process import ReadingProcess

MakePdf = Callable[..., bytes]
KITES = texts((50, 700, "Kites may be flown in May."), (50, 680, "Kites may be flown in June."))


def content(make_pdf: MakePdf, page: bytes, *notes: str) -> str:
    return read_pdf(make_pdf([], raw=[page], notes=notes), "a.pdf").content


@pytest.mark.parametrize(
    "line",
    [
        b"50 703.5 m 195 703.5 l S",
        b"q 1 0 0 1 40 700 cm 10 3 m 156 3 l S Q",
        b"50 703 145 1 re f",
        b"1 w 45 704 m 215 704 l S",
    ],
)
def test_text_with_a_line_through_it_is_struck(make_pdf: MakePdf, line: bytes) -> None:
    assert content(make_pdf, KITES + line) == "~~Kites may be flown in May.~~\nKites may be flown in June."


@pytest.mark.parametrize(
    "line",
    [
        b"50 698 m 195 698 l S",  # an underline
        b"50 690 m 195 690 l S",  # between the lines
        b"10 703.5 m 590 703.5 l S",  # a rule of the page
        b"50 712 m 195 712 l S",
        b"12 w 50 704 m 195 704 l S",  # a highlighter
        b"100 650 m 100 750 l S",
    ],
)
def test_other_lines_strike_nothing(make_pdf: MakePdf, line: bytes) -> None:
    assert content(make_pdf, line + b" " + KITES) == "Kites may be flown in May.\nKites may be flown in June."


def test_a_struck_word_and_struck_lines_that_read_on(make_pdf: MakePdf) -> None:
    page = texts((50, 700, "The mast is 9 metres"), (50, 680, "high and painted white"), (50, 660, "Ropes are new"))
    word = b"115 703.5 m 123 703.5 l S "
    assert content(make_pdf, page + word).startswith("The mast is ~~9~~ metres\n")
    lines = b"50 703.5 m 168 703.5 l S 50 683.5 m 172 683.5 l S 50 663.5 m 128 663.5 l S"
    struck = "~~The mast is 9 metres\nhigh and painted white~~\n~~Ropes are new~~"
    assert content(make_pdf, page + lines) == struck


def test_a_struck_row_is_struck_cell_by_cell(make_pdf: MakePdf) -> None:
    rows = [("Mast", "Height", "Fee"), ("main", "9 m", "40"), ("mizzen", "5 m", "30")]
    page = texts(*((50 + 100 * x, 700 - 20 * y, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)))
    document = read_pdf(make_pdf([], raw=[page + b"50 683.5 m 265 683.5 l S"]), "a.pdf")
    assert cells(document)[1:] == [["~~main~~", "~~9 m~~", "~~40~~"], ["mizzen", "5 m", "30"]]


def test_text_that_a_reader_struck_is_struck(make_pdf: MakePdf) -> None:
    note = "/Subtype/StrikeOut/Rect[50 695 84 712]/QuadPoints[50 711 84 711 50 697 84 697]"
    assert content(make_pdf, KITES, note).startswith("~~Kites~~ may be flown in May.\n")


def raised(*pieces: tuple[float, float, str]) -> bytes:
    """The drawing commands of texts in 12 points, each after the one before it; their rise and size come first."""
    shown = "".join(f"/F1 {size} Tf {rise} Ts ({text}) Tj " for rise, size, text in pieces)
    return f"BT 50 700 Td {shown} ET\n".encode("cp1252")


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(0, 12, "About 10"), (5, 8, "4"), (0, 12, " grains per litre")], "About 10⁴ grains per litre"),
        ([(0, 12, "some 3 m"), (4, 7, "2"), (0, 12, ", or 10"), (5, 7, "-3"), (0, 12, " t")], "some 3 m², or 10⁻³ t"),
        ([(0, 12, "N"), (-2, 8, "2"), (0, 12, " and SO"), (-2, 8, "4")], "N₂ and SO₄"),
        ([(0, 12, "2"), (5, 8, "a+1"), (0, 12, " ways")], "2^(a+1) ways"),
        ([(0, 12, "the 2"), (5, 8, "nd"), (0, 12, " mast")], "the 2nd mast"),
        ([(0, 12, "room 1"), (0, 8, "2")], "room 12"),
        ([(0, 12, "a rise of 4 "), (5, 8, "7 per mille")], "a rise of 4 7 per mille"),
    ],
)
def test_raised_and_lowered_numbers(make_pdf: MakePdf, pieces: list[tuple[float, float, str]], expected: str) -> None:
    assert " ".join(content(make_pdf, raised(*pieces)).split()) == expected


def test_a_raised_number_whose_note_stands_below_is_its_mark(make_pdf: MakePdf) -> None:
    page = raised((0, 12, "Sails last 6 years"), (5, 8, "2"), (0, 12, " on 10"), (5, 8, "2"), (0, 12, " boats."))
    page += texts((50, 660, "2 boats are older."))
    note = b"BT 50 100 Td /F1 5 Tf 3 Ts (2) Tj /F1 8 Tf 0 Ts ( If they are kept dry.) Tj ET"
    assert content(make_pdf, page + note) == (
        "Sails last 6 years[^2] on 10² boats.\n2 boats are older.\n\n[^2]: If they are kept dry."
    )
    assert content(make_pdf, page) == "Sails last 6 years² on 10² boats.\n2 boats are older."


def test_a_mark_in_a_header_keeps_its_table(make_pdf: MakePdf) -> None:
    page = texts((50, 700, "Kite"), (150, 700, "Span"), (250, 700, "Line"), (50, 680, "Red"), (150, 680, "2 m"))
    page += texts((250, 680, "30 m"), (50, 660, "Blue"), (150, 660, "3 m"), (250, 660, "45 m"))
    page = page.replace(b"(Span) Tj", b"(Span) Tj /F1 7 Tf 5 Ts (1) Tj 0 Ts")
    document = read_pdf(make_pdf([], raw=[page + b"BT /F1 7 Tf 50 100 Td (1 With the tail.) Tj ET"]), "a.pdf")
    assert cells(document) == [["Kite", "Span[^1]", "Line"], ["Red", "2 m", "30 m"], ["Blue", "3 m", "45 m"]]


def test_every_character_keeps_its_rectangle(make_pdf: MakePdf) -> None:
    page = raised((0, 12, "Sails last 6 years"), (5, 8, "2"), (0, 12, " on 10"), (5, 8, "3"), (0, 12, " boats."))
    page += texts((50, 660, "Old sails are sold"), (50, 100, "")) + b"50 663.5 m 150 663.5 l S "
    page += b"BT 50 100 Td /F1 8 Tf (2 If dry) Tj ET"
    data = make_pdf([], raw=[page])
    plain = str.maketrans({"³": "3", **dict.fromkeys("[]^:~")})
    with ReadingProcess() as worker:
        (document,) = worker.read(data, "a.pdf")
        assert document.content == ("Sails last 6 years[^2] on 10³ boats.\n~~Old sails are sold~~\n\n[^2]: If dry")
        for start, character in enumerate(document.content):
            shown = bare(character).translate(plain)
            is_mark = character in "[^]" and start < document.content.index("~~")
            assert under(data, document, (start, start + 1), worker) == ("2" if is_mark else shown)


def layer(name: str, page: bytes) -> bytes:
    return f"/OC /{name} BDC ".encode() + page + b" EMC "


def with_layers(data: bytes) -> bytes:
    """A PDF with two layers: A, which is off, and B. Its table of offsets is wrong, so that PDFium makes it anew."""
    layers = b"71 0 obj<</Type/OCG/Name(Prices)>>endobj\n72 0 obj<</Type/OCG/Name(Plan)>>endobj\n"
    data = data.replace(b"/Catalog", b"/Catalog/OCProperties<</OCGs[71 0 R 72 0 R]/D<</OFF[71 0 R]>>>>", 1)
    data = data.replace(b"/Resources<<", b"/Resources<</Properties<</A 71 0 R/B 72 0 R>>")
    return data.replace(b"xref\n", layers + b"xref\n", 1)


def test_text_in_a_layer_that_is_off_is_left_out(make_pdf: MakePdf) -> None:
    page = (
        texts((50, 740, "Kites cost little."))
        + layer("A", texts((50, 700, "A kite costs 9 euros.")))
        + layer("B", texts((50, 700, "A kite costs 7 euros.")))
        + layer("B", b"1 g " + texts((50, 660, "White on white.")) + b" 0 g")
    )
    lines = "Kites cost little.\nA kite costs 7 euros.\nWhite on white."
    data = with_layers(make_pdf([], raw=[page]))
    assert bare(read_pdf(data, "a.pdf").content) == bare(lines)
    # What OCR wrote below a scan is drawn in no case.
    scan = with_layers(make_pdf([], raw=[layer("B", b"3 Tr " + texts((50, 620, "Read by a scanner.")))]))
    assert read_pdf(scan, "a.pdf").content == "Read by a scanner."


def test_text_beyond_the_edges_of_the_page_is_left_out(make_pdf: MakePdf) -> None:
    page = texts((50, 740, "DRAFT, not for print"), (50, 700, "Kites cost 7 euros."), (50, 680, "Bring your own tape"))
    page += texts((50, 660, "This line runs over the edge of the page, as in manuals, and is kept"))
    page += texts((450, 680, "DRAFT"), (50, 20, "File 2024-11"))
    data = make_pdf([], raw=[page]).replace(b"/MediaBox[0 0 600 800]", b"/MediaBox[0 0 600 800]/CropBox[0 50 300 720]")
    document = read_pdf(data, "a.pdf")
    text = document.content
    assert text == (
        "Kites cost 7 euros.\nBring your own tape\nThis line runs over the edge of the page, as in manuals, and is kept"
    )
    start = text.index("your")
    with ReadingProcess() as worker:
        assert under(data, document, (start, start + 8), worker) == "yourown"
