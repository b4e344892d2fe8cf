"""Words exchanged for their translations: right ones, never names, never of the same language."""

from __future__ import annotations

import random

import pytest
from training.corpus import Builder, Corpus
from training.other_words import OtherWords

from answerable.e5.model_file import ModelFile, model_path

ENGLISH = "The price of a ticket for children and their money is the same in March, and nobody smokes a cigarette."
SPANISH = "El precio de la entrada de los niños es el mismo en marzo; el dinero se devuelve antes del verano."


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    builder = Builder()
    builder.passage(ENGLISH, "en", "town")
    builder.passage(SPANISH, "es", "town")
    return builder.corpus


@pytest.fixture(scope="module")
def words(corpus: Corpus) -> OtherWords:
    return OtherWords(corpus, ModelFile(model_path()))


def test_words_become_their_translations(words: OtherWords) -> None:
    draw = random.Random(0)
    made = {words.exchange("What is the price for children?", draw) for _ in range(60)}
    assert any("precio" in text for text in made)
    assert any("niños" in text for text in made)
    assert "What is the price for children?" in made
    assert all(text.startswith("What is the ") for text in made)


def test_names_and_words_that_no_text_has_stay(words: OtherWords) -> None:
    draw = random.Random(0)
    for text in ("Who is Price?", "¿Quién es Ana?", "MONEY-4711", "umbrella"):
        assert {words.exchange(text, draw) for _ in range(30)} == {text}


def test_the_same_draw_exchanges_the_same_words(words: OtherWords, corpus: Corpus) -> None:
    again = OtherWords(corpus, ModelFile(model_path()))
    assert len(again) == len(words) > 3
    text = "the price of money for children"
    first, second = ([each.exchange(text, random.Random(seed)) for seed in range(20)] for each in (words, again))
    assert first == second
