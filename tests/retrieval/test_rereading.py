"""Test reranking: which questions ask for a fact, what feedback changes, and scoring by the best sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from answerable.datatypes import Chunk, Document, FloatArray, Location
from answerable.protocols import IndexedChunk
from answerable.retrieval.hybrid import Candidates, CrossLingual
from answerable.retrieval.retriever import focus, reread, with_feedback
from answerable.text.terms import terms

SEARCHED = Candidates([], [], [], 0.025)
NORTH = np.array([1.0, 0.0], np.float32)


def stored(text: str, cosines: tuple[float, ...], whole: float = 0.8) -> tuple[IndexedChunk, Document]:
    """A chunk of one sentence a line, whose vectors have these cosines with NORTH."""
    chunk = Chunk(text, text, text, 0, len(text), 0, Location((1, 1)))
    ends = [len(text), *(place for place, mark in enumerate(text) if mark == "\n")]
    spans = tuple(zip([0, *(end + 1 for end in sorted(ends)[:-1])], sorted(ends), strict=True))
    vectors = np.stack([_at(cosine) for cosine in cosines]) if cosines else np.zeros((0, 2), np.float32)
    counts = dict.fromkeys(terms(text, "en"), 1)
    return IndexedChunk(chunk, _at(whole), counts, {}, spans, vectors), Document(text, text, language="en")


def _at(cosine: float) -> FloatArray:
    return np.array([cosine, np.sqrt(1 - cosine**2)], np.float32)


def test_short_questions_ask_for_one_thing_and_long_ones_describe_a_topic() -> None:
    assert [focus(words) for words in (0, 5, 10, 40)] == [1.0, 1.0, 0.0, 0.0]
    assert focus(7) == pytest.approx(0.6)


def test_a_sentence_with_all_the_words_beats_words_scattered_over_sentences() -> None:
    weights = {frozenset({"cat"}): 1.0, frozenset({"fish"}): 1.0}
    found = {
        1: stored("Cats sleep.\nDogs eat fish.", (0.85, 0.85)),
        2: stored("Cats eat fish.\nDogs bark.", (0.85, 0.8)),
    }
    scored = [(1, 0.9), (2, 0.85), (3, 0.1)]
    scores = reread(scored, found, NORTH, weights, SEARCHED, amount=1.0)
    assert [number for number, _ in scores] == [2, 1, 3]
    assert reread(scored, found, NORTH, weights, SEARCHED, amount=0.0) == scored


def test_a_sentence_near_in_meaning_counts_where_words_are_of_another_language() -> None:
    found = {1: stored("Cats sleep.", (0.80,)), 2: stored("Stones fall.", (0.90,))}
    scores = reread([(1, 0.9), (2, 0.9)], found, NORTH, {frozenset({"gato"}): 1.0}, SEARCHED, 1.0)
    assert [number for number, _ in scores] == [2, 1]


def test_a_passage_in_another_language_is_compared_at_its_own_level() -> None:
    weights = {frozenset({"gato"}): 1.0, frozenset({"come"}): 1.0}
    found = {1: stored("El gato duerme.", (0.80,)), 2: stored("Cats eat fish.", (0.82,))}
    scored = [(1, 0.9), (2, 0.9)]
    assert reread(scored, found, NORTH, weights, SEARCHED, 1.0)[0][0] == 1
    calibrated = replace(SEARCHED, calibration=CrossLingual(frozenset({2}), 0.1))
    assert reread(scored, found, NORTH, weights, calibrated, 1.0)[0][0] == 2


def test_chunks_without_sentence_vectors_or_sentences_keep_a_score_within_bounds() -> None:
    bare, document = stored("Cats sleep.", ())
    scores = reread(
        [(1, 1.0), (2, 0.2)], {1: (bare, document), 2: stored("", ())}, NORTH, {}, replace(SEARCHED, deviation=0.0), 1.0
    )
    assert [number for number, _ in scores] == [1, 2]
    assert all(0 <= score <= 1 for _, score in scores)


def test_feedback_moves_towards_what_was_found_unless_there_is_a_clear_winner() -> None:
    found = {1: stored("a", (), 0.6), 2: stored("b", (), 0.5)}
    moved = with_feedback(NORTH, [(1, 0.9), (2, 0.9)], found, amount=1.0)
    assert np.linalg.norm(moved) == pytest.approx(1.0, abs=1e-6)
    assert moved @ _at(0.55) > NORTH @ _at(0.55)
    assert with_feedback(NORTH, [(1, 0.9), (2, 0.1)], found, 1.0) @ NORTH == pytest.approx(1.0, abs=1e-4)
    assert np.array_equal(with_feedback(NORTH, [], {}, 1.0), NORTH)
