"""How far a passage backs a sentence: which of its spans say the same, and what in the sentence nothing backs.

Words are compared by their stems in the passage's language. A sentence is backed by one or two neighbouring sentences
of the passage when they have enough of its words, the passage has every number, date, name and address in it, nothing
is negated in one and not in the other, nothing stands for its opposite, and no number or name has taken the place of
another one of the passage.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

from answerable.answering.checking.claim_words import OPPOSITES
from answerable.answering.checking.claims import Claim, Kind, find_claims, values_of
from answerable.answering.checking.locating import Searchable
from answerable.answering.checking.wording import (
    CLAIM_WEIGHT,
    Unit,
    Wording,
    about_the_answer,
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
    """One or two neighbouring sentences of a passage: offsets in its content, their wording, the messages' parts."""

    start: int
    end: int
    wording: Wording
    parts: tuple[Part, ...]

    @cached_property
    def told_by(self) -> frozenset[str]:
        """Who wrote the messages and when, as the values of claims."""
        if not self.parts:
            return frozenset()
        told = "\n".join(
            f"{part.sender or ''}\n{part.time:%Y-%m-%d %H:%M}" if part.time else part.sender or ""
            for part in self.parts
        )
        wording = Wording(told, self.wording.language)
        return values_of(wording.claims) | wording.folded


@dataclass(frozen=True, slots=True)
class Judged:
    """Whether a passage backs a sentence: by how much, with which span, or why not."""

    is_backed: bool
    share: float
    why: str
    span: Span | None = None
    contradiction: str = ""


