"""What a question asks to be computed: a count, a total, the first row, the rows that meet a condition."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

from answerable.computing.measures import measures
from answerable.computing.vocabulary import pattern, words_of
from answerable.datatypes import Span
from answerable.tables.database import Operator
from answerable.tables.values import read_value

# "12 March", "the 3rd", "2024-05-01", "10:30", "3/4": numbers that belong to a date or a name.
_NUMBER = re.compile(r"(?<![\w/:.,-])(?:[^\W\d_]{0,3}[$€£]\s?)?\d[\d.,]*(?:\s?[€$£%])?(?![\w/:-])")
# "Between 5 and 9 euros" is a limit, "between 5 March and 9 May" isn't.
_LINK = re.compile(r"\s*(?:euros?|eur|usd|dollars?|pounds?|reais|pesos|%|kg|km)?\s*(?:and|y|e|to|a|-|hasta|ate)\s*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


_COMPARISON = 40
"""The most characters of the words before a number that make it a limit."""
SHORT = 6
"""The most words of a question that names a group but no figure."""


class Asked(str, Enum):
    """What is asked to be computed."""

    COUNT = "count"
    TOTAL = "total"
    AVERAGE = "average"
    MOST = "most"
    LEAST = "least"
    FIRST = "first"
    LAST = "last"
    ANY = "any"
    LIST = "list"
    AMOUNT = "amount"


@dataclass(frozen=True, slots=True)
class Limit:
    """A condition on numbers: "more than 50 euros", "between 3 and 5"."""

    operator: Operator
    number: float
    span: Span


@dataclass(frozen=True, slots=True)
class Operation:
    """What is asked, and the words that say so.

    `spans` are those words in the question. `asks_who` means that a person is asked for; `noun` is what else is asked
    for ("which month"), `each` what the figure is asked for each of ("per person"), `measure` the name of what is
    compared or added up ("oldest": age); "" without. `asks_amount` is whether it has "how much", `counts` "how many";
    `is_of_one` whether it compares single numbers ("the highest") rather than how many or much there is ("the most").
    """

    asked: Asked
    spans: tuple[Span, ...]
    asks_who: bool = False
    noun: str = ""
    each: str = ""
    measure: str = ""
    asks_amount: bool = False
    counts: bool = False
    is_of_one: bool = False
    limits: tuple[Limit, ...] = ()


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the question, in lower case without accents, and its place."""

    word: str
    start: int
    end: int


def find_operation(folded: str) -> Operation | None:
    """Return what a question asks to be computed; None if nothing is. `folded` is in lower case without accents."""
    found = [(asked, match) for asked in Asked if (match := _pattern_of(asked).search(folded))]
    measured = list(_measured(folded))
    found += [(asked, match) for asked, match, _ in measured]
    each = pattern("asked", "each").search(folded)
    if not found and each and len(_WORD.findall(folded)) <= SHORT:
        # "Messages by month".
        return Operation(Asked.COUNT, (), each=each["noun"])
    if not found:
        return None
    if any(asked in (Asked.MOST, Asked.LEAST) and _is_beside(match, folded) for asked, match in found):
        found = [pair for pair in found if pair[0] is not Asked.TOTAL]
    asked, first = min(found, key=lambda pair: _ORDER.index(pair[0]))
    spans = [match.span() for kind, match in found if kind in (asked, Asked.COUNT, Asked.LIST, Asked.AMOUNT)]
    if asked is Asked.TOTAL and any(kind is Asked.COUNT for kind, _ in found):
        # "The total number of members", "how many litres in total": a column decides which of the two.
        spans.append(first.span())
    which = pattern("asked", "which").search(folded)
    return Operation(
        asked,
        tuple(spans),
        asks_who=bool(pattern("asked", "who").search(folded)),
        noun=which["noun"] if which else "",
        each=each["noun"] if each else "",
        measure=_best_measure(measured, asked),
        asks_amount=any(kind is Asked.AMOUNT for kind, _ in found),
        counts=any(kind is Asked.COUNT for kind, _ in found),
        is_of_one=first[0] not in words_of("words", "bare_superlatives") and not _is_beside(first, folded),
        limits=tuple(_limits(folded)),
    )


