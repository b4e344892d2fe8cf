"""Read a piece of evidence as a sentence is compared with it: its values, amounts, names, clauses and context."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property

from answerable.answering.checking.evidence import Evidence
from answerable.answering.checking.reckoning import MOST_COUNTED, Amount, amounts, counts
from answerable.answering.sentences import Excerpt, column_names, shown_row
from answerable.datatypes import Part
from answerable.tables.values import day_of
from answerable.text.claims import Claim, Kind, find_claims
from answerable.text.measures import Day, days_in, in_context, is_time, unit_of, units_in, values_of_day
from answerable.text.terms import fold, folded_words, units

BEFORE = 200
"""Characters before a piece of evidence in which the name is that it calls "he" or "it". A guess, not measured."""
WEEK = 7
"""Days before and after a chat message in which a weekday that it names is looked for: there is one on each side."""

BOUND = re.compile(
    r"\b(?:no|not|n[aã]o|at|al|pelo|ao|por lo)\s(?:m[aáo]is?|more|less|fewer|least|most|later|earlier|m[aá]s|menos"
    r"|antes|depois|despu[eé]s)\b",
    re.IGNORECASE,
)
_NEXT_DAYS = {
    1: re.compile(r"\b(?:tomorrow|mañana|amanhã)\b", re.I),
    -1: re.compile(r"\b(?:yesterday|ayer|ontem)\b", re.I),
}
_FILE_DATE = re.compile(r"(\d{4}-\d\d-\d\d)[-_]")
YEAR = re.compile(r"(?:19|20)\d\d")
_LINE = re.compile(r"[^\n…]*[^\n…\s]")
_CELL = re.compile(r"(?P<name>[^:·]+):\s(?P<value>[-−]?\d[\d.,\s]*)(?=\s·\s|$)")
_NAME_WORD = re.compile(r"[^\W\d_]+[23²³]?|[%€$£¥]|[°º][CF]")
_MONEY = ("€", "£", "$", "r$", "¥", "chf")
_TIMES = ("h", "day", "week", "month", "year")
_PER = frozenset({"per", "por", "a", "each", "cada"})


class Piece:
    """One piece of evidence: what its words say, and what its title, headings, header and sender add."""

    def __init__(self, evidence: Evidence, spoken: str, language: str, today: date | None) -> None:
        self._evidence, self._languages, self._today = evidence, dict.fromkeys((spoken, language)), today
        row = _as_row(evidence)
        self.text, self.is_row = row or evidence.text, bool(row)

    @cached_property
    def context(self) -> str:
        """The title, headings, column names and senders."""
        chunk, document = self._evidence.passage.chunk, self._evidence.passage.document
        headings = [heading for part in chunk.parts for heading in part.headings]
        senders = [part.sender for part in self._parts if part.sender]
        address = str(document.metadata.get("url") or "")
        names = column_names(Excerpt(self._evidence.passage, self._evidence.start, self._evidence.end))
        lines = (
            document.title,
            chunk.context,
            *chunk.location.headings,
            *headings,
            *senders,
            names,
            document.source,
            address,
        )
        return "\n".join(dict.fromkeys(lines))

    @cached_property
    def everything(self) -> str:
        """The text and its context."""
        return f"{self.text}\n{self.context}"

    @cached_property
    def claims(self) -> list[Claim]:
        """What the text says, read in its language and in the sentence's."""
        read = (in_context(self.text, find_claims(self.text, each), each) for each in self._languages)
        return sorted(dict.fromkeys(claim for found in read for claim in found), key=lambda claim: claim.start)

    @cached_property
    def said(self) -> frozenset[str]:
        """The values that the text says, and the days of its chat messages."""
        days = (values_of_day(day) for day in self._message_days)
        return _bases(value for values in (*(claim.values for claim in self.claims), *days) for value in values)

    @cached_property
    def _around(self) -> frozenset[str]:
        """The values of the context without its dates, which are those of the document."""
        claims = find_claims(self.context, next(iter(self._languages)))
        dated = {claim for day in days_in(self.context, claims) for claim in day.claims}
        kept = (each for each in claims if each.kind is Kind.NUMBER and each not in dated)
        # A heading's "9." counts nothing.
        values = _bases(value for each in kept for value in each.values)
        small = {str(number) for number in range(MOST_COUNTED + 1)}
        return values - small

    def values(self, is_date: bool) -> frozenset[str]:
        """Return the values that may back a number, or a part of a date."""
        return self.said | self._of_document if is_date else self.said | self._around | self._of_document

    @cached_property
    def _of_document(self) -> frozenset[str]:
        """The dates and years of the title, the headings and the file's name, for words without a year of their own."""
        if any(map(YEAR.fullmatch, self.said)):
            return frozenset()
        text = _FILE_DATE.sub(r"\1 ", self.context).replace("_", " ")
        claims = find_claims(text, next(iter(self._languages)))
        dated = {claim for day in days_in(text, claims) for claim in day.claims}
        found = (claim for claim in claims if claim in dated or any(map(YEAR.fullmatch, claim.values)))
        return _bases(value for claim in found for value in claim.values)

    @cached_property
    def _days(self) -> list[Day]:
        return days_in(self.text, self.claims)

    @cached_property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """Days of months."""
        return frozenset().union(
            *(day.pairs for day in self._days), ((day.day, day.month) for day in self._message_days)
        )

    def has_weekday(self, values: frozenset[str]) -> bool:
        """Return whether a date of the evidence is this weekday."""
        years = {int(value) for value in self.said if YEAR.fullmatch(value)}
        years = years or ({self._today.year} if self._today else set())
        found = (day_of(year, month, day) for year in years for day, month in self.pairs)
        return any(f"weekday:{day.isoweekday()}" in values for day in found if day)

    @cached_property
    def units(self) -> frozenset[str]:
        """The units that occur anywhere."""
        return units_in(self.everything)

    def units_of(self, claim: Claim) -> list[frozenset[str]]:
        """Return the unit of each number of the text that a claim repeats; a time's is the hour."""
        claim = replace(claim, values=frozenset(value for value in claim.values if "=" not in value))
        same = [each for each in self.claims if each.kind is Kind.NUMBER and agree(claim, _bases(each.values))]
        return [unit_of(self.text, each) | ({"h"} if is_time(each) else frozenset()) for each in same]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words and the initials of names."""
        text = f"{self.everything}\n{self._before}"
        found = {part for word, _, _ in folded_words(text) for part in (word, *re.split(r"\W", word))}
        capitals = re.findall(r"(?:\b[^\W\d_a-z][^\W\d_]+(?:\s(?:of|the|de|da|do|del|la)\b)*\s?){2,}", self.everything)
        initials = ("".join(word[0] for word in run.split() if word[0].isupper()).lower() for run in capitals)
        return frozenset(fold(word) for word in (*found, *initials) if word)

    @cached_property
    def _before(self) -> str:
        """The text before the evidence, where a name may be that the evidence calls "he", "she" or "it"."""
        chunk = self._evidence.passage.chunk
        end = max(self._evidence.start - chunk.start, 0)
        return chunk.content[max(end - BEFORE, 0) : end]

    def has_other(self, first: str, name: str) -> bool:
        """Return whether somebody with this first name has another name here: "Ana Lima", not "Ana Costa"."""
        others = re.findall(rf"\b{re.escape(first)}\s([^\W\d_a-z][^\W\d_]+)", self.everything)
        return bool(others) and name not in others

    def has_beside(self, text: str) -> bool:
        """Return whether the passage has a name with its number ("Version 2"), or the context a word ("part 9")."""
        # "HX-1162" is a code, which another row of the passage may have.
        is_name = text[:1].isupper() and "-" not in text
        return (is_name and text in self._evidence.passage.chunk.content) or text.lower() in self.context.lower()

    @cached_property
    def other_names(self) -> frozenset[str]:
        """The names of the passage, and of who writes in it."""
        chunk = self._evidence.passage.chunk
        text = "\n".join((chunk.content, *(part.sender or "" for part in chunk.parts)))
        claims = find_claims(text, next(iter(self._languages)))
        names = (claim for claim in claims if claim.kind is Kind.NAME and claim.is_sure)
        senders = (word for part in chunk.parts for word, _, _ in folded_words(part.sender or ""))
        return frozenset(senders).union(*(claim.values for claim in names))

    @cached_property
    def amounts(self) -> list[frozenset[Amount]]:
        """The readings of each number of the text that isn't in a date."""
        dated = {claim.start for day in self._days for claim in day.claims}
        starts: dict[int, frozenset[Amount]] = {}
        for claim in self.claims:
            if claim.kind is Kind.NUMBER and claim.start not in dated:
                starts[claim.start] = starts.get(claim.start, frozenset()) | amounts(self.text, claim)
        return list(starts.values())

    @cached_property
    def counts(self) -> frozenset[int]:
        """The numbers of items of its lists, and of the weekdays that it names."""
        return frozenset(counts(self.text, self.claims))

    @property
    def _parts(self) -> list[Part]:
        start, end = self._evidence.start, self._evidence.end
        return [part for part in self._evidence.passage.chunk.parts if part.start < end and part.end > start]

    @cached_property
    def _message_days(self) -> list[date]:
        """The day of the message, and the days that it names by their weekday or as yesterday or tomorrow."""
        found: list[date] = []
        # "Wednesday 29 October" says which day it is.
        weekdays = () if self._days else (claim for claim in self.claims if claim.kind is Kind.WEEKDAY)
        named = {value for claim in weekdays for value in claim.values}
        for sent in (part.time.date() for part in self._parts if part.time):
            for away in range(-WEEK, WEEK + 1):
                day = sent + timedelta(away)
                is_next = away in _NEXT_DAYS and _NEXT_DAYS[away].search(self.text)
                if not away or is_next or f"weekday:{day.isoweekday()}" in named:
                    found.append(day)
        return found


