"""Test which sentence of a passage is nearest to a question, and how it is shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from collecting import collect

import answerable
from answerable.answering.sentences import Nearest, nearest

TABLE = "# Boats\n\n| Name | Year |\n|---|---|\n| Heron | 2004 |\n| **Gull** | 2017 |\n"


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


def test_the_names_of_columns_are_no_sentence(tmp_path: Path) -> None:
    near, _ = found(tmp_path / "boats.md", TABLE, "Who coaches the club?")
    assert near.text == "Name: Heron · Year: 2004"


def test_prose_is_shown_without_marks(tmp_path: Path) -> None:
    near, text = found(tmp_path / "club.md", "The club has no coach.\nThe **boats** are\nold.\n", "How many boats?")
    assert near.text == "The boats are old."
    assert text == "The **boats** are\nold."
