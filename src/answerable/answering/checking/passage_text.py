"""Decide whether a passage backs a sentence without quotes.

Words are compared by their stems in the passage's language. One or two adjacent sentences of a passage back a sentence
if they contain enough of its words and negate the same words, the passage contains all its numbers, dates, names and
addresses, and the sentence neither replaces a word by its opposite nor a number or name by another of the passage.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from answerable.answering.checking.claim_words import claim_words
from answerable.answering.checking.claims import Claim, Kind, find_claims, values_of
from answerable.answering.checking.locating import Searchable
from answerable.answering.checking.wording import (
    CLAIM_WEIGHT,
    Unit,
    Wording,
    claims_joined,
    folded_word,
    names_sender,
    negation_mismatch,
    speaks_of_the_answer,
)
from answerable.datatypes import Part, PartKind, RetrievalResult
from answerable.text.sentences import is_furniture, is_row, sentence_spans

ENOUGH = 0.6
ELSEWHERE = 0.5
PAIR_GAIN = 0.1
SWAPPED = 0.75
OPPOSED = 0.75
REPLACED = 1.5
SHORTEST_NAME = 5
ENDING = 4
MANY = 50
CLAIMS = 64


@dataclass(frozen=True)
class Span:
    """One or two adjacent sentences of a passage: their offsets in the content, wording and chat messages."""

    start: int
    end: int
    wording: Wording
    parts: tuple[Part, ...]

    @cached_property
    def authors(self) -> frozenset[str]:
        """The senders and times of the chat messages, as values of claims."""
        if not self.parts:
            return frozenset()
        written = "\n".join(
            f"{part.sender or ''}\n{part.time:%Y-%m-%d %H:%M}" if part.time else part.sender or ""
            for part in self.parts
        )
        wording = Wording(written, self.wording.language)
        return values_of(wording.claims) | wording.folded


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgement of a sentence by a passage: backed or not, share of words found, reason, and best span."""

    is_backed: bool
    share: float
    why: str
    span: Span | None = None


