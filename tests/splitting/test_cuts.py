"""Where the recursive splitter cuts and what neighbours share, on texts of many scripts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import Chunk, Document
from answerable.splitting.recursive import SEPARATORS, RecursiveSplitter

CLUSTERS = [
    "x",
    "👩‍👩‍👧",
    "👍🏽",
    "🇪🇸",
    "🇧🇷",
    "e\u0301",
    "हि",
    "1️⃣",
    "กำ",
    "ｶﾞ",
    "\u1112\u1161\u11ab",
    "🏴\U000e0067\U000e007f",
]
WORDS = ["a", "Word", "palabras", "coração", "end.", "¿Qué?", "句子。", "जाता।", "x" * 25, *CLUSTERS]
GAPS = ["", " ", "  ", "\n", "\n\n", "\n \t\n", "\f", "\r\n", "\r\n\r\n", ". ", " " * 70]
texts = st.one_of(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(GAPS)), max_size=60).map(
        lambda pairs: "".join(word + gap for word, gap in pairs)
    ),
    st.text(max_size=200),
)


def split(text: str, size: int, overlap: int = 0) -> list[Chunk]:
    """Its chunks."""
    return RecursiveSplitter(size, overlap).split(Document.from_text(text))


@examples(400)
@given(text=texts, size=st.integers(1, 80), whole_pieces=st.booleans(), data=st.data())
@example(text="a" + " " * 40 + "b" * 40, size=30, whole_pieces=False, data=None)
def test_spans_fit_advance_and_lose_nothing(
    text: str, size: int, whole_pieces: bool, data: st.DataObject | None
) -> None:
    overlap = data.draw(st.integers(0, size - 1)) if data else size // 2
    spans = RecursiveSplitter(size, overlap, whole_pieces=whole_pieces).spans(text, 0, len(text))
    covered = 0
    for start, end in spans:
        assert text[start:end] == text[start:end].strip()
        assert end - start <= size
        assert not text[covered : max(start, covered)].strip()
        covered = max(covered, end)
    assert not text[covered:].strip()
    assert all(one[0] < other[0] and one[1] - other[0] <= overlap for one, other in pairwise(spans))


@examples(400)
@given(
    before=texts,
    inside=texts,
    behind=texts,
    size=st.integers(1, 60),
)
def test_a_stretch_is_cut_as_if_it_stood_alone(before: str, inside: str, behind: str, size: int) -> None:
    splitter = RecursiveSplitter(size, size // 5)
    before = f"{before}\n"
    found = splitter.spans(before + inside + behind, len(before), len(before) + len(inside))
    assert found == [(len(before) + a, len(before) + b) for a, b in splitter.spans(inside, 0, len(inside))]


def pieces(text: str, separators: Sequence[str]) -> list[tuple[int, int]]:
    """The spans between any of the separators, without white space."""
    cuts = {0, len(text)} | {match.end() for pattern in separators for match in re.finditer(pattern, text)}
    spans = [(start, start + len(text[start:end].rstrip())) for start, end in pairwise(sorted(cuts))]
    return [(end - len(text[start:end].lstrip()), end) for start, end in spans if start < end]


@examples(400)
@given(text=texts, size=st.integers(1, 80), data=st.data())
@example(text=" a b", size=1, data=None)
@example(text="end.. a a", size=4, data=None)
def test_whole_pieces_are_cut_only_where_no_chunk_has_room(text: str, size: int, data: st.DataObject | None) -> None:
    text = re.sub(r"\s{60,}", " ", text)
    overlap = data.draw(st.integers(0, size - 1)) if data else 0
    separators = data.draw(st.sampled_from([SEPARATORS, (r"\n\n", r"\n", r"\.\ ", r"\ ")])) if data else SEPARATORS
    spans = RecursiveSplitter(size, overlap, separators, whole_pieces=True).spans(text, 0, len(text))
    for strength in range(len(separators)):
        for start, end in pieces(text, separators[: strength + 1]):
            is_whole = any(first <= start and end <= last for first, last in spans)
            assert is_whole or end - start > size, text[start:end]


@pytest.mark.parametrize("short", ["A short one.", "# T", "Two lines\nof it."])
@pytest.mark.parametrize("overlap", [0, 20])
def test_a_paragraph_that_has_room_is_whole_after_a_short_one(short: str, overlap: int) -> None:
    paragraph = "Twelve words. " * 6 + "and no more."
    assert len(paragraph) == 96
    text = f"{short}\n\n{paragraph}\n\n{short}"
    chunks = RecursiveSplitter(100, overlap, whole_pieces=True).split(Document.from_text(text))
    assert [chunk.content for chunk in chunks] == [short, paragraph, short]


@pytest.mark.parametrize(
    ("text", "shared"),
    [("abcdefghijklmnopqrstuvwxyz" * 4, 9), ("字" * 100, 9), ("e\u0301" * 60, 8), ("👨‍👩‍👧" * 20, 5)],
)
def test_text_without_separators_is_shared_by_the_character(text: str, shared: int) -> None:
    chunks = RecursiveSplitter(30, 9, whole_pieces=True).split(Document.from_text(text))
    assert len(chunks) > 3
    assert {one.end - other.start for one, other in pairwise(chunks)} == {shared}
    ends = {0} | {match.end() for match in regex.finditer(r"\X", text)}
    assert all({chunk.start, chunk.end} <= ends for chunk in chunks)


@examples(300)
@given(clusters=st.lists(st.sampled_from(CLUSTERS), min_size=1, max_size=60), size=st.integers(30, 60))
def test_a_cut_without_separators_falls_between_what_people_see_as_characters(clusters: list[str], size: int) -> None:
    text = "".join(clusters)
    ends = {match.end() for match in regex.finditer(r"\X", text)}
    assert {chunk.end for chunk in split(text, size)} <= ends


@pytest.mark.parametrize(
    ("text", "size", "chunks"),
    [
        # A paragraph that has room in a chunk isn't broken, though the chunk before stays short.
        ("aaa bb.\n\nbbbb cccc. dddd eeee", 20, ["aaa bb.", "bbbb cccc. dddd eeee"]),
        # One that is too long for any chunk is broken where the chunk is full.
        ("aaa bb.\n\nbbbb cccc. dddd eeee f", 20, ["aaa bb.\n\nbbbb cccc.", "dddd eeee f"]),
        # Nor does a chunk end in its first quarter.
        ("a.\n\nbbbb cccc dddd eeee", 20, ["a.\n\nbbbb cccc dddd", "eeee"]),
        # A word that fits to the last character belongs in, the space behind it needs no room.
        ("aaaa bbbb cccc ddddd eeee", 20, ["aaaa bbbb cccc ddddd", "eeee"]),
        ("aaaa bbbb cccc dddd. eeee", 20, ["aaaa bbbb cccc dddd.", "eeee"]),
        ("他说：“这是第一句话。”然后他走了没有回来过", 20, ["他说：“这是第一句话。”", "然后他走了没有回来过"]),
        ("वह घर जाता है। फिर सोता है रात", 20, ["वह घर जाता है।", "फिर सोता है रात"]),
        ("هل ذهبت الآن؟ نعم ذهبت الآن", 20, ["هل ذهبت الآن؟", "نعم ذهبت الآن"]),
    ],
)
def test_cuts(text: str, size: int, chunks: list[str]) -> None:
    assert [chunk.content for chunk in split(text, size)] == chunks


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        # Behind a paragraph nothing is repeated,
        ("aaaa bbbb. cc dd.\n\neeee ffff gggg", ["aaaa bbbb. cc dd.", "eeee ffff gggg"]),
        # unless it is a whole paragraph.
        ("aaaa bbbb\n\ncc dd\n\neeee ffff gg", ["aaaa bbbb\n\ncc dd", "cc dd\n\neeee ffff gg"]),
        # Behind a sentence it is the last one, behind a word the last sentence or words that fit.
        ("aaaa bb. cc dd. eeee ffff", ["aaaa bb. cc dd.", "cc dd. eeee ffff"]),
        ("aaaa bbbb cccc dddd eeee ffff", ["aaaa bbbb cccc dddd", "dddd eeee ffff"]),
    ],
)
def test_what_neighbours_share(text: str, chunks: list[str]) -> None:
    assert [chunk.content for chunk in split(text, 20, 8)] == chunks


def test_a_separator_sees_what_stands_around_a_window() -> None:
    # The full stop of a number isn't one, though the window ends there.
    splitter = RecursiveSplitter(10, 0, [r"\.(?!\d)", " "])
    text = "aaa bbbb 3.14. cc"
    assert [text[start:end] for start, end in splitter.spans(text, 0, len(text))] == ["aaa bbbb", "3.14. cc"]
