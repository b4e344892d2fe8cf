"""Words of PDFs that line ends broke: whole in the content, with the hyphens that belong to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from sources.pdf.test_pdf_rectangles import bare, under

import answerable
from answerable.sources.pdf.page_text import whole_words
from answerable.sources.pdf.read import read_pdf
from answerable.sources.process.reading_process import ReadingProcess

MakePdf = Callable[..., bytes]


@pytest.mark.parametrize(
    ("page", "joined"),
    [
        ("the docu-\nment is kept", "the document\nis kept"),
        ("a consi-\nderación previa", "a consideración\nprevia"),
        ("da informa-\nção pública", "da informação\npública"),
        ("THE DOCU-\nMENT IS", "THE DOCUMENT\nIS"),
        ("send an e-\nmail today", "send an e-mail\ntoday"),
        ("the self-\nesteem of", "the self-esteem\nof"),
        ("near Anglo-\nSaxon ruins", "near Anglo-Saxon\nruins"),
        ("vai fazê-\nlo amanhã", "vai fazê-lo\namanhã"),
        ("na segunda-\n-feira seguinte", "na segunda-feira\nseguinte"),
        ("see http://a.org/long-\nname here", "see http://a.org/long-name\nhere"),
        ("pass --no-\nsandbox to it", "pass --no-sandbox\nto it"),
        ("both short-\nand long-term", "both short-\nand long-term"),
        ("a long-\nterm plan, a term so long ", "a long-term\nplan, a term so long "),
        ("it is long-\nterm, not longterm ", "it is longterm,\nnot longterm "),
        ("rewrit-\nten.\nNext", "rewritten.\nNext"),
        ("in-\ncompre-\nhensible words", "incomprehensible\nwords"),
        ("pages 3-\n5 of it", "pages 3-\n5 of it"),
        ("soft\xadware and docu\xad\nment", "software and document"),
        ("a dash -\nand text", "a dash -\nand text"),
    ],
)
def test_what_becomes_of_a_hyphen_at_a_line_end(page: str, joined: str) -> None:
    ((text, kept),) = whole_words([page], [set()])
    assert text == joined
    assert len(kept) == text.count("\n") + 1


def test_what_another_page_writes_decides() -> None:
    pages = ["re-\ncreation", "It is well-\nknown", "The well-known recreation"]
    assert [text for text, _ in whole_words(pages, [set()] * 3)][:2] == ["recreation", "It is well-known"]


def test_rows_of_tables_keep_their_text() -> None:
    assert whole_words(["A-\nb 1", "c-\nd"], [{1}, set()])[0] == ("A-\nb 1", [0, 1])


def test_sizes_and_rows_follow_their_lines(make_pdf: MakePdf) -> None:
    drawn = [(50, 760, "The manual was rewrit-"), (50, 740, "ten")]
    rows = [("Country", "People"), ("Austria", "8.9"), ("Belgium", "11.5"), ("Spain", "48.1")]
    drawn += [(50 + 200 * x, 700 - 20 * y, cell) for y, row in enumerate(rows) for x, cell in enumerate(row)]
    document = read_pdf(make_pdf([], raw=[commands(drawn)]), "a.pdf")
    assert document.content.startswith("The manual was rewritten\nCountry People\n")
    cells = [document.content[part.start : part.cells[1]].strip() for part in document.parts if part.cells]
    assert cells == [row[0] for row in rows]


def test_a_quote_has_the_whole_word_and_its_rectangles(make_pdf: MakePdf, tmp_path: Path) -> None:
    page = "Each quarter the pump needs mainte-\nnance by the maker, who sends an e-\nmail before."
    data = make_pdf([page])
    (tmp_path / "pump.pdf").write_bytes(data)
    with answerable.open(":memory:") as library:
        library.add(tmp_path / "pump.pdf")
        answer = library.ask("Who does the maintenance of the pump?")
    (citation, *_) = answer.citations
    assert "needs maintenance" in " ".join(citation.quote.split())
    with ReadingProcess() as worker:
        (document,) = worker.read(data, "pump.pdf")
        assert document.content[citation.start : citation.end] == citation.quote
        for start in range(len(document.content)):
            span = start, min(start + 9, len(document.content))
            assert under(data, document, span, worker) == bare(document.content[slice(*span)])


def commands(pieces: Sequence[tuple[int, int, str]]) -> bytes:
    """The drawing commands of texts at their places."""
    shown = " ".join(f"1 0 0 1 {x} {y} Tm ({text}) Tj" for x, y, text in pieces)
    return f"BT /F1 12 Tf {shown} ET".encode()