def agree(claim: Claim, values: frozenset[str]) -> bool:
    """Return whether a value of a claim is among these, whatever its percent sign."""
    return any(value.rstrip("%") in values for value in claim.values)


def _bases(values: Iterable[str]) -> frozenset[str]:
    """Return values without signs and percent signs, which are units."""
    return frozenset(form for value in values for form in (value.rstrip("%"), value.rstrip("%").lstrip("-")))


def _as_row(evidence: Evidence) -> str:
    """Return rows of a table as lines "name: value · name: value unit", the unit from the name; "" for other text."""
    content, at = evidence.passage.document.content, evidence.start
    lines = []
    is_json = evidence.text[:1] in ("{", "[")
    for line in [evidence.text] if is_json else [found[0].strip() for found in _LINE.finditer(evidence.text)]:
        start = content.find(line, at)
        at = max(at, start)
        row = shown_row(Excerpt(evidence.passage, start, start + len(line))) if start >= 0 else ""
        if not row:
            return ""
        lines.append(_CELL.sub(lambda cell: f"{cell[0]} {_unit_named(cell['name'])}".rstrip(), row))
    return "\n".join(lines)


def _unit_named(name: str) -> str:
    """Return the currency or else the last unit in the name of a column: `price_eur`, `Price (€)`, `duration_min`."""
    words = _NAME_WORD.findall(name.replace("_", " "))
    known = [
        word
        for before, word in zip(["", *words], words, strict=False)
        if fold(word.lower()) in units() and before not in _PER
    ]
    money = [word for word in known if not units()[fold(word.lower())].isdisjoint(_MONEY)]
    # "price_eur_month" is a price.
    is_each = bool(known) and not units()[fold(known[-1].lower())].isdisjoint(_TIMES)
    return str((money if money and is_each else known or [""])[-1])