def _measured(folded: str) -> Iterator[tuple[Asked, re.Match[str], str]]:
    """Yield what the question compares or asks the figure of: "the oldest", "how long"."""
    for name, measure in measures().items():
        for asked, shape in ((Asked.MOST, measure.most), (Asked.LEAST, measure.least), (Asked.AMOUNT, measure.asked)):
            if shape and (match := shape.search(folded)):
                yield asked, match, name


def _best_measure(measured: Sequence[tuple[Asked, re.Match[str], str]], asked: Asked) -> str:
    """Return what is measured: by a word of the operation, otherwise by any ("how old are they on average")."""
    return next((name for own, _, name in measured if own is asked), measured[0][2] if measured else "")


def _is_beside(match: re.Match[str], folded: str) -> bool:
    """Return whether a superlative is of a total: "the highest total", "el total más alto"."""
    return bool(_TOTAL.match(folded, match.end()) or _TOTAL_BEFORE.search(folded, 0, match.start()))


_TOTAL = re.compile(r"\s+tota(?:l|les|is)(?!\w)")
_TOTAL_BEFORE = re.compile(r"(?<!\w)tota(?:l|les|is)\s+$")
_ORDER = [
    Asked.AVERAGE,
    Asked.TOTAL,
    Asked.LEAST,
    Asked.MOST,
    Asked.COUNT,
    Asked.LAST,
    Asked.FIRST,
    Asked.AMOUNT,
    Asked.ANY,
    Asked.LIST,
]


def _pattern_of(asked: Asked) -> re.Pattern[str]:
    return pattern("operations", asked.value)


_OPERATORS = {
    "at_least": Operator.AT_LEAST,
    "at_most": Operator.AT_MOST,
    "above": Operator.ABOVE,
    "below": Operator.BELOW,
}


def _limits(folded: str) -> Iterator[Limit]:
    numbers = list(_NUMBER.finditer(folded))
    used: set[int] = set()
    for index, (one, other) in enumerate(pairwise(numbers)):
        if (start := _before(folded, one, "between")) >= 0 and _LINK.fullmatch(folded, one.end(), other.start()):
            used |= {index, index + 1}
            yield from _limit(Operator.AT_LEAST, one, start)
            yield from _limit(Operator.AT_MOST, other, one.end())
    for index, number in enumerate(numbers):
        if index not in used:
            found = ((_before(folded, number, name), operator) for name, operator in _OPERATORS.items())
            start, operator = next((each for each in found if each[0] >= 0), (-1, Operator.ABOVE))
            if start >= 0:
                yield from _limit(operator, number, start)


def _before(folded: str, number: re.Match[str], name: str) -> int:
    """Return where the words of a comparison before a number begin; -1 without."""
    shape = rf"(?:{pattern('comparisons', name).pattern})\s*$"
    found = re.search(shape, folded[max(0, number.start() - _COMPARISON) : number.start()], re.VERBOSE)
    return number.start() - len(found[0]) if found else -1


def _limit(operator: Operator, number: re.Match[str], start: int) -> Iterator[Limit]:
    value = read_value(number[0]).number
    if value is not None:
        yield Limit(operator, value, (start, number.end()))


def tokens(folded: str, covered: Sequence[Span]) -> list[Token]:
    """Return the words of a question that aren't within `covered`."""
    found = (Token(match[0].partition("'")[0].partition("’")[0], *match.span()) for match in _WORD.finditer(folded))
    return [
        token
        for token in found
        if len(token.word) > (0 if token.word.isdigit() else 1)
        and not any(start <= token.start < end for start, end in covered)
    ]
