"""Test that different spellings of a number, date, time, name or address compare equal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from answerable.text.claims import Kind, find_claims


def values(text: str, language: str = "en") -> set[str]:
    return {value for claim in find_claims(text, language) if claim.is_sure for value in claim.values}


def names(text: str, language: str = "en") -> list[str]:
    return [
        text[claim.start : claim.end]
        for claim in find_claims(text, language)
        if claim.kind is Kind.NAME and claim.is_sure
    ]


def test_numbers_and_dates() -> None:
    cases: list[tuple[str, str, set[str]]] = [
        ("1,234.5 and 1.234,5 and 1234.50", "en", {"1234.5"}),
        ("1.234", "es", {"1234", "1.234"}),
        ("1 234 567", "pt", {"1234567"}),
        ("0.125", "en", {"0.125"}),
        ("007", "en", {"7"}),
        ("version 3.10.2", "en", {"3.10.2"}),
        ("5 %, 5%, 5 percent, five per cent", "en", {"5%"}),
        ("5 por ciento, cinco por ciento", "es", {"5%"}),
        ("de 5 a 10 por cento", "pt", {"5%", "10%"}),
        ("3.5 million, 3,500,000", "en", {"3500000"}),
        ("20 mil millones, veinte mil millones", "es", {"20000000000"}),
        ("2,5 milhões", "pt", {"2500000"}),
        ("twenty-one, 21st, twenty-first", "en", {"21"}),
        ("one thousand nine hundred and forty-five", "en", {"1945"}),
        ("mil novecientos cuarenta y cinco", "es", {"1945"}),
        ("mil novecentos e quarenta e cinco", "pt", {"1945"}),
        ("two or three", "en", {"2", "3"}),
        ("third, 3rd", "en", {"3"}),
        ("5 March 2024, March 5th, 2024", "en", {"5", "month:3", "2024"}),
        ("el 5 de marzo de 2024", "es", {"5", "month:3", "2024"}),
        ("5 de março de 2024", "pt", {"5", "month:3", "2024"}),
        ("2024-03-15", "en", {"2024", "3", "month:3", "15"}),
        ("2:30 pm, 14h30", "en", {"time:870"}),
        ("in 1939–45", "en", {"1939", "1945", "45"}),
        ("the 1990s", "en", {"1990"}),
        ("it was -5 degrees", "en", {"-5"}),
        ("from 3-5 on", "en", {"3", "5"}),
        ("one of them, once", "en", set()),
        ("they may march on", "en", set()),
        ("uma vez no ano", "pt", set()),
    ]
    failed = [(text, got) for text, language, expected in cases if (got := values(text, language)) != expected]
    assert failed == []


def test_names_are_capitalised_words_other_than_at_a_sentence_start() -> None:
    assert names("Then Rollo met Charles III. He left: Paris. The NASA iPhone of Obama's.") == [
        "Rollo",
        "Charles",
        "III",
        "NASA",
        "iPhone",
        "Obama",
    ]


def test_roman_numerals_are_numbers_too() -> None:
    assert {"19", "xix"} <= values("o século XIX", "pt")


def test_addresses() -> None:
    text = "See https://evil.example/x). Or a@b.com, [here](javascript:1) and ![x](//host/p.png)."
    assert {"link:https://evil.example/x", "link:a@b.com", "link:javascript:1", "link://host/p.png"} <= values(text)


@given(st.text(max_size=300), st.sampled_from(["en", "es", "pt", "", "fr"]))
def test_claims_lie_within_any_text(text: str, language: str) -> None:
    reached = 0
    for claim in find_claims(text, language):
        assert reached <= claim.start < claim.end <= len(text)
        assert claim.values
        reached = claim.start


@given(st.integers(0, 10**15))
def test_separators_change_no_number(number: int) -> None:
    written = f"{number:,}"
    for text in (str(number), written, written.replace(",", "."), written.replace(",", "\u202f")):
        assert str(number) in values(f"It is {text} there.")


@given(st.integers(13, 99), st.sampled_from(["en", "es", "pt"]))
def test_two_languages_agree_on_digits(number: int, language: str) -> None:
    assert values(f"x {number} x", language) == {str(number)}
