"""Mark the sentences of a model's answer by rules: is what they say in the words of their evidence?

Rules find numbers, dates, times, units, names and addresses that aren't in the evidence. They can't find what is
misread in it: a "not", another name of the same sentence, a relation turned around. So "verified" means that the words
were found and the figures agree, never that the sentence is true.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from answerable.answering.checking.evidence import Evidence
from answerable.answering.checking.pieces import BOUND, YEAR, Piece, agree
from answerable.answering.checking.reckoning import MOST_COUNTED, amounts, is_computed, is_rounded, shown_results
from answerable.answering.messages import phrase, word_lists
from answerable.datatypes import Name
from answerable.text.claims import Claim, Kind, find_claims
from answerable.text.measures import days_in, decimals, in_context, unit_of
from answerable.text.terms import STOP_WORDS, claim_words, folded_words

BEGINNING = 3
"""Letters with which a name begins in another language too (Lisbon, Lisboa). A guess, not measured."""
LONGEST_ACRONYM = 5
"""Letters of an acronym; a longer word in capitals is shouted. A guess, not measured."""
_MARKS = re.compile(r"\s?\[\d+(?:\s?[,;–-]\s?\d+)*\]")
_MARKUP = re.compile(r"\*\*+|__+|`+|(?<!\w)[*_](?=\w)|(?<=[\w.,!?;:)])[*_](?!\w)")
_PREFIX = re.compile(r"\s*(?:(?:[-*+•·‣–—>]|\d{1,3}[.)]|[a-z]\))[ \t]+)*")
_LABEL = re.compile(
    r"\s*#{1,6}\s.*|\s*(?:\*\*|__)[^*_\n]+(?:\*\*|__)[:.]?\s*|.*[:?][\s*_\"”’»)]*|[-*_=|:\s]*|\W*(?:[Yy]es|[Nn]o|[Ss][ií]m?|[Nn]ão)\W*",
    re.DOTALL,
)
_ANSWER = re.compile(r"^\W*(?:yes|no|s[ií]|sim|n[aã]o)\s?[,.!:;–—-]+\s+(?!\d)", re.IGNORECASE)
_NAME = re.compile(r"[^\W\d_]{2,}[\s-]$")
_FIRST_NAME = re.compile(r"([^\W\d_a-z][^\W\d_]+)\s$")
_COUNTABLE = frozenset({"", "day"})
_IMPLIED = frozenset({"h", "min", "day", "week", "month", "year"})
_EXACT = (Kind.NUMBER, Kind.MONTH, Kind.WEEKDAY)


class Mark(Name):
    """What the check of a sentence found."""

    VERIFIED = "verified"
    """The words are in the evidence and the figures agree. It doesn't mean "true"."""
    CHECK = "check"
    """Something isn't in the evidence, or the model named none."""
    UNSUPPORTED = "unsupported"
    NOTHING_CLAIMED = "nothing claimed"


@dataclass(frozen=True, slots=True)
class Marked:
    """A mark and its reason in one line. `differs` if a rule found something that isn't in the evidence."""

    mark: Mark
    how: str
    differs: bool = False


def reason(name: str, language: str, text: str = "") -> str:
    """Return a reason of `words/marks.toml` in a language, about these words of the sentence."""
    return phrase(word_lists("marks")[name], language).format(text=text)


def mark(sentence: str, evidence: Sequence[Evidence], language: str, today: date | None = None) -> Marked:
    """Mark a sentence in `language` by comparing it with its evidence. `today` is the year of dates without one."""
    if _LABEL.fullmatch(_MARKS.sub("", sentence)):
        return Marked(Mark.NOTHING_CLAIMED, reason("introduces", language))
    if not evidence:
        return Marked(Mark.UNSUPPORTED, reason("no_source", language))
    text = _ANSWER.sub("", _PREFIX.sub("", _MARKUP.sub("", _MARKS.sub("", sentence)), count=1), count=1)
    why = _Comparison(text, evidence, language, today).difference()
    is_named = any(each.is_named for each in evidence)
    if is_named and not why:
        return Marked(Mark.VERIFIED, reason("verified", language))
    unnamed = "" if is_named else reason("nearest", language)
    return Marked(Mark.CHECK, ": ".join(filter(None, (unnamed, why))), bool(why))


