"""Test BM25 scores against a computation by hand, and counts of places against plain counting."""

from __future__ import annotations

import math
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Document, DocumentType, Location, Part, PartKind
from answerable.formats.locate import Locator, locate
from answerable.text.terms import rarity, term_weights

MORNING, NOON = datetime(2024, 3, 5, 9), datetime(2024, 3, 5, 12)


def test_bm25_by_hand() -> None:
    # Four terms: damping 1.2 (.25 + .75 · 4 / 100) = .336; one and three occurrences, times 2.2.
    weights = term_weights({"a": 1, "b": 3})
    assert weights == pytest.approx({"a": 2.2 / 1.336, "b": 6.6 / 3.336})
    assert term_weights({"a": 100})["a"] == pytest.approx(220 / 101.2)
    assert term_weights({}) == {}
    assert rarity(10, 1) == pytest.approx(math.log(1 + 9.5 / 1.5))
    assert rarity(1, 1) == pytest.approx(math.log(1 + 0.5 / 1.5))


@given(st.integers(1, 1000), st.data())
def test_rarer_terms_weigh_more_and_none_less_than_nothing(chunks: int, data: st.DataObject) -> None:
    with_term = data.draw(st.integers(0, chunks - 1))
    assert rarity(chunks, with_term) > rarity(chunks, with_term + 1) > 0


@given(st.text("ab\n\f\r", max_size=40), st.data())
def test_lines_by_counting(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    last = max(end - 1, start)
    assert Locator(Document.from_text(text)).lines(start, end) == (
        text[:start].count("\n") + 1,
        text[:last].count("\n") + 1,
    )


def test_parts_that_a_span_touches() -> None:
    pages = tuple(Part(start, start + 5, PartKind.PAGE, page=number) for number, start in ((1, 0), (2, 6), (3, 12)))
    locator = Locator(Document("d", "x" * 20, type=DocumentType.PDF, parts=pages))
    assert [part.page for part in locator.parts(0, 5)] == [1]
    assert [part.page for part in locator.parts(4, 7)] == [1, 2]
    assert [part.page for part in locator.parts(2, 13)] == [1, 2, 3]
    assert locator.parts(5, 6) == ()
    assert locator.parts(18, 20) == ()
    assert locator.location(5, 6).pages is None


def test_a_place_has_what_its_parts_have() -> None:
    messages = (
        Part(0, 1, PartKind.MESSAGE, time=NOON, sender="Ana"),
        Part(1, 2, PartKind.NOTICE, time=MORNING),
        Part(2, 3, PartKind.MESSAGE, time=NOON, sender="Luis"),
        Part(3, 4, PartKind.MESSAGE, time=NOON, sender="Ana"),
    )
    assert locate(messages, (1, 4)) == Location((1, 4), times=(MORNING, NOON), senders=("Ana", "Luis"))
    sections = (
        Part(0, 1, PartKind.SECTION),
        Part(1, 2, PartKind.SECTION, headings=("A", "B"), anchor="b"),
        Part(2, 3, PartKind.SECTION, headings=("C",), anchor="c"),
    )
    assert locate(sections, None) == Location(None, headings=("A", "B"), anchor="b")
    assert locate((), (1, 1)) == Location((1, 1))


def test_rendered_documents_have_no_lines() -> None:
    assert Locator(Document("d", "a\nb", type=DocumentType.HTML)).location(0, 3) == Location(None)
