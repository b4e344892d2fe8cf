"""Questions for an address, a number or a count of something that the passages lack are refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import answerable
from answerable import Library


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("shapes")
    Path(folder / "choir.csv").write_text(
        "Name,Voice,Town,Phone\nIdris Cole,tenor,Ludlow,01584 555064\nEdith Marlow,alto,Leominster,01568 555012\n",
        "utf-8",
    )
    Path(folder / "flat.txt").write_text(
        "Flat 3, 27 Marlow Terrace, is let to Mr Osei from May. He pays by card.\n", "utf-8"
    )
    (folder / "stays.csv").write_text(
        "guest,arrival,nights,paid\nSutcliffe,2024-07-19,14,1960.00\nBell,19.07.2024,7,980.50\n", "utf-8"
    )
    with answerable.open(":memory:") as made:
        made.add(folder)
        yield made


@pytest.mark.parametrize(
    "question",
    [
        "what is Idris Cole's email address?",
        "how many neighbours does Mr Osei have?",
        "what is Sutcliffe's phone number, the guest of 14 nights?",
        "¿cuál es el teléfono de Bell?",
    ],
)
def test_what_the_passages_lack(library: Library, question: str) -> None:
    assert not library.ask(question).answered


def test_what_they_have(library: Library) -> None:
    assert "01584 555064" in library.ask("what is Idris Cole's phone number?").text
