"""Tables of PDFs: their rows are parts with cells, indexed as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from answerable.datatypes import Document
from answerable.sources.pdf.read import read_pdf
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans
from answerable.tables.find import find_tables
from answerable.text.indexed_text import indexed_spans, indexed_text

MakePdf = Callable[..., bytes]
ROWS = [
    ("Country", "People", "Capital"),
    ("Austria", "8.9", "Vienna"),
    ("Belgium", "11.5", "Brussels"),
    ("Spain", "48.1", "Madrid"),
]


def test_rows_with_a_header_are_markdown_in_the_indexed_text(make_pdf: MakePdf) -> None:
    document = read_pdf(make_pdf([], raw=[table(ROWS, before="Some countries", after="Source: a book")]), "a.pdf")
    assert cells(document) == [list(row) for row in ROWS]
    (chunk,) = SplitterByType().split(document)
    assert indexed_text(chunk) == (
        "a\nSome countries\n| Country | People | Capital |\n| Austria | 8.9 | Vienna |\n| Belgium | 11.5 | Brussels |\n"
        "| Spain | 48.1 | Madrid |\nSource: a book"
    )
    assert chunk.content == document.content
    spans = evidence_spans(chunk, "en")
    assert "Belgium 11.5 Brussels" in [chunk.content[start:end] for start, end in spans]
    texts = [indexed_text(chunk)[start:end] for start, end in indexed_spans(chunk, spans)]
    assert "Belgium | 11.5 | Brussels" in texts


def test_text_with_figures_is_no_table(make_pdf: MakePdf) -> None:
    lines = [
        "In 1990 there were 12 of them",
        "and in 1995 already 170 or so",
        "until 2001 when 3 were left",
        "by 2010 none",
    ]
    assert cells(read_pdf(make_pdf(["\n".join(lines)]), "a.pdf")) == []


def test_a_list_and_rows_of_changing_columns_are_no_table(make_pdf: MakePdf) -> None:
    items = [("1-", "First point"), ("2-", "Second point"), ("3-", "Third point")]
    assert cells(read_pdf(make_pdf([], raw=[table(items)]), "a.pdf")) == []
    crooked = table([("A 1", "b"), ("C 2", "", "d"), ("E 3", "", "", "f")])
    assert cells(read_pdf(make_pdf([], raw=[crooked]), "a.pdf")) == []


def test_rows_without_figures_need_three_columns(make_pdf: MakePdf) -> None:
    people = [
        ("Name", "Task", "Place"),
        ("Ana", "Filters", "Salamanca"),
        ("Ben", "Pumps", "Porto"),
        ("Eva", "Oil", "Vigo"),
    ]
    assert cells(read_pdf(make_pdf([], raw=[table(people)]), "a.pdf")) == [list(row) for row in people]
    pairs = [row[:2] for row in people]
    assert cells(read_pdf(make_pdf([], raw=[table(pairs)]), "a.pdf")) == []


def test_a_row_may_lack_cells(make_pdf: MakePdf) -> None:
    rows = [*ROWS, ("Utopia", "", "Amaurot"), ("Narnia", "40"), ("Total", "108.5", "")]
    document = read_pdf(make_pdf([], raw=[table(rows)]), "a.pdf")
    assert cells(document) == [[*row, ""][:3] for row in rows]
    (found,) = find_tables(document)
    assert [column.name for column in found.columns] == ["Country", "People", "Capital"]


def test_a_table_over_two_pages_with_its_header_on_both_is_one(make_pdf: MakePdf) -> None:
    more = [ROWS[0], ("Portugal", "10.4", "Lisbon"), ("Malta", "0.5", "Valletta")]
    document = read_pdf(make_pdf([], raw=[table(ROWS), table(more)]), "a.pdf")
    (found,) = find_tables(document)
    assert len(found.rows) == len(ROWS) - 1 + len(more) - 1
    assert [part.page for part in document.parts if part.cells] == [1] * len(ROWS) + [2] * len(more)


def cells(document: Document) -> list[list[str]]:
    """The texts of the cells of each row."""
    rows = [part for part in document.parts if part.cells]
    return [
        [
            document.content[start:end].strip()
            for start, end in zip(part.cells, [*part.cells[1:], part.end], strict=True)
        ]
        for part in rows
    ]


def table(rows: Sequence[Sequence[str]], before: str = "", after: str = "") -> bytes:
    """The drawing commands of a table with columns 120 points apart, and a line before and after it."""
    texts = [[before], *rows, [after]]
    drawn = [
        f"1 0 0 1 {50 + 120 * column} {700 - 20 * line} Tm ({text}) Tj"
        for line, row in enumerate(texts)
        for column, text in enumerate(row)
    ]
    return f"BT /F1 12 Tf {' '.join(drawn)} ET".encode()
