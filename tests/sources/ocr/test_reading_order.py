"""Boxes → reading order."""

from __future__ import annotations

from answerable.sources.ocr.lines import Box, in_reading_order


def order(boxes: list[Box], texts: list[str]) -> str:
    return "".join(
        (before if number else "") + texts[index]
        for number, (index, before) in enumerate(in_reading_order(boxes, texts))
    )


def column(left: float, top: float, names: str, width: float = 400) -> dict[str, Box]:
    return {name: (left, top + 30 * row, left + width, top + 30 * row + 24) for row, name in enumerate(names)}


def test_columns_are_read_one_after_the_other_under_their_headline() -> None:
    found = {"H": (50.0, 20.0, 900.0, 60.0), **column(500, 103, "efgh"), **column(50, 100, "abcd")}
    assert order(list(found.values()), list(found)) == "H\n\na\nb\nc\nd\n\ne\nf\ng\nh"


def test_a_headline_between_columns_ends_both() -> None:
    found = {
        **column(50, 100, "abc"),
        **column(500, 100, "def"),
        "H": (50.0, 220.0, 900.0, 260.0),
        **column(50, 300, "ghi"),
        **column(500, 300, "jkl"),
    }
    assert order(list(found.values()), list(found)).replace("\n", "") == "abcdefHghijkl"


def test_cells_of_a_table_are_read_row_by_row() -> None:
    found = {}
    for row in range(5):
        found |= {f"name{row}": (50.0, 100.0 + 30 * row, 150.0, 124.0 + 30 * row)}
        found |= {f"price{row}": (700.0, 103.0 + 30 * row, 760.0, 122.0 + 30 * row)}
    assert order(list(found.values()), list(found)) == "\n".join(f"name{row} price{row}" for row in range(5))


def test_a_line_with_room_left_ends_its_paragraph() -> None:
    boxes = [(50.0, 100.0, 900.0, 124.0), (50.0, 130.0, 200.0, 154.0), (50.0, 160.0, 900.0, 184.0)]
    assert order(boxes, ["a long line", "its end.", "Another begins"]) == "a long line\nits end.\n\nAnother begins"
    assert order(boxes, ["a long line", "its middle", "and it goes on"]) == "a long line\nits middle\nand it goes on"


def test_a_gap_divides_and_nothing_is_nothing() -> None:
    boxes = [(50.0, float(top), 900.0, top + 24.0) for top in (100, 130, 160, 250, 280)]
    assert order(boxes, list("abcde")) == "a\nb\nc\n\nd\ne"
    assert order([], []) == ""
