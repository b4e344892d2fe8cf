"""The words of computing: word lists (`words/*.toml`), word forms, measures, and the names of documents.

What a question measures ("the oldest", "how long", "litres") is looked for in the names and units of columns. Documents
are named by title, file name and type: "the board minutes", "el contrato", "lighthouse book".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from answerable.datatypes import Document, DocumentType
from answerable.formats.locate import shown_name
from answerable.protocols import StoredDocument
from answerable.text.terms import fold, terms, words
from answerable.text.word_lists import LANGUAGES, read_toml

_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists. Each file is read only once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


@cache
def words_of(section: str, name: str) -> frozenset[str]:
    """Return a word list of `operations.toml`, in lower case without accents."""
    lists = word_lists("operations")
    for step in section.split("."):
        lists = lists[step]
    return frozenset(fold(word) for word in lists[name].split())


@cache
def pattern(section: str, name: str) -> re.Pattern[str]:
    """Return a pattern of `operations.toml`, which matches whole words only."""
    return re.compile(rf"(?<!\w)(?:{word_lists('operations')[section][name]})(?!\w)", re.VERBOSE)


@cache
def listed_stems() -> frozenset[str]:
    """Return the stems of all words in `operations.toml` and `measures.toml`, including the words in patterns."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, dict):
            for each in value.values():
                yield from texts(each)
        elif isinstance(value, str):
            yield value

    return stems_of(text for name in ("operations", "measures") for text in texts(word_lists(name)))


def spoken(name: str) -> str:
    """Return a column's name in plain words: "paid by" for `paid_by` and `paidBy`."""
    return _HUMP.sub(" ", name.replace("_", " "))


@lru_cache(maxsize=50_000)
def stems(word: str) -> frozenset[str]:
    """Return the stems of a word in every supported language, and the word itself, without accents."""
    plain = fold(word.lower())
    return frozenset({plain, *(stem for language in LANGUAGES for stem in terms(plain, language))})


def stems_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the stems of all words of these texts."""
    return frozenset[str]().union(*(stems(word) for text in texts for word in words(text)))


_UNITS, _MONEY = "units", "money"


@dataclass(frozen=True)
class Measure:
    """Something that can be measured, such as age or price.

    `most`, `least` and `asked` are patterns for it in a question in lower case without accents. `columns` are stems in
    column names, `units` the units in lower case. `is_loose`: its adjectives fit any number ("más alto").
    """

    is_money: bool
    is_loose: bool
    most: re.Pattern[str] | None
    least: re.Pattern[str] | None
    asked: re.Pattern[str] | None
    columns: frozenset[str]
    units: frozenset[str]

    def has(self, name_stems: frozenset[str], unit: str) -> bool:
        """Return whether a column holds the measure, judging by the stems of its name or by its unit."""
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
    """Return the stems that occur in names of columns that measure or count something."""
    listed = stems_of(word for name in ("money", "quantities", "sums") for word in words_of("words", name))
    return listed.union(*(measure.columns for measure in measures().values()))


@cache
def unit_words(unit: str) -> frozenset[str]:
    """Return the words that people use for a column's unit, in lower case without accents."""
    if not unit or unit == "%":
        return frozenset()
    plain = unit.lower()
    return frozenset({plain, *fold(word_lists("measures")[_UNITS].get(plain, "")).split()})


def is_currency(unit: str) -> bool:
    """Return whether a column's unit is a currency code."""
    return len(unit) == 3 and unit.isupper()


def _pattern(shape: str) -> re.Pattern[str] | None:
    return re.compile(rf"(?<!\w)(?:{shape})(?!\w)", re.VERBOSE) if shape else None


_BREAKS = re.compile(r"[_\-.]+|(?<=[a-z])(?=[A-Z])|(?<=\D)(?=\d)")


def name_of(document: Document | StoredDocument) -> str:
    """Return the name to show: the file name; for messages and documents without a file name, the title."""
    if document.type == DocumentType.MAIL:
        return shown_name(document)
    return PurePosixPath(document.source.rpartition("!/")[2].split("?")[0]).name or document.title or document.id


def name_stems(document: StoredDocument) -> frozenset[str]:
    """Return the stems of the words in a document's title and file name."""
    return stems_of((document.title, _BREAKS.sub(" ", PurePosixPath(name_of(document)).stem)))


def documents_named(text: str, documents: Sequence[StoredDocument]) -> list[StoredDocument]:
    """Return the documents that a text names best, by file name, title or type: several if they match equally.

    Words in the names of many documents say little, so a word counts the less, the more documents have it.
    """
    named = {document.id: name_stems(document) for document in documents}
    types = {
        document.id: frozenset(word_lists("library")["nouns"].get(document.type, "").split()) for document in documents
    }
    scores: dict[str, float] = {}
    for word in set(words(fold(text.lower()))) - words_of("words", "neutral"):
        own = stems(word)
        having = [each for each in documents if own & named[each.id] or word in types[each.id]]
        for each in having:
            scores[each.id] = scores.get(each.id, 0.0) + (1.0 if own & named[each.id] else 0.5) / len(having)
    best = max(scores.values(), default=0.0)
    return [each for each in documents if best and scores.get(each.id, 0.0) >= best - 1e-9]
