"""A text analysed for comparison: words, stems, claims, negations, and what surrounds each claim."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from answerable.answering.checking.claim_words import claim_words, shared_words
from answerable.answering.checking.claims import Claim, Kind, find_claims, values_of
from answerable.answering.checking.locating import legible
from answerable.text.stop_words import STOP_WORDS
from answerable.text.terms import fold, terms

CLAIM_WEIGHT = 2.0
COMMON = 0.5
SCOPE = 3

_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_STOP = re.compile(r"[.;:!?]")
_NEAR = (1.0, 0.5, 1 / 3)


@dataclass(frozen=True, slots=True)
class Unit:
    """A number, month, name or word with an opposite, and the words around it; nearer words weigh more."""

    kind: str
    text: str
    values: frozenset[str]
    around: Mapping[tuple[int, str], float]
    is_sure: bool

    def agrees(self, other: Unit) -> bool:
        """Return whether both units may mean the same thing. A full name agrees with its shorter form."""
        if self.kind == Kind.NAME:
            return self.values <= other.values or other.values <= self.values
        return not self.values.isdisjoint(other.values)

    def likeness(self, other: Unit) -> float:
        """Return the weight of the words that both units have around them at equal distances."""
        return sum(min(weight, other.around.get(place, 0.0)) for place, weight in self.around.items())


class Wording:
    """A text in a language, analysed when first needed."""

    def __init__(self, text: str, language: str) -> None:
        self.text = legible(text)
        self.language = language

    @cached_property
    def claims(self) -> list[Claim]:
        """The numbers, months, names and addresses of the text."""
        return find_claims(self.text, self.language)

    @cached_property
    def words(self) -> list[tuple[str, int, int]]:
        """The folded words of the text, each with start and end."""
        return [(folded_word(match[0]), *match.span()) for match in _WORD.finditer(self.text)]

    @cached_property
    def folded(self) -> frozenset[str]:
        """The set of folded words of the text."""
        return frozenset(word for word, _, _ in self.words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of the words of the text without stop words."""
        return frozenset(terms(self.text, self.language))

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weights of the stems that need backing; numbers and addresses are left out."""
        kept, reached = [], 0
        for claim in self.claims:
            if claim.kind in (Kind.NUMBER, Kind.LINK) and claim.is_sure and claim.start >= reached:
                kept.append(self.text[reached : claim.start])
                reached = claim.end
        found = dict.fromkeys(terms(" ".join([*kept, self.text[reached:]]), self.language), 1.0)
        for claim in self.claims:
            if claim.kind is Kind.NAME and claim.is_sure:
                found.update(dict.fromkeys(terms(self.text[claim.start : claim.end], self.language), CLAIM_WEIGHT))
        return found

    @cached_property
    def numbers(self) -> list[Claim]:
        """The numbers and months that are surely claims."""
        return [claim for claim in self.claims if claim.is_sure and claim.kind in (Kind.NUMBER, Kind.MONTH)]

    @cached_property
    def negated(self) -> list[tuple[str, ...]]:
        """The stems of the words that follow each negation in its clause."""
        negations = claim_words(self.language).negations
        scopes = []
        for index, (word, _, end) in enumerate(self.words):
            if word not in negations:
                continue
            following = self.words[index + 1 : index + 1 + 3 * SCOPE]
            if following and following[0][0] in shared_words("only"):
                continue
            clause = _STOP.search(self.text, end)
            stop = clause.start() if clause else len(self.text)
            scope = [stem for _, first, last in following if last <= stop for stem in self._stems(first, last)]
            scopes.append(tuple(scope[:SCOPE]))
        return scopes

    def _stems(self, start: int, end: int) -> list[str]:
        word = folded_word(self.text[start:end])
        return [] if word in claim_words(self.language).negations else terms(self.text[start:end], self.language)

    @cached_property
    def units(self) -> list[Unit]:
        """The numbers, months, names (adjacent names joined) and words with opposites."""
        starts = {start: index for index, (_, start, _) in enumerate(self.words)}
        opposites = claim_words(self.language).opposites
        units = []
        covered = 0
        for first, last, claims in claims_joined(self.claims, self.text):
            index = starts.get(first)
            if index is None:
                index = next((at for at, (_, start, end) in enumerate(self.words[:200]) if start <= first < end), None)
            if index is not None:
                covered = index
                while covered + 1 < len(self.words) and self.words[covered + 1][1] < last:
                    covered += 1
                sure = any(claim.is_sure for claim in claims)
                units.append(self._unit(str(claims[0].kind), index, covered, values_of(claims), sure))
        for index, (word, _, _) in enumerate(self.words):
            if word in opposites:
                units.append(self._unit("opposite", index, index, frozenset({word}), True))
        return units

    def _unit(self, kind: str, first: int, last: int, values: frozenset[str], is_sure: bool) -> Unit:
        common = STOP_WORDS.get(self.language, STOP_WORDS["en"])
        around: dict[tuple[int, str], float] = {}
        for distance, weight in enumerate(_NEAR, 1):
            for side, at in ((-1, first - distance), (1, last + distance)):
                if 0 <= at < len(self.words):
                    word = self.words[at][0]
                    around.setdefault((side, word), weight * (COMMON if word in common else 1.0))
        return Unit(kind, self.text[self.words[first][1] : self.words[last][2]], values, around, is_sure)


def folded_word(word: str) -> str:
    """Return a word as used in comparisons: in lower case, without most accents and apostrophes."""
    return fold(word.lower()).replace("'", "").replace("’", "")


def claims_joined(claims: Sequence[Claim], text: str) -> Iterator[tuple[int, int, list[Claim]]]:
    """Yield (start, end, claims) for each claim except addresses; adjacent names form one item."""
    run: list[Claim] = []
    for claim in claims:
        if claim.kind is Kind.LINK:
            continue
        joins = run and claim.kind is Kind.NAME is run[-1].kind and not text[run[-1].end : claim.start].strip(" ")
        if run and not joins:
            yield run[0].start, run[-1].end, run
            run = []
        run.append(claim)
    if run:
        yield run[0].start, run[-1].end, run


def negation_mismatch(wording: Wording, evidence: Wording) -> str:
    """Return the reason why two texts differ in what they negate; "" if they don't differ."""
    for scope in wording.negated:
        if not any(not scope or set(scope) & set(other) for other in evidence.negated):
            return "it has a negation that its evidence lacks"
    for scope in evidence.negated:
        has_it = scope and all(stem in wording.terms for stem in scope[:2])
        if has_it and not any(set(scope) & set(other) for other in wording.negated):
            return "its evidence has a negation that it lacks"
    return ""


def speaks_of_the_answer(wording: Wording) -> bool:
    """Return whether all stems of a text are those of words about the answer itself."""
    return bool(wording.terms) and claim_words(wording.language).about_the_answer.issuperset(wording.terms)


def names_sender(wording: Wording, sender: str) -> bool:
    """Return whether a text contains a sender's name, or at least the first name."""
    first = next(iter(_WORD.findall(sender)), "")
    return len(first) > 1 and first[0].isalpha() and folded_word(first) in wording.folded
