"""Test that questions for an address, a telephone number or a count that the passages lack are refused."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import answerable
from answerable import Library
from answerable.answering.messages import word_lists
from answerable.datatypes import Document
from answerable.sources.records import read_records


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    choir = read_records(
        "Name,Voice,Town,Phone\nIdris Cole,tenor,Ludlow,01584 555064\nEdith Marlow,alto,Leominster,01568 555012\n",
        "choir.csv",
    )
    flat = Document.from_text(
        "Flat 3, 27 Marlow Terrace, is let to Mr Osei from May. He pays by card.", source="flat.txt"
    )
    stays = read_records(
        "guest,arrival,nights,paid\nSutcliffe,2024-07-19,14,1960.00\nBell,19.07.2024,7,980.50\n", "stays.csv"
    )
    with answerable.open(":memory:") as made:
        made.add_documents([choir, flat, stays])
        yield made


def test_what_the_passages_lack(library: Library) -> None:
    cases = [
        "what is Idris Cole's email address?",
        "how many neighbours does Mr Osei have?",
        "what is Sutcliffe's phone number, the guest of 14 nights?",
        "¿cuál es el teléfono de Bell?",
    ]
    failed = [question for question in cases if library.ask(question).answered]
    assert failed == []


def test_what_they_have(library: Library) -> None:
    assert "01584 555064" in library.ask("what is Idris Cole's phone number?").text


def test_telephone_numbers_are_told_from_dates_and_amounts() -> None:
    cases: list[tuple[str, bool]] = [
        ("Tel.915551234", True),
        ("call +44-1584 555064.", True),
        ("(11) 98765-4321", True),
        ("01.23.45.67.89", True),
        ("on 2024-07-19", False),
        ("am 19.07.2024", False),
        ("1960.00", False),
        ("it cost 1,960.50.", False),
        ("room 12345", False),
    ]
    failed = [
        (text, got)
        for text, has_one in cases
        if (got := bool(re.search(word_lists("asked_for")["shapes"]["telephone"]["is"], text))) != has_one
    ]
    assert failed == []