class PassageText:
    """A passage, taken apart once for all sentences that may rest on it."""

    def __init__(self, result: RetrievalResult, language: str) -> None:
        self.result = result
        self.content = result.chunk.content
        self.language = result.document.language or language
        self.enough = ENOUGH
        self._pairs: dict[int, Span] = {}

    @cached_property
    def searchable(self) -> Searchable:
        """Its text, to find quotes in."""
        return Searchable(self.content)

    @cached_property
    def setting(self) -> Searchable:
        """What it stands under, to find titles in."""
        return Searchable(self._setting)

    @cached_property
    def messages(self) -> tuple[Part, ...]:
        """Its chat messages."""
        return tuple(part for part in self.result.chunk.parts if part.kind is PartKind.MESSAGE)

    @property
    def _setting(self) -> str:
        chunk, document = self.result.chunk, self.result.document
        headings = [heading for part in chunk.parts for heading in part.headings]
        return "\n".join(dict.fromkeys((document.title, chunk.context, *chunk.location.headings, *headings)))

    @cached_property
    def bodies(self) -> list[tuple[int, int]]:
        """What of the content says something: all of it, of a chat what people wrote, of a table its rows."""
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
        """All that it says."""
        return Wording("\n".join(self.content[start:end] for start, end in self.bodies), self.language)

    @cached_property
    def around(self) -> Wording:
        """What it stands under."""
        return Wording(self._setting, self.language)

    @cached_property
    def sentences(self) -> list[Span]:
        """Its sentences, without headings and rules."""
        spans = [
            (first + start, first + end)
            for first, last in self.bodies
            for start, end in sentence_spans(self.content[first:last], self.language)
        ]
        told = [span for span in spans if not is_furniture(self.content, *span)]
        return [self.span(start, end) for start, end in told or spans]

    @cached_property
    def whole(self) -> Span:
        """All of it as one span."""
        return self.span(0, len(self.content))

    def _pair(self, first: Span, second: Span) -> Span:
        if first.start not in self._pairs:
            self._pairs[first.start] = self.span(first.start, second.end)
        return self._pairs[first.start]

    def around_span(self, start: int, end: int) -> Wording:
        """The sentences that a span touches."""
        touched = [one for one in self.sentences if one.start < end and one.end > start]
        first = min([start, *(one.start for one in touched)])
        return Wording(self.content[first : max([end, *(one.end for one in touched)])], self.language)

    def span(self, start: int, end: int) -> Span:
        """A span of its content, with the messages that it touches."""
        offset = self.result.chunk.start
        parts = tuple(part for part in self.messages if part.start < end + offset and part.end > start + offset)
        return Span(start, end, Wording(self.content[start:end], self.language), parts)

    @cached_property
    def values(self) -> frozenset[str]:
        """What its numbers, dates and addresses may mean, with those of what it stands under."""
        document = self.result.document
        links = find_claims(f"{document.source} {document.metadata.get('url') or ''}", self.language)
        return values_of(self.wording.claims) | values_of(self.around.claims) | values_of(links)

    @cached_property
    def names(self) -> frozenset[str]:
        """Its words and those it stands under, and the initials of its names."""
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
        """Whether a name stands in it, perhaps with another ending."""
        return any(
            value in self.names
            or value in self._beginnings
            or any(value[:size] in self.names for size in range(max(SHORTEST_NAME, len(value) - ENDING), len(value)))
            for value in values
        )

    def backs(self, claim: Claim, wording: Wording, span: Span | None) -> bool:
        """Whether the passage has a claim, whose own wording this is; who wrote the span and when counts too."""
        if span and span.parts and not claim.values.isdisjoint(span.told_by):
            return True
        if claim.kind is Kind.NAME:
            return self.has_name(claim.values) or speaks_of_the_answer(wording)
        return not claim.values.isdisjoint(self.values)

    def unbacked(self, wording: Wording, span: Span) -> Claim | None:
        """The first sure claim that the passage lacks."""
        for claim in wording.claims:
            own = Wording(wording.text[claim.start : claim.end], wording.language)
            if claim.is_sure and (not self.backs(claim, own, span) or self._stands_in_another_row(claim, span)):
                return claim
        return None

    def _stands_in_another_row(self, claim: Claim, span: Span) -> bool:
        """Whether a figure is another row's than the one that a sentence rests on."""
        own = values_of(span.wording.claims) | values_of(self.around.claims) | span.told_by
        if claim.kind is Kind.NAME or not self._is_row(span) or not claim.values.isdisjoint(own):
            return False
        holders = [one for one in self.sentences if not claim.values.isdisjoint(values_of(one.wording.claims))]
        return bool(holders) and all(map(self._is_row, holders))

    def _is_row(self, span: Span) -> bool:
        return is_row(self.content, span.start, span.end)

    def share(self, wording: Wording, span: Wording, told_by: Collection[str] = frozenset()) -> float:
        """How much of a sentence's words the span has; those only elsewhere in the passage count in part.

        `told_by` is who wrote it and when.
        """
        total = found = 0.0
        spoken_of = about_the_answer(wording.language)
        passage = self.wording.terms | self.around.terms
        for term, weight in wording.weights.items():
            if term in span.terms or term in told_by:
                found += weight
            elif term in passage:
                found += ELSEWHERE * weight
            elif term in spoken_of:
                continue
            total += weight
        own = values_of(span.claims).union(told_by)
        for claim in wording.numbers:
            found += CLAIM_WEIGHT * (1.0 if not claim.values.isdisjoint(own) else ELSEWHERE)
            total += CLAIM_WEIGHT
        return found / total if total else 0.0

    def judge(self, text: str) -> Judged:
        """Whether the passage backs a sentence that quotes nothing."""
        wording = Wording(text, self.language)
        best = self._best(wording)
        if best is None:
            return Judged(False, 0.0, "nothing in it can be compared")
        share, span = best
        if share < ENOUGH:
            return Judged(False, share, f"no passage has more than {share:.0%} of its words", span)
        why = self.contradiction(wording, span)
        if why:
            return Judged(False, share, why, span, why)
        return Judged(True, share, f"{share:.0%} of its words, by weight, with every number and name", span)

    def _best(self, wording: Wording) -> tuple[float, Span] | None:
        singles = [(self.share(wording, span.wording, span.told_by), span) for span in self.sentences]
        if not singles:
            return None
        share, best = max(singles, key=lambda pair: pair[0])
        for (one, first), (two, second) in itertools.pairwise(singles):
            if max(one, two) + PAIR_GAIN <= share or not one or not two or first.parts != second.parts:
                continue
            # Two rows of a table are about two things.
            if self._is_row(first) and self._is_row(second):
                continue
            pair = self._pair(first, second)
            both = self.share(wording, pair.wording, pair.told_by)
            if both >= share + PAIR_GAIN:
                share, best = both, pair
        return share, best

    def contradiction(self, wording: Wording, span: Span) -> str:
        """What speaks against a sentence that has the span's words; empty when nothing does."""
        missing = self.unbacked(wording, span)
        if missing:
            return f"the {missing.kind} {wording.text[missing.start : missing.end]} isn't in its evidence"
        return self.wrong_sender(wording, span) or negation_mismatch(wording, span.wording) or self.swapped(wording)

    def wrong_sender(self, wording: Wording, span: Span) -> str:
        """Of a chat: the sender whom a sentence names though others wrote what it rests on."""
        named = [part.sender for part in self.messages if part.sender and names_sender(wording, part.sender)]
        wrote = {part.sender for part in span.parts}
        if named and wrote.isdisjoint(named) and not any(names_sender(span.wording, sender) for sender in named):
            return f"{named[0]} didn't write that"
        return ""

    def swapped(self, wording: Wording) -> str:
        """What in a sentence took the place of something else of the passage; empty when nothing did."""
        return next(iter(self.swaps(wording).values()), "")

    def swaps(self, wording: Wording) -> dict[str, str]:
        """All that took the place of something else, each with what is wrong."""
        rivals = [(unit, self._in_place_of(unit)) for unit in wording.units[:CLAIMS]]
        return {
            unit.text: f"the passage has {rival.text}, not {unit.text}, in that place"
            for unit, rival in rivals
            if rival
        }

    def _in_place_of(self, unit: Unit) -> Unit | None:
        """What the passage has where the sentence has this unit, when it is clearly something else."""
        if not unit.is_sure and (self._is_plain_word(unit) or speaks_of_the_answer(Wording(unit.text, self.language))):
            return None
        if unit.kind == Kind.NAME and any(unit.agrees(other) for other in self._units_of_rows):
            # Around a name in a row stand other columns: where it stands says nothing.
            return None
        alike = {id(rival): rival for place in unit.around for rival in self._by_place.get((unit.kind, place), ())}
        own = max((unit.likeness(rival) for rival in alike.values() if unit.agrees(rival)), default=0.0)
        others = [rival for rival in alike.values() if not unit.agrees(rival)]
        if unit.kind == "opposite":
            opposed = OPPOSITES.get(self.language, OPPOSITES["en"])[next(iter(unit.values))]
            others = [rival for rival in others if not opposed.isdisjoint(rival.values)]
        best = max(others, key=unit.likeness, default=None)
        is_known = unit.is_sure or self.has_name(unit.values)
        margin = OPPOSED if unit.kind == "opposite" else SWAPPED if is_known else REPLACED
        return best if best and unit.likeness(best) >= own + margin else None

    @cached_property
    def _units_of_rows(self) -> list[Unit]:
        return [unit for span in self.sentences if self._is_row(span) for unit in span.wording.units]

    def _is_plain_word(self, unit: Unit) -> bool:
        """Whether a capital at a sentence's start is of a word that the passage has without one."""
        return not unit.values.isdisjoint(self.wording.folded) and unit.values.isdisjoint(self._unit_values)

    @cached_property
    def _unit_values(self) -> frozenset[str]:
        return frozenset(value for unit in self.wording.units for value in unit.values)
