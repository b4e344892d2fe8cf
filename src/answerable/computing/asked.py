"""What a question asks to compute: a figure or rows of tables and chats, a fact about the library, or a summary.

A figure is, for example, a count, a total, or the first row. Questions are read in lower case and without accents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from itertools import islice, pairwise

from answerable.computing.vocabulary import listed_stems, measures, pattern, stems, word_lists, words_of
from answerable.datatypes import Span
from answerable.tables.compute import Operator
from answerable.tables.values import read_value
from answerable.text.terms import words

# A number that may be a limit; not a part of "12 March", "the 3rd", "2024-05-01", "10:30", "3/4".
_NUMBER = re.compile(r"(?<![\w/:.,-])(?:[^\W\d_]{0,3}[$€£]\s?)?\d[\d.,]*(?:\s?[€$£%])?(?![\w/:-])")
# The words between two limits: "between 5 and 9 euros" has limits, "between 5 March and 9 May" has none.
_LINK = re.compile(r"\s*(?:euros?|eur|usd|dollars?|pounds?|reais|pesos|%|kg|km)?\s*(?:and|y|e|to|a|-|hasta|ate)\s*")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


_COMPARISON = 40
"""Characters before a number in which words such as "more than", which make the number a limit, are looked for."""
SHORT = 6
"""Words, at most, of a question that only names groups, without a figure: "messages by month"."""


class Asked(str, Enum):
    """The computation that a question asks for."""

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
    """A limit on numbers: "more than 50 euros"; "between 3 and 5" is two limits."""

    operator: Operator
    number: float
    span: Span


@dataclass(frozen=True, slots=True)
class Operation:
    """The computation that a question asks for, and the words that say so.

    `spans` are the places of these words in the question. `asks_who`: a person is asked for. `noun` is what else is
    asked for ("which month"), `each` what a figure is asked for each of ("per person"), `measure` the name of what is
    compared or added up ("oldest": age); "" if there is none. `asks_amount`: it contains "how much"; `counts`: "how
    many". `is_of_one`: it compares single numbers ("the highest") rather than counts or totals ("the most").
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
    """A word of the question, in lower case without accents, and its place in the question."""

    word: str
    start: int
    end: int


def find_operation(folded: str) -> Operation | None:
    """Return what a question asks to compute, or None. `folded` is the question in lower case without accents."""
    found = [(asked, match) for asked in Asked if (match := pattern("operations", asked.value).search(folded))]
    measured = list(_measured(folded))
    found += [(asked, match) for asked, match, _ in measured]
    each = pattern("asked", "each").search(folded)
    if not found and each and len(_WORD.findall(folded)) <= SHORT:
        # A short question with groups but without a figure: "Messages by month".
        return Operation(Asked.COUNT, (), each=each["noun"])
    if not found:
        return None
    if any(asked in (Asked.MOST, Asked.LEAST) and _is_beside(match, folded) for asked, match in found):
        found = [pair for pair in found if pair[0] is not Asked.TOTAL]
    asked, first = min(found, key=lambda pair: _ORDER.index(pair[0]))
    spans = [match.span() for kind, match in found if kind in (asked, Asked.COUNT, Asked.LIST, Asked.AMOUNT)]
    if asked is Asked.TOTAL and any(kind is Asked.COUNT for kind, _ in found):
        # "The total number of members", "how many litres in total": a matching column makes it a total, else a count.
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
    """Yield each measure that the question compares or asks for: "the oldest", "how long"."""
    for name, measure in measures().items():
        for asked, shape in ((Asked.MOST, measure.most), (Asked.LEAST, measure.least), (Asked.AMOUNT, measure.asked)):
            if shape and (match := shape.search(folded)):
                yield asked, match, name


def _best_measure(measured: Sequence[tuple[Asked, re.Match[str], str]], asked: Asked) -> str:
    """Return what is measured: by a word of the operation, or else by any word ("how old are they on average")."""
    return next((name for own, _, name in measured if own is asked), measured[0][2] if measured else "")


def _is_beside(match: re.Match[str], folded: str) -> bool:
    """Return whether a superlative refers to a total: "the highest total", "el total más alto"."""
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
    """Return the offset of the words of a comparison right before a number; -1 without such words."""
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


def says_more(folded: str, operation: Operation, known: Sequence[frozenset[str]]) -> bool:
    """Return whether a word of the question is unknown: neither in a word list nor a stem of any of the tables.

    Numbers, contractions and the noun that is asked for are ignored, because something else may explain them.
    """
    covered = [*operation.spans, *(limit.span for limit in operation.limits)]
    left = {token.word for token in tokens(folded, covered) if folded[token.start : token.end].isalpha()}
    everything = (listed_stems(), *known)
    return any(
        all(stems(word).isdisjoint(each) for each in everything) for word in left - {operation.noun, operation.each}
    )


