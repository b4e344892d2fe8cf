"""Test the signals of the best sentence against numbers computed by hand."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import pytest
from collecting import collect, text
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.found import Found
from answerable.answering.gate import UNREAD, Signals, read_signals
from answerable.answering.reading import rank
from answerable.answering.sentences import Sentence, sentences
from answerable.datatypes import Document
from answerable.text.terms import rarity

GARDEN = "The red house stands. It was sold in May."


def best_of(evidence: Found) -> list[Sentence]:
    return rank(sentences(evidence))


def signals(evidence: Found) -> Signals:
    return read_signals(evidence, best_of(evidence))


def contexts(question: str, document: Document) -> dict[str, float]:
    """Text of a sentence → the share of the question that only its surroundings have."""
    return {sentence.text: sentence.context for sentence in sentences(collect(question, document))}


def test_words_and_meaning_are_those_of_the_best_sentence() -> None:
    # Of red, house, garden and sold, the first two are in the first sentence, sold in the second, garden in none.
    found = signals(collect("red house garden sold", text(GARDEN), similarities=[0.9, 0.6]))
    rare, known = rarity(1, 0), rarity(1, 1)
    assert found.words == pytest.approx(2 * known / (rare + 3 * known))
    assert found.meaning == pytest.approx(0.9)
    assert found.reading == 0


def test_the_reading_is_that_of_the_best_sentence() -> None:
    found = collect("red house", text(GARDEN), similarities=[0.9, 0.6])
    first, second = best_of(found)
    assert read_signals(found, [replace(first, reading=2.5), second]).reading == 2.5
    assert read_signals(found, [first, replace(second, reading=2.5)]).reading == UNREAD


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
        assert found.words == near, question


def test_sentences_without_vectors_have_their_chunks() -> None:
    evidence = collect("red house", text(GARDEN), similarities=[0.1, 0.2])
    bare = tuple(replace(chunk, sentence_vectors=chunk.sentence_vectors[:0]) for chunk in evidence.chunks)
    assert signals(replace(evidence, chunks=bare)).meaning == pytest.approx(1)


def test_a_question_of_stop_words_only() -> None:
    assert signals(collect("What is it?", text(GARDEN))).words == 0


@given(st.text(max_size=80), st.lists(st.floats(-1, 1), min_size=1, max_size=40))
def test_every_signal_is_a_number(question: str, similarities: list[float]) -> None:
    document = text(" ".join(f"Sentence {number} says this." for number in range(len(similarities))))
    found = signals(collect(question, document, similarities=similarities))
    assert all(math.isfinite(value) for value in asdict(found).values())
    assert 0 <= found.words <= 1 + 1e-9


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
