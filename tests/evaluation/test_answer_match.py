"""Test the comparison of an answer's words with the expected answer."""

from __future__ import annotations

import pytest

from answerable.evaluation.metrics import holds, token_f1, tokens


def test_tokens() -> None:
    cases: list[tuple[str, str, list[str]]] = [
        ("The Panthers' defense, a 24–10 win!", "en", ["panthers", "defense", "2410", "win"]),
        ("¿La torre? ¡Un «faro» de los romanos!", "es", ["torre", "faro", "de", "romanos"]),
        ("Os três, a mãe e uma avó.", "pt", ["três", "mãe", "e", "avó"]),
        ("L’homme et l'eau", "fr", ["homme", "et", "eau"]),
        ("don't", "en", ["dont"]),
        ("The a", "en", ["the", "a"]),
        ("la", "", ["la"]),
        ("el", "en", ["el"]),
        ("東京は2020年", "ja", ["東", "京", "は", "2020", "年"]),
        ("ação", "pt", ["ação"]),
        ("?!", "en", []),
    ]
    failed = [(text, got) for text, language, expected in cases if (got := tokens(text, language)) != expected]
    assert failed == []


def test_an_answer_stands_in_a_text_word_for_word() -> None:
    assert holds("It was built in 1889, by G. Eiffel.", ["1889"], "en")
    assert holds("It was built by G. Eiffel.", ["no", "g eiffel"], "en")
    assert not holds("It was built in 18891.", ["1889"], "en")
    assert not holds("Eiffel, said G.", ["G. Eiffel"], "en")
    assert not holds("anything", [], "en")
    assert not holds("anything", ["?"], "en")
    assert holds("Foi a mãe da rainha", ["mãe da a rainha"], "pt")
    assert holds("首都是北京。", ["北京"], "zh")


def test_f1_is_that_of_the_best_answer() -> None:
    assert token_f1("the cat sat", ["A cat sat."], "en") == 1
    assert token_f1("cat sat on mat", ["cat", "cat mat"], "en") == pytest.approx(2 * 2 / (4 + 2))
    assert token_f1("cat cat", ["cat"], "en") == pytest.approx(2 / 3)
    assert token_f1("dog", ["cat"], "en") == token_f1("", ["cat"], "en") == token_f1("cat", [], "en") == 0
