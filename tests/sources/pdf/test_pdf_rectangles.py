"""Rectangles of quotes on the pages of a PDF: exact to the character."""

from __future__ import annotations

import re
from collections.abc import Callable

import pypdfium2  # type: ignore[import-untyped]
import pytest

from answerable.datatypes import Document
from answerable.errors import DamagedSource
from answerable.sources.context import ReadContext
from answerable.sources.pdf.extraction import rectangles
from answerable.sources.pdf.page_text import NOWHERE, Edit, clean, edited, in_order, ink, line_starts
from answerable.sources.pdf.read import page_spans, read_pdf
from answerable.sources.process.reading_process import ReadingProcess

MakePdf = Callable[..., bytes]
PAGES = ["The first line\nA consid-\nerable length\nlast", "", "Third page (3)\nends here"]


def test_every_span_is_covered_exactly(make_pdf: MakePdf) -> None:
    data = make_pdf(PAGES)
    with ReadingProcess() as worker:
        (document,) = worker.read(data, "a.pdf")
        for start in range(0, len(document.content), 3):
            for length in (1, 4, 11, 40):
                span = start, min(start + length, len(document.content))
                assert under(data, document, span, worker) == bare(document.content[slice(*span)])


def test_pages_lines_and_sides(make_pdf: MakePdf) -> None:
    data = make_pdf(PAGES)
    document = read_pdf(data, "a.pdf")
    start = document.content.index("length")
    found = rectangles(data, "a.pdf", page_spans(document.content, [(start, document.content.index("page"))]))
    assert [page for page, *_ in found] == [1, 1, 3]
    for _, left, bottom, right, top in found:
        assert 0 < left < right < 600
        assert 0 < bottom < top < 800
        assert 4 < top - bottom < 16
    # Lines are 20 points apart, the page's zero is at its bottom.
    assert found[0][2] - found[1][2] == pytest.approx(20, abs=4)


def test_nothing_to_show_has_no_rectangle(make_pdf: MakePdf) -> None:
    data = make_pdf(["text", "", "more"])
    document = read_pdf(data, "a.pdf")
    assert rectangles(data, "a.pdf", page_spans(document.content, [(4, 6), (2, 2)])) == []


def test_letters_beyond_sixteen_bits_shift_nothing(make_pdf: MakePdf) -> None:
    drawing = b"BT /F1 12 Tf 50 700 Td (A\\001BC) Tj 0 -20 Td (DEF) Tj ET"
    data = make_pdf([], raw=[drawing], to_unicode="<01> <D83DDE00>\n" + letters("ABCDEF"))
    document = read_pdf(data, "a.pdf")
    assert document.content.replace("\n", "") == "A😀BCDEF"
    with ReadingProcess() as worker:
        start = document.content.index("E")
        assert under(data, document, (start, start + 1), worker) == "E"


def test_another_file_is_an_error_or_has_other_places(make_pdf: MakePdf) -> None:
    document = read_pdf(make_pdf(PAGES), "a.pdf")
    with pytest.raises(DamagedSource, match=r"a\.pdf is not a readable PDF"):
        rectangles(b"nothing", "a.pdf", page_spans(document.content, [(0, 4)]))
    last = page_spans(document.content, [(len(document.content) - 4, len(document.content))])
    assert rectangles(make_pdf(["short"]), "a.pdf", last) == []


def test_the_ink_of_the_content_is_that_of_the_page() -> None:
    raw = "one\r\ntwo con\ufffesid\rlast\nend"
    text = clean(raw)
    assert text == "one\ntwo con-\nsid\nlast\nend"
    assert [raw[place] for place in ink(raw)] == [text[place] for place in ink(text)]
    assert [raw[start : start + 3] for start in line_starts(raw)] == ["one", "two", "sid", "las", "end"]


def test_text_in_order_knows_where_each_character_was() -> None:
    raw = "one three\r\ntwo fo\ufffeur"
    text, places = in_order(raw, [(0, 4), (11, 15), (4, 11), (15, 20)])
    assert text == "one\r\ntwo\r\nthree\r\nfo\ufffeur"
    assert [raw[place] for place in places if place != NOWHERE] == list("onetwothree\r\nfo\ufffeur")
    assert [text[offset] for offset, place in enumerate(places) if place == NOWHERE] == list("\r\n\r\n")


def test_edits_keep_the_places_of_all_other_characters() -> None:
    text = "water10 and\r\nsalt"
    edits = [
        Edit(0, 0, "~~"),
        Edit(5, 7, "¹⁰"),
        Edit(11, 13, " "),
        Edit(12, 14, "lost"),
        Edit(13, 13, "☒ "),
        Edit(3, 3, "~~"),
    ]
    found = edited(text, range(len(text)), edits)
    assert found.text == "~~wat~~er¹⁰ and ☒ salt"
    drawn = [(found.text[offset], text[place]) for offset, place in enumerate(found.places) if place != NOWHERE]
    assert [one for one, other in drawn if one != other] == ["¹", "⁰"]
    assert [edit.text for edit in found.edits] == [found.text[edit.start : edit.end] for edit in found.edits]
    assert [found.moved(offset) for offset in (0, 3, 7, 13, 14)] == [0, 5, 11, 16, 19]


def under(data: bytes, document: Document, span: tuple[int, int], worker: ReadingProcess) -> str:
    """What PDFium says stands in the rectangles of a span, without white space."""
    pages = pypdfium2.PdfDocument(data)
    found = worker.rectangles(data, document, [span], ReadContext())
    assert found == rectangles(data, "a.pdf", page_spans(document.content, [span]))
    # A little off each side: neighbours touch.
    texts = [
        pages[page - 1].get_textpage().get_text_bounded(x + 0.4, y, right - 0.4, top)
        for page, x, y, right, top in found
    ]
    return bare("".join(texts))


def bare(text: str) -> str:
    """A text without white space and the hyphens of line ends, which PDFium marks otherwise."""
    return re.sub(r"[\s-]|\ufffe|\u0002", "", text)


def letters(text: str) -> str:
    """A mapping of each letter to itself."""
    return "\n".join(f"<{ord(letter):02x}> <{ord(letter):04x}>" for letter in text)
