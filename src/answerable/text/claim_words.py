"""Lists of words for numbers, months, negations and opposites in each language, from `words/claims.toml`.

The words are in lower case and without accents, like the output of `fold`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from answerable.text.word_lists import FOLDER, read_toml

PERCENT = r"%|percent\b|per cent\b|por\s?ciento\b|por cento\b"


@dataclass(frozen=True, slots=True)
class ClaimWords:
    """The word lists of one language."""

    units: Mapping[str, int]
    tens: Mapping[str, int]
    hundreds: Mapping[str, int]
    scales: Mapping[str, int]
    ordinals: Mapping[str, int]
    joining: str
    negations: frozenset[str]
    opposites: Mapping[str, frozenset[str]]


@cache
def claim_words(language: str) -> ClaimWords:
    """Return the word lists of a language, or the English lists for a language without its own."""
    lists = _lists()
    words = lists.get(language) or lists["en"]
    return ClaimWords(
        units=_numbered(words["units"], 0),
        tens=_numbered(words["tens"], 2, 10),
        hundreds=_numbered(words["hundreds"], 1, 100),
        scales=words["scales"],
        ordinals=_numbered(words["ordinals"], 1),
        joining=words["joining"],
        negations=frozenset(words["negations"].split()),
        opposites=_opposites(words["opposites"]),
    )


@cache
def months() -> Mapping[str, int]:
    """Return the number of each month by its names and abbreviations, in all languages."""
    return _numbered(_lists()["any"]["months"], 1)


@cache
def shared_words(name: str) -> frozenset[str]:
    """Return a list that all languages share; `name` is `unsure`, `unsure_months` or `only`."""
    return frozenset(_lists()["any"][name].split())


def _lists() -> Mapping[str, Any]:
    return read_toml(FOLDER / "claims.toml")


def _numbered(words: str, first: int, factor: int = 1) -> dict[str, int]:
    """Number the words upwards from `first`; words separated by `/` get one number."""
    return {word: factor * number for number, group in enumerate(words.split(), first) for word in group.split("/")}


def _opposites(groups: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for group in groups.split():
        words = group.split("/")
        for word in words:
            found.setdefault(word, set()).update(other for other in words if other != word)
    return {word: frozenset(others) for word, others in found.items()}
