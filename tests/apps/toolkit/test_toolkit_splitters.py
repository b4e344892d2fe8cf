"""What splitters promise, on texts of every kind."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolkit_parts import assert_offsets

from codomyrmex.llm.rag import Document, DocumentType, RecursiveTextSplitter, SentenceSplitter

PIECES = st.sampled_from(
    [
        "word",
        "a",
        "Ünïcode ",
        "\r\n",
        "\n\n",
        "\n",
        "\f",
        ". ",
        "! ",
        " ",
        "\t",
        "。",
        "字字字",
        "👩‍👩‍👧",
        "🇧🇷",
        "e\u0301",
        "x" * 40,
    ]
)
TEXTS = st.one_of(st.lists(PIECES, max_size=60).map("".join), st.text(max_size=200))
SEPARATORS = st.none() | st.lists(st.sampled_from(["\n\n", "\n", ". ", " ", "", "|", "word", "(", "\\"]), max_size=5)


@settings(deadline=None)
@given(text=TEXTS, size=st.integers(1, 80), overlap=st.integers(0, 79), separators=SEPARATORS)
def test_recursive_chunks_fit_and_lose_nothing(
    text: str, size: int, overlap: int, separators: list[str] | None
) -> None:
    document = Document("d", text)
    chunks = RecursiveTextSplitter(size, min(overlap, size - 1), separators).split(document)
    assert_offsets(document, chunks)
    assert all(0 < len(chunk.content) <= size for chunk in chunks)


@settings(deadline=None)
@given(text=TEXTS, size=st.integers(1, 80), overlap=st.integers(0, 79))
def test_neighbours_share_no_more_than_the_overlap(text: str, size: int, overlap: int) -> None:
    overlap = min(overlap, size - 1)
    chunks = RecursiveTextSplitter(size, overlap).split(Document("d", text))
    for before, after in itertools.pairwise(chunks):
        assert before.end_char - after.start_char <= overlap


@settings(deadline=None)
@given(text=TEXTS, count=st.integers(1, 6), overlap=st.integers(0, 5))
def test_sentence_chunks_lose_nothing(text: str, count: int, overlap: int) -> None:
    document = Document("d", text)
    assert_offsets(document, SentenceSplitter(count, min(overlap, count - 1)).split(document))


@settings(deadline=None)
@given(text=TEXTS, doc_type=st.sampled_from(DocumentType))
def test_every_type_of_document_is_split_alike(text: str, doc_type: DocumentType) -> None:
    document = Document("d", text, doc_type)
    spans = [(chunk.start_char, chunk.end_char) for chunk in RecursiveTextSplitter(30, 5).split(document)]
    plain = RecursiveTextSplitter(30, 5).split(Document("d", text))
    assert spans == [(chunk.start_char, chunk.end_char) for chunk in plain]


def test_the_separators_are_those_of_the_specification() -> None:
    assert RecursiveTextSplitter().separators == ["\n\n", "\n", ". ", " ", ""]
    assert RecursiveTextSplitter(separators=["|"]).separators == ["|"]


@pytest.mark.parametrize("separators", [None, ["\n\n", "\n", ". ", " ", ""]])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("one two\nthree\n\nfour", ["one two\nthree", "four"]),
        ("one two three\nfour", ["one two three", "four"]),
        ("One two. Three four", ["One two.", "Three four"]),
        ("one two three four", ["one two three", "four"]),
        ("onetwothreefourfive", ["onetwothreefo", "urfive"]),
    ],
)
def test_the_strongest_separator_cuts(text: str, expected: list[str], separators: list[str] | None) -> None:
    chunks = RecursiveTextSplitter(13, 0, separators).split(Document("d", text))
    assert [chunk.content for chunk in chunks] == expected


def test_finer_separators_are_not_used_where_chunks_fit() -> None:
    text = "One. Two.\nThree.\n\nFour."
    assert [chunk.content for chunk in RecursiveTextSplitter(100, 0).split(Document("d", text))] == [text]


@pytest.mark.parametrize("separators", [None, ["\n\n", "\n", ". ", " ", ""]])
@pytest.mark.parametrize("overlap", [0, 20])
def test_a_paragraph_that_fits_is_not_cut_after_a_short_one(overlap: int, separators: list[str] | None) -> None:
    paragraph = "This paragraph has a sentence. " * 3 + "End"
    assert len(paragraph) == 96
    chunks = RecursiveTextSplitter(100, overlap, separators).split(Document("d", f"Short.\n\n{paragraph}\n\nShort."))
    assert [chunk.content for chunk in chunks] == ["Short.", paragraph, "Short."]


@pytest.mark.parametrize("separators", [None, ["\n\n", "\n", ". ", " ", ""], [""]])
def test_text_without_separators_has_its_overlap(separators: list[str] | None) -> None:
    chunks = RecursiveTextSplitter(40, 10, separators).split(Document("d", "0123456789" * 13))
    assert [(chunk.start_char, chunk.end_char) for chunk in chunks] == [(0, 40), (30, 70), (60, 100), (90, 130)]


def test_literal_separators_are_no_patterns() -> None:
    chunks = RecursiveTextSplitter(8, 0, ["(.)", ""]).split(Document("d", "abcde(.)fghij"))
    assert [chunk.content for chunk in chunks] == ["abcde(.)", "fghij"]


def test_neighbours_share_the_overlap() -> None:
    chunks = RecursiveTextSplitter(20, 9).split(Document("d", "alpha beta gamma delta epsilon zeta"))
    assert [chunk.content for chunk in chunks] == ["alpha beta gamma", "gamma delta epsilon", "epsilon zeta"]


def test_an_overlap_that_is_not_given_fits_small_chunks() -> None:
    assert RecursiveTextSplitter(chunk_size=100).chunk_overlap == 20
    assert RecursiveTextSplitter(chunk_size=500).chunk_overlap == 200


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (-1, 0), (10, 10), (10, -1), (100, 200)])
def test_sizes_that_make_no_sense_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        RecursiveTextSplitter(size, overlap)


@pytest.mark.parametrize(("count", "overlap"), [(0, 0), (2, 2), (2, -1)])
def test_sentence_counts_that_make_no_sense_are_refused(count: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="must be at least"):
        SentenceSplitter(count, overlap)


def test_sentences_are_grouped_with_their_overlap() -> None:
    text = "Dr. Silva came. She left. It rained! Did it? Yes."
    chunks = SentenceSplitter(sentences_per_chunk=2, overlap=1).split(Document("d", text))
    assert [chunk.content for chunk in chunks] == [
        "Dr. Silva came. She left.",
        "She left. It rained!",
        "It rained! Did it?",
        "Did it? Yes.",
    ]


def test_emoji_and_flags_stay_whole() -> None:
    family, flag = "👩‍👩‍👧‍👦", "🇧🇷"
    for text, size, parts in ((family * 30, 24, family), (flag * 30, 7, flag)):
        chunks = RecursiveTextSplitter(size, 0).split(Document("d", text))
        assert all(set(chunk.content.split(parts)) == {""} for chunk in chunks)


@pytest.mark.parametrize("text", ["", "  \n\n \t"])
def test_nothing_gives_no_chunks(text: str) -> None:
    assert RecursiveTextSplitter().split(Document("d", text)) == []
    assert SentenceSplitter().split(Document("d", text)) == []