EDGES = " ?¿!¡.,;:\"'“”«»"
"""Characters that may precede or follow a question."""
LISTED = ("", "pdf", "chat", "mail")
"""Types of documents that may be asked for by name: "notes" and "tables" may also occur within documents."""
JOINED = 5
"""A topic is looked for after this many prepositions at most, since the topic is all words after the preposition."""
_SENTENCES = re.compile(r"[?!.;]\s+")


def stands_alone(folded: str) -> bool:
    """Return whether a message, in lower case without accents, asks about the library or for a summary by itself."""
    return _is_about_library(folded) or bool(summaries_wanted(folded))


def may_be_about_library(folded: str) -> bool:
    """Return whether a question has the form of a question about the library, or about all of its content."""
    return _is_about_library(folded) or counted_of_library(folded) is not None or is_of_everything(folded)


def _is_about_library(folded: str) -> bool:
    return any(library_form(name, folded) for name in ("mention", "people")) or listing(folded) is not None


def library_form(name: str, folded: str) -> re.Match[str] | None:
    """Return the match of a question with a form listed in `library.toml`."""
    return _library_pattern(name).match(folded.strip(EDGES))


def counted_of_library(folded: str) -> tuple[str, list[str]] | None:
    """Return which documents, or which part of them, a question counts, and the other conditions on them."""
    match = library_form("count", folded)
    nouns = word_lists("library")["nouns"]
    kind = next((kind for kind, same in nouns.items() if match and match["noun"] in same.split()), None)
    if match is None or kind is None:
        return None
    return kind, [word for word in words(match["rest"]) if word not in _said_of_library()]


def listing(folded: str) -> tuple[str, Span | None] | None:
    """Return which documents a question asks to list: their type ("" for all), and the place of their topic.

    None if the question asks for anything else: "Which documents do I have about the lease?" and "what is in here?" are
    listings, "what documents do I need?" is not.
    """
    text, known = folded.strip(EDGES), word_lists("library")["library"]
    joined = re.finditer(rf" (?:(?P<about>{known['about']})|{known['of']}) +(?=\S)", text)
    for match in islice(joined, JOINED):
        named, says_so = _documents_asked_for(text[: match.start()])
        if named and (match["about"] or says_so):
            return "", (match.end(), len(text))
    named, says_so = _documents_asked_for(text)
    if not says_so or not (named or re.search(rf"\b(?:{known['where']})\b", text)):
        return None
    nouns = word_lists("library")["nouns"]
    return next((kind for kind in LISTED if named in nouns[kind].split()), ""), None


def _documents_asked_for(text: str) -> tuple[str, bool]:
    """Return the noun for documents in a question, and whether it says that they exist; ("", …) if it says more."""
    said, known = set(words(text)), word_lists("library")["library"]
    nouns = {noun for kind in LISTED for noun in word_lists("library")["nouns"][kind].split()}
    if said - nouns - _said_of_library():
        return "", False
    says_so = said & set(known["holds"].split()) or re.search(rf"\b(?:{known['where']})\b", text)
    return next(iter(said & nouns), ""), bool(says_so)


@cache
def _said_of_library() -> frozenset[str]:
    known = word_lists("library")["library"]
    return frozenset(f"{known['words']} {known['holds']}".split())


@cache
def _library_pattern(name: str) -> re.Pattern[str]:
    documents = "|".join(sorted(word_lists("library")["nouns"][""].split(), key=len, reverse=True))
    written = word_lists("library")["patterns"][name].replace("DOCUMENTS", f"(?:{documents}|pdfs?|chats|notes|notas)")
    return re.compile(rf"(?:{written})", re.VERBOSE)


def summaries_wanted(folded: str) -> list[tuple[str, bool]]:
    """Return what each sentence asks to summarise, and whether it says so explicitly: "What is it? Resume it"."""
    found = []
    for sentence in (folded, *_SENTENCES.split(folded)):
        text = sentence.strip(EDGES)
        asked, about = summary_pattern("asked").match(text), summary_pattern("about").fullmatch(text)
        if match := asked or about:
            found.append((next(filter(None, match.groups())), asked is not None))
    return found


def is_of_everything(folded: str) -> bool:
    """Return whether a request asks for a summary of all documents."""
    match = summary_pattern("asked").match(folded.strip(EDGES))
    return bool(match and summary_pattern("everything").fullmatch(next(filter(None, match.groups()), "")))


@cache
def summary_pattern(name: str) -> re.Pattern[str]:
    """Return a pattern listed in `summaries.toml`."""
    return re.compile(word_lists("summaries")["patterns"][name], re.VERBOSE)
