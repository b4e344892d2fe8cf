"""Test which sentence of a passage is nearest to a question, and how it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from collecting import collect

import answerable
from answerable.answering.sentences import Nearest, nearest

TABLE = "# Boats\n\n| Name | Year |\n|---|---|\n| Heron | 2004 |\n| **Gull** | 2017 |\n"
CLUB = "Club;Rowers\nBoats in all:;3\n\nName;Year;Seats\nHeron;2004;2\nGull;2017;4\n"
PAID = "02-05-2019;Heron;-12,50\n03-05-2019;Gull;-7,20\n04-05-2019;Swift;-3,10\n"


def found(path: Path, content: str, question: str) -> tuple[Nearest, str]:
    path.write_text(content, "utf-8")
    [result] = collect(question, *answerable.read(path)).results
    near = nearest(question, "en", result)
    return near, result.document.content[near.start : near.end]


@pytest.mark.parametrize(
    ("name", "content", "row"),
    [("boats.md", TABLE, "| **Gull** | 2017 |"), ("boats.csv", "Name,Year\nHeron,2004\nGull,2017\n", "Gull,2017")],
)
def test_a_row_is_shown_with_the_names_of_its_columns(tmp_path: Path, name: str, content: str, row: str) -> None:
    near, text = found(tmp_path / name, content, "Who painted the Gull?")
    assert text.strip() == row
    assert near.text == "Name: Gull · Year: 2017"
    assert (near.present, near.missing) == (("Gull",), ("painted",))


@pytest.mark.parametrize(
    ("content", "question", "shown"),
    [
        (CLUB, "Gull?", "Name: Gull · Year: 2017 · Seats: 4"),
        (CLUB, "Boats in all?", "Boats in all: 3"),
        (PAID, "Gull?", "03-05-2019 · Gull · -7,20"),
    ],
)
def test_a_row_of_a_table_below_other_lines_or_without_a_header(
    tmp_path: Path, content: str, question: str, shown: str
) -> None:
    assert found(tmp_path / "boats.csv", content, question)[0].text == shown


def test_the_names_of_columns_are_no_sentence(tmp_path: Path) -> None:
    near, _ = found(tmp_path / "boats.md", TABLE, "Who coaches the club?")
    assert near.text == "Name: Heron · Year: 2004"


def test_prose_is_shown_without_marks(tmp_path: Path) -> None:
    near, text = found(tmp_path / "club.md", "The club has no coach.\nThe **boats** are\nold.\n", "How many boats?")
    assert near.text == "The boats are old."
    assert text == "The **boats** are\nold."
