"""Words exchanged for their translations: right ones, never names, never of the same language."""

from __future__ import annotations

import random

import pytest
from training.corpus import Builder, Corpus
from training.other_words import OtherWords

from answerable.e5.weights import ModelFile, model_path

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
    assert "precio" in words.translations("price", "en", "es")
    assert "money" in words.translations("dinero", "es", "en")
    assert words.translations("When", "en", "pt") == ["Quando"]
    draw = random.Random(0)
    made = {words.exchange("Where is the price for children?", "en", "es", 0.5, draw) for _ in range(200)}
    assert "Where is the price for children?" in made
    assert any(text.startswith("Dónde es ") and text.endswith(" para niños?") for text in made)


def test_names_and_words_that_no_text_has_stay(words: OtherWords) -> None:
    draw = random.Random(0)
    for text in ("Price", "MONEY-4711", "umbrella", "WHO", "Ana Money"):
        assert words.exchange(text, "en", "es", 1.0, draw) == text
    text = "the price of money for children"
    assert words.exchange(text, "en", "en", 1.0, draw) == text
    assert words.exchange(text, "en", "fr", 1.0, draw) == text


def test_the_same_draw_exchanges_the_same_words(words: OtherWords, corpus: Corpus) -> None:
    again = OtherWords(corpus, ModelFile(model_path()))
    text = "the price of money for children"
    first, second = (
        [each.exchange(text, "en", "es", 0.5, random.Random(seed)) for seed in range(20)] for each in (words, again)
    )
    assert first == second
