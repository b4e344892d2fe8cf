"""Text that was struck out stays in the document, and isn't what the document says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import answerable
from answerable import Library
from answerable.sources.markdown import read_markdown

RULES = """# Boathouse rules

~~Dogs may run in the boathouse.~~ Dogs stay outside the boathouse.

~~The gate is locked at nine in the evening.~~

The berth costs ~~60 euros~~ 75 euros a year.

| Berth | Length in metres |
| --- | --- |
| Heron | ~~7~~ 9 |
| Teal | 6 |
"""


@pytest.fixture(scope="module")
def rules() -> Iterator[Library]:
    with answerable.open(":memory:") as library:
        library.add_documents([read_markdown(RULES, "rules.md")])
        yield library


def test_what_replaced_it_is_quoted(rules: Library) -> None:
    answer = rules.ask("Where do dogs stay?")
    assert answer.citations[0].quote == "Dogs stay outside the boathouse."


def test_struck_text_is_no_evidence(rules: Library) -> None:
    answer = rules.ask("When is the gate locked in the evening?")
    assert all("nine" not in citation.quote for citation in answer.citations)


def test_within_a_quote_it_is_marked(rules: Library) -> None:
    answer = rules.ask("What does the berth cost a year?")
    assert "The berth costs ~~60 euros~~ 75 euros a year." in answer.text


def test_it_is_not_counted(rules: Library) -> None:
    answer = rules.ask("Which berth has the greatest length in metres?")
    assert "Heron" in answer.text
    assert "9" in answer.text