class PassageText:
    """A passage, analysed when first needed and then kept for all sentences of an answer."""

    def __init__(self, result: RetrievalResult, language: str) -> None:
        self.result = result
        self.content = result.chunk.content
        self.language = result.document.language or language
        self._pairs: dict[int, Span] = {}

    @cached_property
    def searchable(self) -> Searchable:
        """The text, prepared for finding quotes."""
        return Searchable(self.content)

    @cached_property
    def setting(self) -> Searchable:
        """The title, context and headings, prepared for finding quoted titles."""
        return Searchable(self._headings)

    @cached_property
    def messages(self) -> tuple[Part, ...]:
        """The chat messages of the passage."""
        return tuple(part for part in self.result.chunk.parts if part.kind is PartKind.MESSAGE)

    @property
    def _headings(self) -> str:
        chunk, document = self.result.chunk, self.result.document
        headings = [heading for part in chunk.parts for heading in part.headings]
        return "\n".join(dict.fromkeys((document.title, chunk.context, *chunk.location.headings, *headings)))

    @cached_property
    def bodies(self) -> list[tuple[int, int]]:
        """The spans of the text proper: the bodies of chat messages, the rows of a table, otherwise the whole text."""
        chunk = self.result.chunk
        if self.messages:
            spans = [(part.start if part.body is None else part.body, part.end) for part in self.messages]
        elif any(part.kind is PartKind.RECORD for part in chunk.parts):
            spans = [(part.start, part.end) for part in chunk.parts]
        else:
            return [(0, len(self.content))]
        spans = [(max(start, chunk.start) - chunk.start, min(end, chunk.end) - chunk.start) for start, end in spans]
        return [(start, end) for start, end in spans if start < end]

    @cached_property
    def wording(self) -> Wording:
        """The wording of the text."""
        return Wording("\n".join(self.content[start:end] for start, end in self.bodies), self.language)

    @cached_property
    def around(self) -> Wording:
        """The wording of the title, context and headings."""
        return Wording(self._headings, self.language)

    @cached_property
    def sentences(self) -> list[Span]:
        """The sentences of the passage, without headings and horizontal rules."""
        spans = [
            (first + start, first + end)
            for first, last in self.bodies
            for start, end in sentence_spans(self.content[first:last], self.language)
        ]
        sentences = [span for span in spans if not is_furniture(self.content, *span)]
        return [self.span(start, end) for start, end in sentences or spans]

    @cached_property
    def whole(self) -> Span:
        """The whole passage as one span."""
        return self.span(0, len(self.content))

    def _pair(self, first: Span, second: Span) -> Span:
        if first.start not in self._pairs:
            self._pairs[first.start] = self.span(first.start, second.end)
        return self._pairs[first.start]

    def around_span(self, start: int, end: int) -> Wording:
        """Return the wording of the sentences that overlap a span."""
        touched = [one for one in self.sentences if one.start < end and one.end > start]
        first = min([start, *(one.start for one in touched)])
        return Wording(self.content[first : max([end, *(one.end for one in touched)])], self.language)

    def span(self, start: int, end: int) -> Span:
        """Return this span of the content as a `Span`, with the chat messages that it overlaps."""
        offset = self.result.chunk.start
        parts = tuple(part for part in self.messages if part.start < end + offset and part.end > start + offset)
        return Span(start, end, Wording(self.content[start:end], self.language), parts)

    @cached_property
    def values(self) -> frozenset[str]:
        """The values of the numbers, dates and addresses in the passage, its headings and its source."""
        document = self.result.document
        links = find_claims(f"{document.source} {document.metadata.get('url') or ''}", self.language)
        return values_of(self.wording.claims) | values_of(self.around.claims) | values_of(links)

    @cached_property
    def names(self) -> frozenset[str]:
        """The words of the passage and its headings, and the initials of the names in them."""
        found = set(self.wording.folded | self.around.folded | self.values)
        for wording in (self.wording, self.around):
            found |= {part for word in wording.folded if not word.isalpha() for part in re.split(r"\W", word)}
            for _, _, claims in claims_joined(wording.claims, wording.text):
                if len(claims) > 1 and claims[0].kind is Kind.NAME:
                    found.add(folded_word("".join(wording.text[claim.start] for claim in claims)))
        return frozenset(found)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(
            name[:size] for name in self.names for size in range(SHORTEST_NAME, len(name)) if len(name) - size <= ENDING
        )

    @cached_property
    def _by_place(self) -> dict[tuple[str, tuple[int, str]], list[Unit]]:
        index: dict[tuple[str, tuple[int, str]], list[Unit]] = defaultdict(list)
        for unit in self.wording.units:
            for place in unit.around:
                if len(index[unit.kind, place]) < MANY:
                    index[unit.kind, place].append(unit)
        return index

    def has_name(self, values: Collection[str]) -> bool:
        """Return whether the passage contains one of these names, possibly with another ending."""
        return any(
            value in self.names
            or value in self._beginnings
            or any(value[:size] in self.names for size in range(max(SHORTEST_NAME, len(value) - ENDING), len(value)))
            for value in values
        )

    def backs(self, claim: Claim, wording: Wording, span: Span | None) -> bool:
        """Return whether the passage, or the sender or time of the span, backs a claim of the sentence `wording`."""
        if span and span.parts and not claim.values.isdisjoint(span.authors):
            return True
        if claim.kind is Kind.NAME:
            return self.has_name(claim.values) or speaks_of_the_answer(wording)
        return not claim.values.isdisjoint(self.values)

    def unbacked(self, wording: Wording, span: Span) -> Claim | None:
        """Return the first sure claim of a sentence that the passage doesn't back, or None."""
        for claim in wording.claims:
            own = Wording(wording.text[claim.start : claim.end], wording.language)
            if claim.is_sure and (not self.backs(claim, own, span) or self._is_in_another_row(claim, span)):
                return claim
        return None

    def _is_in_another_row(self, claim: Claim, span: Span) -> bool:
        """Return whether a number of the sentence occurs only in table rows outside the span."""
        own = values_of(span.wording.claims) | values_of(self.around.claims) | span.authors
        if claim.kind is Kind.NAME or not self._is_row(span) or not claim.values.isdisjoint(own):
            return False
        holders = [one for one in self.sentences if not claim.values.isdisjoint(values_of(one.wording.claims))]
        return bool(holders) and all(map(self._is_row, holders))

    def _is_row(self, span: Span) -> bool:
        return is_row(self.content, span.start, span.end)

    def share(self, wording: Wording, span: Wording, authors: Collection[str] = frozenset()) -> float:
        """Return the share of a sentence's words found in the span; words elsewhere in the passage count partly."""
        total = found = 0.0
        about_the_answer = claim_words(wording.language).about_the_answer
        passage = self.wording.terms | self.around.terms
        for term, weight in wording.weights.items():
            if term in span.terms or term in authors:
                found += weight
            elif term in passage:
                found += ELSEWHERE * weight
            elif term in about_the_answer:
                continue
            total += weight
        own = values_of(span.claims).union(authors)
        for claim in wording.numbers:
            found += CLAIM_WEIGHT * (1.0 if not claim.values.isdisjoint(own) else ELSEWHERE)
            total += CLAIM_WEIGHT
        return found / total if total else 0.0

    def judge(self, text: str) -> Judged:
        """Judge a sentence without quotes."""
        wording = Wording(text, self.language)
        best = self._best(wording)
        if best is None:
            return Judged(False, 0.0, "nothing in it can be compared")
        share, span = best
        if share < ENOUGH:
            return Judged(False, share, f"no passage has more than {share:.0%} of its words", span)
        why = self.contradiction(wording, span)
        if why:
            return Judged(False, share, why, span)
        return Judged(True, share, f"{share:.0%} of its words, by weight, with every number and name", span)

    def _best(self, wording: Wording) -> tuple[float, Span] | None:
        singles = [(self.share(wording, span.wording, span.authors), span) for span in self.sentences]
        if not singles:
            return None
        share, best = max(singles, key=lambda pair: pair[0])
        for (one, first), (two, second) in itertools.pairwise(singles):
            if max(one, two) + PAIR_GAIN <= share or not one or not two or first.parts != second.parts:
                continue
            # Table rows are unrelated.
            if self._is_row(first) and self._is_row(second):
                continue
            pair = self._pair(first, second)
            both = self.share(wording, pair.wording, pair.authors)
            if both >= share + PAIR_GAIN:
                share, best = both, pair
        return share, best

    def contradiction(self, wording: Wording, span: Span) -> str:
        """Return the reason why a sentence contradicts the span although it uses the span's words, or ""."""
        missing = self.unbacked(wording, span)
        if missing:
            return f"the {missing.kind} {wording.text[missing.start : missing.end]} isn't in its evidence"
        return self.wrong_sender(wording, span) or negation_mismatch(wording, span.wording) or self.swapped(wording)

    def wrong_sender(self, wording: Wording, span: Span) -> str:
        """Return the reason to reject a sentence that names another sender than that of the span, or ""."""
        named = [part.sender for part in self.messages if part.sender and names_sender(wording, part.sender)]
        wrote = {part.sender for part in span.parts}
        if named and wrote.isdisjoint(named) and not any(names_sender(span.wording, sender) for sender in named):
            return f"{named[0]} didn't write that"
        return ""

    def swapped(self, wording: Wording) -> str:
        """Return the reason to reject a sentence that replaces a word, number or name of the passage, or ""."""
        return next(iter(self.swaps(wording).values()), "")

    def swaps(self, wording: Wording) -> dict[str, str]:
        """Return each replaced word, number or name of a sentence with the reason to reject it."""
        rivals = [(unit, self._rival_of(unit)) for unit in wording.units[:CLAIMS]]
        return {
            unit.text: f"the passage has {rival.text}, not {unit.text}, in that place"
            for unit, rival in rivals
            if rival
        }

    def _rival_of(self, unit: Unit) -> Unit | None:
        """Return the unit that the passage clearly has in the place of a sentence's unit, or None."""
        if not unit.is_sure and (self._is_plain_word(unit) or speaks_of_the_answer(Wording(unit.text, self.language))):
            return None
        if unit.kind == Kind.NAME and any(unit.agrees(other) for other in self._units_of_rows):
            # In a table row the words around a name are other columns and mean nothing.
            return None
        alike = {id(rival): rival for place in unit.around for rival in self._by_place.get((unit.kind, place), ())}
        own = max((unit.likeness(rival) for rival in alike.values() if unit.agrees(rival)), default=0.0)
        others = [rival for rival in alike.values() if not unit.agrees(rival)]
        if unit.kind == "opposite":
            opposed = claim_words(self.language).opposites.get(next(iter(unit.values)), frozenset())
            others = [rival for rival in others if not opposed.isdisjoint(rival.values)]
        best = max(others, key=unit.likeness, default=None)
        is_known = unit.is_sure or self.has_name(unit.values)
        margin = OPPOSED if unit.kind == "opposite" else SWAPPED if is_known else REPLACED
        return best if best and unit.likeness(best) >= own + margin else None

    @cached_property
    def _units_of_rows(self) -> list[Unit]:
        return [unit for span in self.sentences if self._is_row(span) for unit in span.wording.units]

    def _is_plain_word(self, unit: Unit) -> bool:
        """Return whether the passage has this capitalised word in lower case."""
        return not unit.values.isdisjoint(self.wording.folded) and unit.values.isdisjoint(self._unit_values)

    @cached_property
    def _unit_values(self) -> frozenset[str]:
        return frozenset(value for unit in self.wording.units for value in unit.values)
