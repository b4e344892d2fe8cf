"""Test the indexed text of a PDF: no running heads, hyphenated words joined, rows as Markdown, spans mapped."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Chunk, Location, Part, PartKind
from answerable.text.indexed_text import indexed_spans, indexed_text

CONTENT = "A consid-\nerable length.\n4 / 9\n\fGuide to pumps\nThe well-\nKnown end."


def page_chunk(content: str, spans: list[tuple[int, int]], context: str = "", start: int = 0) -> Chunk:
    """A chunk whose parts cover these spans of the document."""
    parts = tuple(Part(first, last, PartKind.PAGE, page=1) for first, last in spans)
    return Chunk("c", "d", content, start, start + len(content), 0, Location(None, (1, 1)), context, parts)


def without_furniture(context: str = "") -> Chunk:
    """The content between a page number and a running head."""
    end, start = CONTENT.index("4 / 9"), CONTENT.index("The well")
    return page_chunk(CONTENT, [(0, end), (start, len(CONTENT))], context)


@pytest.mark.parametrize("context", ["", "Manual › Pumps"])
def test_furniture_is_left_out_and_broken_words_are_joined(context: str) -> None:
    chunk = without_furniture(context)
    assert indexed_text(chunk) == (f"{context}\n" if context else "") + "A considerable length.\nThe well-\nKnown end."
    assert chunk.content == CONTENT


def test_spans_of_sentences_lead_to_the_same_words() -> None:
    chunk = without_furniture("Manual")
    whole = [
        (0, CONTENT.index("\n4 /")),
        (CONTENT.index("The"), len(CONTENT)),
        (CONTENT.index("Guide"), CONTENT.index("The")),
    ]
    texts = [indexed_text(chunk)[start:end] for start, end in indexed_spans(chunk, whole)]
    assert texts == ["A considerable length.", "The well-\nKnown end.", ""]


def test_a_chunk_that_begins_within_a_document() -> None:
    chunk = page_chunk("cut off\n17\nmore", [(90, 108), (111, 200)], start=100)
    assert indexed_text(chunk) == "cut off\nmore"
    assert indexed_spans(chunk, [(0, 7), (11, 15)]) == ((0, 7), (8, 12))


def test_nothing_but_furniture_is_indexed_whole() -> None:
    assert indexed_text(page_chunk("17", [])) == "17"
    assert indexed_text(page_chunk("17", [(2, 2)])) == "17"


words = st.text(alphabet="ab -\nÄé1.", max_size=12)


@given(st.lists(words, min_size=1, max_size=6), words, st.data())
def test_no_word_of_the_parts_is_lost_and_spans_agree(pieces: list[str], context: str, data: st.DataObject) -> None:
    content = "\f".join(pieces)
    ends = [sum(map(len, pieces[: number + 1])) + number for number in range(len(pieces))]
    spans = [(end - len(piece), end) for piece, end in zip(pieces, ends, strict=True)]
    chunk = page_chunk(content, spans, context.strip())
    bare = re.compile(r"[-\s]")
    kept = bare.sub("", content)
    assert bare.sub("", indexed_text(chunk)) == bare.sub("", context) + kept
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    ((first, last),) = indexed_spans(chunk, [(start, end)])
    assert 0 <= first <= len(indexed_text(chunk))
    assert bare.sub("", indexed_text(chunk)[first:last]) == bare.sub("", content[start:end])