class _Comparison:
    """A sentence beside its evidence."""

    def __init__(self, text: str, evidence: Sequence[Evidence], language: str, today: date | None) -> None:
        self._text, self._evidence, self._language = text, evidence, language
        sure = [claim for claim in find_claims(text, language) if claim.is_sure]
        self._claims = in_context(text, sure, language)
        spoken = [each.passage.document.language or language for each in evidence]
        self._is_foreign = language not in spoken
        self._pieces = [Piece(each, one, language, today) for each, one in zip(evidence, spoken, strict=True)]

    def difference(self) -> str:
        """Return what the sentence says and its evidence doesn't; "" if nothing."""
        rules = (self._address, self._number, self._date, self._unit, self._name)
        return next(filter(None, (rule() for rule in rules)), "")

    def _address(self) -> str:
        everything = "\n".join(piece.everything.lower() for piece in self._pieces)
        links = (
            (claim, value.partition(":")[2].rstrip("/")) for claim in self._of(Kind.LINK) for value in claim.values
        )
        return next((self._lacks(claim) for claim, link in links if link not in everything), "")

    def _number(self) -> str:
        dated = {claim for day in days_in(self._text, self._claims) for claim in day.claims}
        results = shown_results(self._text, self._claims)
        for claim in self._of(*_EXACT):
            if claim.kind is Kind.NUMBER and not results.isdisjoint(decimals(claim)):
                continue
            is_date = claim in dated or claim.kind is not Kind.NUMBER
            if any(agree(claim, piece.values(is_date)) for piece in self._pieces):
                continue
            name = _NAME.search(self._text[: claim.start])
            if name and any(piece.has_beside(name[0] + self._text[claim.start : claim.end]) for piece in self._pieces):
                continue
            is_of_date = claim.kind is Kind.WEEKDAY and any(each.has_weekday(claim.values) for each in self._pieces)
            if not is_of_date and (is_date or not self._is_derived(claim)):
                return self._lacks(claim)
        return ""

    def _date(self) -> str:
        """Find a day of a month whose day and month are in the evidence, but apart."""
        given = {pair for piece in self._pieces for pair in piece.pairs}
        for day in days_in(self._text, self._claims):
            days = {one for one, _ in day.pairs}
            if day.pairs and given.isdisjoint(day.pairs) and any(one in days for one, _ in given):
                start, end = min(each.start for each in day.claims), max(each.end for each in day.claims)
                return self._reason("absent", self._text[start:end])
        return ""

    def _unit(self) -> str:
        mentioned = frozenset().union(*(piece.units for piece in self._pieces))
        for claim in self._of(Kind.NUMBER):
            if any(map(YEAR.fullmatch, claim.values)):
                continue
            own = unit_of(self._text, claim)
            found = [unit for piece in self._pieces for unit in piece.units_of(claim)]
            sizes = {value for value in claim.values if "=" in value}
            if not any(found) and any(not sizes.isdisjoint(piece.said) for piece in self._pieces):
                continue
            # The unit of what was counted or computed may be implied: "two days later".
            beside = [unit or mentioned for unit in found] or [mentioned | _IMPLIED]
            if own and all(own.isdisjoint(unit) for unit in beside):
                return self._reason("unit", self._text[claim.start : claim.end])
        return ""

    def _name(self) -> str:
        if self._language not in STOP_WORDS:
            # Other words may have capitals too, as all nouns of German.
            return ""
        words = frozenset().union(*(piece.words for piece in self._pieces))
        for claim in self._of(Kind.NAME):
            is_shouted = claim.end - claim.start > LONGEST_ACRONYM and self._text[claim.start : claim.end].isupper()
            if not is_shouted and not any(self._is_named(value, words) for value in claim.values):
                return self._lacks(claim)
            before = _FIRST_NAME.search(self._text[: claim.start])
            name = self._text[claim.start : claim.end]
            if (
                before
                and any(piece.has_other(before[1], name) for piece in self._pieces)
                and not any(name in piece.everything for piece in self._pieces)
            ):
                return self._lacks(claim)
        first = next(folded_words(self._text), ("", 0, 0))
        is_capital = self._text[first[1] : first[2]].istitle() and first[0] not in STOP_WORDS[self._language]
        # The first word of a sentence is a name if its passage has it as one.
        is_name = is_capital and any(first[0] in piece.other_names for piece in self._pieces)
        if is_name and not self._is_named(first[0], words):
            return self._reason("absent", self._text[first[1] : first[2]])
        return ""

    def _is_named(self, name: str, words: frozenset[str]) -> bool:
        if name in words or any(name in piece.values(False) for piece in self._pieces):
            return True
        if any(map(str.isdigit, name)):
            return False
        parts = [part for part in re.split(r"\W", name) if part]
        return (len(parts) > 1 and ("".join(parts) in words or words.issuperset(parts))) or any(
            self._is_foreign and word[:BEGINNING] == name[:BEGINNING] for word in words
        )

    def _is_derived(self, claim: Claim) -> bool:
        """Return whether a number is a sum, difference, product, share, count or rounding of what is cited."""
        wanted = amounts(self._text, claim)
        counted = {len(self._pieces)}.union(*(piece.counts for piece in self._pieces))
        if any(unit in _COUNTABLE and 1 < number <= MOST_COUNTED and number in counted for number, unit in wanted):
            return True
        shown = [amounts(self._text, each) for each in self._of(Kind.NUMBER) if each is not claim]
        given = [piece.amounts for piece in self._pieces]
        words = {word for word, _, _ in folded_words(BOUND.sub(" ", self._text))}
        known = claim_words(self._language)
        # "27 did not finish" is a difference too.
        is_announced = all(piece.is_row for piece in self._pieces) or not words.isdisjoint(
            known.reckoned | known.negations
        )
        return is_computed(wanted, shown, given, is_announced) or is_rounded(self._text, claim, self._language, given)

    def _of(self, *kinds: Kind) -> Iterator[Claim]:
        return (claim for claim in self._claims if claim.kind in kinds)

    def _lacks(self, claim: Claim) -> str:
        return self._reason("absent", self._text[claim.start : claim.end])

    def _reason(self, name: str, text: str = "") -> str:
        return reason(name, self._language, text)
