"""Columns of PDFs: read one after the other also where a PDF draws their lines in turn; tables stay as they are."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Sequence

import pytest
from sources.pdf.test_pdf_rectangles import bare, under

from answerable.sources.pdf.read import read_pdf
from answerable.sources.process.reading_process import ReadingProcess

MakePdf = Callable[..., bytes]
Piece = tuple[float, float, str]
TEXTS = (
    "The pump is filled with water before it is switched on, and the valve at its outlet stays closed until the motor "
    "has reached its speed. Then the valve is opened slowly, so that the pressure in the pipe rises without a shock. "
    "Whoever opens it at once may break the seal of the shaft, which is costly.",
    "Filters are cleaned each month, or as soon as the pressure behind them falls below two bars. They are taken out, "
    "rinsed with cold water and dried in the air. A filter with a hole is thrown away, since the sand that passes it "
    "wears out the wheel of the pump within days.",
    "Spare parts are sold by the maker for ten years after the last pump of a kind was made. Orders name the kind and "
    "the number of the pump, which are stamped on the plate beside the motor. Small parts arrive within a week and "
    "large ones within a month of the order.",
)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("shift", [0, 3])
def test_columns_drawn_line_by_line_are_read_one_after_the_other(make_pdf: MakePdf, count: int, shift: int) -> None:
    columns = [textwrap.wrap(text, 72 // count) for text in TEXTS[:count]]
    title, note = (
        "How to look after the pumps of the old waterworks by the river in all seasons",
        "1 " + "See there. " * 9,
    )
    pieces = [(50, 760, title), *in_turn(columns, 520 / count, shift), (50, 300, note.strip())]
    content = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf").content
    assert content == "\n".join([title, *(line for column in columns for line in column), note.strip()])


def test_columns_drawn_one_after_the_other_stay_so(make_pdf: MakePdf) -> None:
    columns = [textwrap.wrap(text, 36) for text in TEXTS[:2]]
    pieces = [(50 + 260 * side, 700 - 14 * row, line) for side in (1, 0) for row, line in enumerate(columns[side])]
    content = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf").content
    assert content == "\n".join([*columns[1], *columns[0]])


def test_a_word_broken_in_a_column_is_followed_by_its_rest(make_pdf: MakePdf) -> None:
    columns = [textwrap.wrap(text, 36) for text in TEXTS[:2]]
    columns[0][2:4] = ["closed until the motor has rea-", "ched its speed and can be heard"]
    content = read_pdf(make_pdf([], raw=[drawn(in_turn(columns, 260))]), "a.pdf").content
    assert "has reached" in content


def test_the_cells_of_a_form_are_read_one_after_the_other(make_pdf: MakePdf) -> None:
    fields = [("First name:", "Ana"), ("Last name:", "Perez"), ("Born:", "1 May 1980")]
    more = [("Street:", "Calle Mayor 5"), ("Town:", "Salamanca"), ("Country:", "Spain")]
    pieces = [(50, 760, "Application"), *in_turn(fields, 170), *in_turn(more, 170, top=640)]
    content = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf").content
    assert content == "\n".join(["Application", *(line for field in fields + more for line in field)])


def test_cells_of_several_lines_are_read_one_after_the_other(make_pdf: MakePdf) -> None:
    rows = [[textwrap.wrap(text[part : part + 90], 30) for text in TEXTS] for part in (0, 90, 180)]
    for row in rows:
        for cell in row:
            cell[0] = cell[0].capitalize()
    rows[1][1] = rows[1][1][:2]
    pieces = [piece for number, row in enumerate(rows) for piece in in_turn(row, 170, top=700 - 80 * number)]
    content = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf").content
    assert content == "\n".join(line for row in rows for cell in row for line in cell)


def test_rows_of_a_table_stay_rows(make_pdf: MakePdf) -> None:
    rows = [["pump of iron", "sold by the piece", f"{number}.50"] for number in range(12)]
    pieces = [
        (50 + 170 * place, 700 - 14 * row, cell) for row, cells in enumerate(rows) for place, cell in enumerate(cells)
    ]
    content = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf").content
    assert content == "\n".join(" ".join(row) for row in rows)


def test_the_rectangles_of_a_quote_in_columns_are_its_own(make_pdf: MakePdf) -> None:
    columns = [textwrap.wrap(text, 36) for text in TEXTS[:2]]
    columns[0][2:4] = ["closed until the motor has rea-", "ched its speed and can be heard"]
    data = make_pdf([], raw=[drawn([(50, 760, "Pumps"), *in_turn(columns, 260)])])
    with ReadingProcess() as worker:
        (document,) = worker.read(data, "a.pdf")
        for start in range(0, len(document.content), 7):
            span = start, min(start + 60, len(document.content))
            assert under(data, document, span, worker) == bare(document.content[slice(*span)])


def in_turn(columns: Sequence[Sequence[str]], width: float, shift: float = 0, top: float = 700) -> Iterable[Piece]:
    """Lines of columns, line by line; each column `shift` points lower than the one before."""
    for row in range(max(map(len, columns))):
        for place, column in enumerate(columns):
            if row < len(column):
                yield 50 + width * place, top - 14 * row - shift * place, column[row]


def drawn(pieces: Iterable[Piece]) -> bytes:
    """The drawing commands of texts at their places."""
    shown = " ".join(f"1 0 0 1 {x} {y} Tm ({text}) Tj" for x, y, text in pieces)
    return f"BT /F1 10 Tf {shown} ET".encode("cp1252")


@pytest.mark.parametrize("step", [1, 5])
def test_numbers_of_lines_are_in_no_part(make_pdf: MakePdf, step: int) -> None:
    lines = textwrap.wrap(" ".join(TEXTS), 36)
    pieces: list[Piece] = []
    for number, line in enumerate(lines, 1):
        if number % step == 0:
            pieces.append((30, 750 - 14 * number, str(number)))
        pieces.append((60, 750 - 14 * number, line))
    document = read_pdf(make_pdf([], raw=[drawn(pieces)]), "a.pdf")
    kept = "".join(document.content[part.start : part.end] for part in document.parts)
    assert kept == "\n".join(lines)
    assert document.content.startswith(f"{step}\n{2 * step}\n")


def test_numbers_of_the_points_of_a_list_stay_beside_them(make_pdf: MakePdf) -> None:
    points = [f"{number} Check the {part} of the pump" for number, part in enumerate(["seal", "shaft", "wheel"] * 5, 1)]
    assert read_pdf(make_pdf(["\n".join(points)]), "a.pdf").content == "\n".join(points)
