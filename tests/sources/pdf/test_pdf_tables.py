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


def placed(*rows: Sequence[tuple[float, str]], top: float = 700) -> bytes:
    """The drawing commands of rows 20 points apart, whose pieces have their own x-coordinates."""
    drawn = (f"1 0 0 1 {x} {top - 20 * line} Tm ({text}) Tj" for line, row in enumerate(rows) for x, text in row)
    return f"BT /F1 12 Tf {' '.join(drawn)} ET".encode()


def test_a_header_is_found_above_narrow_columns_and_figures_at_the_right(make_pdf: MakePdf) -> None:
    rows = [
        [(50, "Boat"), (90, "Berths"), (140, "Fee per night")],
        [(50, "B1"), (90, "2"), (196, "85")],
        [(50, "B2"), (90, "12"), (190, "120")],
        [(50, "B3"), (90, "4"), (196, "97")],
    ]
    document = read_pdf(make_pdf([], raw=[placed(*rows)]), "a.pdf")
    assert cells(document) == [[text for _, text in row] for row in rows]
    (found,) = find_tables(document)
    assert [column.name for column in found.columns] == ["Boat", "Berths", "Fee per night"]


def test_a_cell_may_fill_its_column_and_be_long(make_pdf: MakePdf) -> None:
    bill = [
        [(50, "Item"), (170, "Used"), (246, "Amount")],
        [(50, "Water"), (170, "31 m3"), (246, "28.40")],
        [(50, "Waste water removal"), (170, "31 m3 May"), (246, "40.10")],
        [(50, "Meter"), (253, "3.20")],
        [(50, "Total"), (246, "71.70")],
    ]
    document = read_pdf(make_pdf([], raw=[placed(*bill)]), "a.pdf")
    assert cells(document) == [
        [*(text for _, text in row)] if len(row) == 3 else [row[0][1], "", row[1][1]] for row in bill
    ]
    (found,) = find_tables(document)
    assert found.total is not None
    assert [value.text for value in found.total.values] == ["Total", "", "71.70"]


def test_columns_that_nearly_touch_are_told_apart(make_pdf: MakePdf) -> None:
    rows = [
        [(50, "Oar"), (120, "Price"), (156, "Bought")],
        [(50, "left"), (123, "8.50"), (156, "May 2019")],
        [(50, "right"), (123, "9.25"), (156, "June 2021")],
        [(50, "spare"), (123, "4.00"), (156, "July 2022")],
    ]
    document = read_pdf(make_pdf([], raw=[placed(*rows)]), "a.pdf")
    assert cells(document) == [[text for _, text in row] for row in rows]


def test_two_words_above_a_table_are_no_row(make_pdf: MakePdf) -> None:
    rows = [("Boat", "Berths"), ("Ida", "4"), ("Una", "6")]
    document = read_pdf(
        make_pdf([], raw=[table(rows, before="Next summer"), table(rows, before="Last winter")]), "a.pdf"
    )
    assert cells(document) == [list(row) for row in rows * 2]
    assert [[column.name for column in each.columns] for each in find_tables(document)] == [["Boat", "Berths"]] * 2


def test_the_last_rows_of_a_table_may_be_on_the_next_page(make_pdf: MakePdf) -> None:
    last = table([("Total", "68.5", "")], after="That is all.")
    document = read_pdf(make_pdf([], raw=[table(ROWS), last]), "a.pdf")
    (found,) = find_tables(document)
    assert [column.name for column in found.columns] == ["Country", "People", "Capital"]
    assert (len(found.rows), found.total is not None) == (3, True)


def test_a_table_goes_on_below_running_heads_only(make_pdf: MakePdf) -> None:
    more = [ROWS[0], ("Malta", "0.5", "Valletta"), ("Italy", "59.0", "Rome")]

    def tables_of(above: str, below: str) -> list[int]:
        pages = [table(ROWS, "Atlas of 2020", "Page 1 of 2"), table(more, above, below)]
        return [len(each.rows) for each in find_tables(read_pdf(make_pdf([], raw=pages), "a.pdf"))]

    assert tables_of("Atlas of 2020", "Page 2 of 2") == [5]
    assert tables_of("After the war", "Page 2 of 2") == [3, 2]
    other = table([("Ship", "Masts", "Port"), ("Ulla", "2", "Kiel"), ("Anna", "3", "Bremen")], before="Ships")
    both = find_tables(read_pdf(make_pdf([], raw=[table(ROWS, after="A note"), other]), "a.pdf"))
    assert [len(each.rows) for each in both] == [3, 2]


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
