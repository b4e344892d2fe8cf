"""What a question measures ("the oldest", "how long", "litres"), and how tables name it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from answerable.computing.vocabulary import word_lists, words_of
from answerable.computing.word_forms import stems_of
from answerable.text.terms import fold

_UNITS, _MONEY = "units", "money"


@dataclass(frozen=True)
class Measure:
    """Something that can be measured.

    `most`, `least` and `asked` find words for it in a question, in lower case without accents. `columns` are stems of
    columns' names, `units` their units, in lower case. `is_loose`: the adjectives are said of any number ("más alto").
    """

    is_money: bool
    is_loose: bool
    most: re.Pattern[str] | None
    least: re.Pattern[str] | None
    asked: re.Pattern[str] | None
    columns: frozenset[str]
    units: frozenset[str]

    def has(self, name_stems: frozenset[str], unit: str) -> bool:
        """Return whether a column with these stems of its name, or with this unit, holds the measure."""
        is_unit = is_currency(unit) if self.is_money else unit.lower() in self.units
        return is_unit or bool(name_stems & self.columns)


@cache
def measures() -> dict[str, Measure]:
    """Return everything that can be measured, by name."""
    return {
        name: Measure(
            name == _MONEY,
            lists.get("is_loose", False),
            _pattern(lists["most"]),
            _pattern(lists["least"]),
            _pattern(lists["asked"]),
            stems_of(lists["columns"].split()),
            frozenset(lists["units"].split()),
        )
        for name, lists in word_lists("measures").items()
        if name != _UNITS
    }


@cache
def measured_stems() -> frozenset[str]:
    """Return the stems of names of columns that measure or count something."""
    listed = stems_of(word for name in ("money", "quantities", "sums") for word in words_of("words", name))
    return listed.union(*(measure.columns for measure in measures().values()))


@cache
def unit_words(unit: str) -> frozenset[str]:
    """Return the words for a column's unit, in lower case without accents."""
    if not unit or unit == "%":
        return frozenset()
    plain = unit.lower()
    return frozenset({plain, *fold(word_lists("measures")[_UNITS].get(plain, "")).split()})


def is_currency(unit: str) -> bool:
    """Return whether a column's unit is a currency's code."""
    return len(unit) == 3 and unit.isupper()


def _pattern(shape: str) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w)(?:{shape})(?!\w)", re.VERBOSE) if shape else None
