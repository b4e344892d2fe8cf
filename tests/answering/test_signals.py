"""Test the signals of the best sentence against numbers computed by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from collecting import collect, text
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.found import Found
from answerable.answering.gate import LEXICAL, READ, SEMANTIC, Background, Signals, read_signals
from answerable.answering.reading import rank
from answerable.answering.sentences import Sentence, sentences
from answerable.datatypes import Document
from answerable.text.terms import rarity, term_weights

RANDOM = Background(0.7, 0.1)
GARDEN = "The red house stands. It was sold in May."


def best_of(evidence: Found) -> list[Sentence]:
    return rank(sentences(evidence))


def signals(evidence: Found, background: Background | None = None) -> Signals:
    return read_signals(evidence, best_of(evidence), background)


def contexts(question: str, document: Document) -> dict[str, float]:
    """Text of a sentence → the share of the question that only its surroundings have."""
    return {sentence.text: sentence.context for sentence in sentences(collect(question, document))}


def test_names_are_those_of_the_two_gates() -> None:
    assert set(Signals.__slots__) == {*LEXICAL, *SEMANTIC, *READ}
    assert len(Signals.__slots__) == len(LEXICAL) + len(SEMANTIC) + len(READ)


def test_a_library_of_one_chunk_by_hand() -> None:
    # Of red, house, garden and sold, the first two are in the first sentence, sold in the second, garden in none.
    evidence = collect("red house garden sold", text(GARDEN), similarities=[0.9, 0.6])
    found = signals(evidence, RANDOM)
    rare, known = rarity(1, 0), rarity(1, 1)
    total = rare + 3 * known
    assert found.coverage == pytest.approx(2 * known / total)
    assert found.near_coverage == pytest.approx(2 * known / total)
    assert found.chunk_coverage == pytest.approx(3 * known / total)
    assert found.hits == pytest.approx(math.log(3))
    assert found.misses == pytest.approx(math.log(2))
    assert (found.missing_names, found.not_denied) == (0, 0)
    present = term_weights(evidence.chunks[0].terms)
    assert found.keyword_margin == pytest.approx(known * sum(present[word] for word in ("red", "hous", "sold")) / total)
    assert found.similarity == pytest.approx(0.9)
    # Two sentences are too few to compare with: the background decides.
    assert found.standing == pytest.approx((0.9 - 0.7) / 0.1, rel=1e-5)
    assert found.passage_margin == pytest.approx(1 - 0.7)


def test_without_a_background_words_only() -> None:
    found = signals(collect("red house", text(GARDEN), similarities=[0.9, 0.6]))
    assert [getattr(found, name) for name in SEMANTIC] == [0, 0, 0]


def test_the_context_of_a_sentence_counts_as_covered() -> None:
    document = text("The red house stands. It was sold in May.", title="Oak street")
    found = signals(collect("red house street", document, similarities=[0.9, 0.6]))
    assert (found.coverage, found.hits) == (pytest.approx(1), pytest.approx(math.log(3)))


def test_a_similar_form_of_a_word_is_near() -> None:
    cases: list[tuple[str, str, int]] = [
        ("vendió", "Se vende pan.", 1),
        ("construction", "It was constructed here.", 1),
        ("university", "La universidad abre.", 1),
        # The same beginning, but most of the longer word is something else.
        ("interpretation", "The interns left.", 0),
        ("cat", "The cats purr.", 1),
        ("cat", "The catalogue is long.", 0),
        ("house", "It is a horse.", 0),
    ]
    for question, content, near in cases:
        found = signals(collect(question, text(content)))
        assert found.near_coverage == near, question


def test_sentences_without_vectors_have_their_chunks() -> None:
    evidence = collect("red house", text(GARDEN), similarities=[0.1, 0.2])
    bare = tuple(replace(chunk, sentence_vectors=chunk.sentence_vectors[:0]) for chunk in evidence.chunks)
    found = signals(replace(evidence, chunks=bare), RANDOM)
    assert found.similarity == pytest.approx(1)
    assert found.standing == pytest.approx((1 - 0.7) / 0.1, rel=1e-5)


def test_standing_compares_with_the_sentences_after_the_closest_three() -> None:
    document = text("The key is red. Two. Three. Four. Five.")
    found = signals(collect("red key", document, similarities=[0.9, 0.8, 0.8, 0.6, 0.4]), RANDOM)
    others, prior = [0.6, 0.4], 5
    mean = (sum(others) + prior * 0.7) / (len(others) + prior)
    squares = sum((other - mean) ** 2 for other in others) + prior * 0.1**2
    assert found.standing == pytest.approx((0.9 - mean) / math.sqrt(squares / (len(others) + prior)), rel=1e-5)


def test_a_background_of_one_passage_is_no_error() -> None:
    evidence = collect("red house", text("The red house stands."), similarities=[0.7])
    found = signals(evidence, Background(0.7, 0.0))
    assert found.standing == pytest.approx(0, abs=1e-6)


def test_margins_are_above_the_next_chunk() -> None:
    evidence = collect(
        "red house", text("The red house stands."), text("The blue house fell."), similarities=[0.9, 0.5]
    )
    first, second = evidence.chunks
    apart = replace(second, vector=np.array([0.8, 0.6], np.float32))
    found = signals(replace(evidence, chunks=(first, apart)), RANDOM)
    red, house = (evidence.word_weights[frozenset({term})] for term in ("red", "hous"))
    here, there = term_weights(first.terms), term_weights(second.terms)
    score = (red * here["red"] + house * here["hous"]) / (red + house)
    assert found.keyword_margin == pytest.approx(score - house * there["hous"] / (red + house))
    assert found.passage_margin == pytest.approx(0.2)
    # Another chunk that is nearer still speaks against it.
    behind = signals(replace(evidence, chunks=(replace(first, vector=apart.vector), second)), RANDOM)
    assert behind.passage_margin == pytest.approx(-0.2)


def test_the_next_chunk_counts_only_above_the_background() -> None:
    evidence = collect(
        "red house", text("The red house stands."), text("The blue house fell."), similarities=[0.9, 0.5]
    )
    first, second = evidence.chunks
    far = replace(second, vector=np.array([0.0, 1.0], np.float32))
    assert signals(replace(evidence, chunks=(first, far)), RANDOM).passage_margin == pytest.approx(0.3)


def test_names_and_numbers_that_the_chunk_lacks() -> None:
    cases: list[tuple[str, str, int]] = [
        ("Where does Ana Berg live?", "Ana Berg lives here.", 0),
        ("Where does Ana Berg live?", "Ana lives here.", 1),
        ("Where does Ana Berg live?", "He lives here.", 2),
        ("Where did they live in 1990?", "They lived here in 1991.", 1),
        ("Where did they live in 1990?", "They lived here in 1990.", 0),
        # The first word has a capital for another reason.
        ("Berg lives where?", "He lives here.", 0),
        ("¿Dónde vive José?", "Jose vive here.", 0),
        ("What costs 3.50 euros?", "It costs 3.50 euros.", 0),
        ("What costs 3.50 euros?", "It costs 3 euros.", 1),
        ("What is on the 2nd floor?", "A bar is on the 2nd floor.", 0),
        ("What is code GLD-4471?", "The code is GLD-4471.", 0),
        ("What is code GLD-4471?", "The code is GLD-4472.", 1),
        # Scripts without capitals have no names to tell by.
        ("ما هي عاصمة فرنسا", "Nothing of it.", 0),
        ("法国的首都是什么", "Nothing of it.", 0),
    ]
    failed = [
        (question, got)
        for question, content, missing in cases
        if (got := signals(collect(question, text(content))).missing_names) != missing
    ]
    assert failed == []


def test_negation_in_the_question_only() -> None:
    cases: list[tuple[str, str, int]] = [
        ("Which mill was not sold?", "The mill was sold.", 1),
        ("Which mill wasn't sold?", "The mill was never sold.", 0),
        ("Which mill was sold?", "The mill was not sold.", 0),
        ("Which mill was not only sold?", "The mill was sold.", 0),
    ]
    failed = [
        (question, got)
        for question, content, lacks in cases
        if (got := signals(collect(question, text(content), language="en")).not_denied) != lacks
    ]
    assert failed == []


def test_no_is_in_the_in_portuguese() -> None:
    document = Document.from_text("O chá foi bebido.", language="pt")
    assert signals(collect("O que foi bebido no chá?", document, language="pt")).not_denied == 0
    assert signals(collect("O que não foi bebido?", document, language="pt")).not_denied == 1


def test_a_question_of_stop_words_only() -> None:
    found = signals(collect("What is it?", text(GARDEN)), RANDOM)
    assert (found.coverage, found.chunk_coverage, found.hits, found.misses, found.keyword_margin) == (0, 0, 0, 0, 0)


@given(
    st.text(max_size=80),
    st.lists(st.floats(-1, 1), min_size=1, max_size=40),
    st.floats(-1, 1),
    st.floats(0, 1),
)
def test_every_signal_is_a_number(question: str, similarities: list[float], mean: float, deviation: float) -> None:
    document = text(" ".join(f"Sentence {number} says this." for number in range(len(similarities))))
    found = signals(collect(question, document, similarities=similarities), Background(mean, deviation))
    assert all(math.isfinite(value) for value in found.as_dict().values())
    assert 0 <= found.coverage <= 1 + 1e-9
    assert found.coverage <= found.chunk_coverage + 1e-9


# The context of a sentence


def test_the_context_of_a_row_includes_the_first_row_and_the_line_before_its_table() -> None:
    document = text(
        "Opening hours of the pool:\n\n| Day | Morning | Evening |\n|---|---|---|\n| Monday | 9 | 17 |\n"
        "| Sunday | 10 | 18 |\n\nTickets are sold inside.\n\n| Day | Price |\n|---|---|\n| Sunday | 4 |\n"
    )
    found = contexts("pool evening sunday price", document)
    weight = 1 / 4
    assert found["| Day | Morning | Evening |"] == pytest.approx(weight)
    # Evening is in the first row, pool in the line before the table.
    assert found["| Monday | 9 | 17 |"] == pytest.approx(2 * weight)
    assert found["| Sunday | 10 | 18 |"] == pytest.approx(2 * weight)
    # The second table has nothing of the first.
    assert found["| Sunday | 4 |"] == pytest.approx(weight)


def test_the_context_of_an_item_includes_the_line_before_its_list() -> None:
    document = text(
        "The warranty covers:\n\n- the pump. It must be sealed.\n- the boiler\n- the seals\n\nClean it weekly."
    )
    found = contexts("warranty pump boiler seals weekly", document)
    fifth = 1 / 5
    items = {name.lstrip("- "): context for name, context in found.items()}
    assert items["the pump."] == pytest.approx(fifth)
    assert items["the seals"] == pytest.approx(2 * fifth)  # warranty, and the boiler before it
    # The text after a list follows its last item but does not introduce it.
    assert items["Clean it weekly."] == pytest.approx(fifth)


def test_item_markers() -> None:
    for mark in ["-", "*", "+", "•", "1.", "12)", "a)", "b."]:
        document = text(f"The warranty covers\n\n{mark} pumps of all kinds\n\n{mark} boilers of all kinds\n")
        found = contexts("warranty boilers", document)
        (last,) = (context for name, context in found.items() if "boilers" in name)
        assert last == pytest.approx(0.5), mark


def test_the_context_of_a_plain_sentence_is_the_one_before() -> None:
    found = contexts("warranty pump boiler", text("The warranty is long. The pump is red. The boiler is blue."))
    assert found["The boiler is blue."] == pytest.approx(1 / 3)
    assert found["The pump is red."] == pytest.approx(1 / 3)
    assert found["The warranty is long."] == 0
