"""A text taken apart for comparing: its words and their stems, its claims, what it negates and what stands where."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from answerable.answering.checking.claim_words import ABOUT_THE_ANSWER, NEGATIONS, ONLY, OPPOSITES
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
    """A number, month, name or word with an opposite, and the words around it: nearer ones weigh more."""

    kind: str
    text: str
    values: frozenset[str]
    around: Mapping[tuple[int, str], float]
    is_sure: bool

    def agrees(self, other: Unit) -> bool:
        """Whether both may mean the same; of names one may be the shorter form of the other."""
        if self.kind == Kind.NAME:
            return self.values <= other.values or other.values <= self.values
        return not self.values.isdisjoint(other.values)

    def likeness(self, other: Unit) -> float:
        """How much of what stands around one stands around the other."""
        return sum(min(weight, other.around.get(place, 0.0)) for place, weight in self.around.items())


class Wording:
    """A text in a language, taken apart: its terms, claims, negations."""

    def __init__(self, text: str, language: str) -> None:
        self.text = legible(text)
        self.language = language

    @cached_property
    def claims(self) -> list[Claim]:
        """Its numbers, months, names and addresses."""
        return find_claims(self.text, self.language)

    @cached_property
    def words(self) -> list[tuple[str, int, int]]:
        """Its words, folded, with start and end."""
        return [(folded_word(match[0]), *match.span()) for match in _WORD.finditer(self.text)]

    @cached_property
    def folded(self) -> frozenset[str]:
        """Its different words, folded, with those that make up a compound of them."""
        return frozenset(word for word, _, _ in self.words)

    @cached_property
    def terms(self) -> frozenset[str]:
        """The stems of its words, the stop words left out."""
        return frozenset(terms(self.text, self.language))

    @cached_property
    def weights(self) -> dict[str, float]:
        """The stems of what must be backed, without numbers and addresses, with their weights."""
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
        """Its sure numbers and months."""
        return [claim for claim in self.claims if claim.is_sure and claim.kind in (Kind.NUMBER, Kind.MONTH)]

    @cached_property
    def negated(self) -> list[tuple[str, ...]]:
        """For each negation the stems of the next words, as far as the clause goes."""
        negations = NEGATIONS.get(self.language, NEGATIONS["en"])
        scopes = []
        for index, (word, _, end) in enumerate(self.words):
            if word not in negations:
                continue
            following = self.words[index + 1 : index + 1 + 3 * SCOPE]
            if following and following[0][0] in ONLY:
                continue
            clause = _STOP.search(self.text, end)
            stop = clause.start() if clause else len(self.text)
            scope = [stem for _, first, last in following if last <= stop for stem in self._stems(first, last)]
            scopes.append(tuple(scope[:SCOPE]))
        return scopes

    def _stems(self, start: int, end: int) -> list[str]:
        word = folded_word(self.text[start:end])
        return [] if word in NEGATIONS.get(self.language, ()) else terms(self.text[start:end], self.language)

    @property
    def _common(self) -> frozenset[str]:
        return STOP_WORDS.get(self.language, STOP_WORDS["en"])

    @cached_property
    def units(self) -> list[Unit]:
        """Its numbers, months, names (neighbouring ones as one) and words with opposites."""
        starts = {start: index for index, (_, start, _) in enumerate(self.words)}
        opposites = OPPOSITES.get(self.language, OPPOSITES["en"])
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
        around: dict[tuple[int, str], float] = {}
        for distance, weight in enumerate(_NEAR, 1):
            for side, at in ((-1, first - distance), (1, last + distance)):
                if 0 <= at < len(self.words):
                    word = self.words[at][0]
                    around.setdefault((side, word), weight * (COMMON if word in self._common else 1.0))
        return Unit(kind, self.text[self.words[first][1] : self.words[last][2]], values, around, is_sure)


def folded_word(word: str) -> str:
    """A word as words are compared: in small letters, without accents that don't tell and apostrophes."""
    return fold(word.lower()).replace("'", "").replace("’", "")


def claims_joined(claims: Sequence[Claim], text: str) -> Iterator[tuple[int, int, list[Claim]]]:
    """Claims, neighbouring names as one: (start, end, claims)."""
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


@lru_cache(maxsize=8)
def about_the_answer(language: str) -> frozenset[str]:
    """The stems of words that speak of the answer itself, in one of the engine's languages."""
    return frozenset(terms(ABOUT_THE_ANSWER.get(language, ABOUT_THE_ANSWER["en"]), language))


def negation_mismatch(wording: Wording, evidence: Wording) -> str:
    """What is negated in one text and not in the other, where both have it; empty when nothing is."""
    for scope in wording.negated:
        if not any(not scope or set(scope) & set(other) for other in evidence.negated):
            return "it negates what its evidence doesn't"
    for scope in evidence.negated:
        has_it = scope and all(stem in wording.terms for stem in scope[:2])
        if has_it and not any(set(scope) & set(other) for other in wording.negated):
            return "its evidence negates that"
    return ""


def speaks_of_the_answer(wording: Wording) -> bool:
    """Whether a text says something, and nothing but of the answer itself."""
    return bool(wording.terms) and about_the_answer(wording.language).issuperset(wording.terms)


def names_sender(wording: Wording, sender: str) -> bool:
    """Whether a text names a sender, by the first word of the name at least."""
    first = next(iter(_WORD.findall(sender)), "")
    return len(first) > 1 and first[0].isalpha() and folded_word(first) in wording.folded
