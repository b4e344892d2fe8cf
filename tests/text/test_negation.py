"""A quote that leaves out the negation before it says the opposite."""

from __future__ import annotations

from answerable.text.negation import loses_negation, negations


def lost(text: str, quote: str, around: str = "", language: str = "en") -> bool:
    start = text.index(quote)
    return loses_negation(text, [(start, start + len(quote))], around or quote, language)


def test_a_negation_of_the_same_clause_is_lost() -> None:
    assert lost("Dogs are welcome. You may not smoke in the rooms.", "smoke in the rooms")
    assert lost("Hay perros; no se puede fumar en las habitaciones.", "fumar en las habitaciones", language="es")
    assert not lost("It is not far. You may smoke in the rooms.", "smoke in the rooms")


def test_a_negation_that_stands_around_the_quote_is_not_lost() -> None:
    assert not lost("You may not smoke in the rooms.", "smoke in the rooms", around="You may not “smoke in the rooms”.")


def test_a_negation_between_the_spans_of_a_quote_is_lost() -> None:
    text = "You may never smoke in the rooms."
    assert loses_negation(text, [(0, 7), (text.index("smoke"), len(text))], "You may smoke in the rooms.", "en")


def test_not_only_negates_nothing() -> None:
    assert negations("Not only Ana, nobody came.", "en") == ["nobody"]
