"""True statements made false: in the ways in which written answers go wrong.

Each way returns the statement and what was exchanged for what, or None where it doesn't apply. Exchanged in the passage
as well, the statement is true again: so no word alone tells true from false.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from answerable.text.word_lists import read_toml

NAME = re.compile(r"\b(?:[A-ZÀ-Þ][\w'’-]+(?: (?:(?:of|de|da|do|del|von|the) )?[A-ZÀ-Þ][\w'’-]+){0,3})")
NUMBER = re.compile(r"(?<![\w.,])\d[\d.,]*\d|(?<![\w.,])\d\b")
_NOUN = re.compile(r"\b(the|el|la|los|las|o|a|os|as|[Tt]he|El|La|Los|Las) ([a-zà-þ]{4,})\b")
_WORD = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"1\d{3}|20\d\d")


@dataclass(frozen=True, slots=True)
class Made:
    """A false statement; `exchanged` in the passage too it would be true. Empty if that can't be said."""

    text: str
    kind: str
    exchanged: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Material:
    """What a statement is made false with: its passage, names of other passages, and similar words by word."""

    passage: str
    language: str
    other_names: Sequence[str]
    similar: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Words:
    """The word lists of a language in `statements.toml`."""

    frames: tuple[str, ...]
    answers: tuple[str, ...]
    opposites: Mapping[str, str]
    stronger: Mapping[str, str]
    verbs: frozenset[str]
    no: str
    no_follows: bool


@cache
def words_of(language: str) -> Words:
    """Return a language's word lists."""
    read = read_toml(Path(__file__).with_name("statements.toml"))[language]
    opposites: dict[str, str] = {}
    for pair in read["opposites"].split(","):
        first, second = pair.strip().split("/")
        opposites.setdefault(first, second)
        opposites.setdefault(second, first)
    stronger = dict(pair.strip().split(">") for pair in read["stronger"].split(","))
    return Words(
        tuple(read["frames"].strip().split("|")),
        tuple(read["answers"].strip().split("|")),
        opposites,
        stronger,
        frozenset(read["verbs"].split()),
        read["not"],
        read["not_follows"],
    )


def names_of(text: str) -> list[str]:
    """Return the names of a text, without words that are capitalised only because a sentence begins with them."""
    found = list(NAME.finditer(text))
    inside = {match[0] for match in found if not _begins_sentence(text, match.start())}
    return [match[0] for match in found if match[0] in inside or " " in match[0]]


def _begins_sentence(text: str, at: int) -> bool:
    before = text[:at].rstrip(" \n\"'“«(")
    return not before or before[-1] in ".!?:;"


def roles(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Exchange two names, two numbers, or two nouns with the same article."""
    known = set(names_of(material.passage)) | set(names_of(statement))
    names = [name for name in dict.fromkeys(match[0] for match in NAME.finditer(statement)) if name in known]
    numbers = list(dict.fromkeys(NUMBER.findall(statement)))
    nouns = [match[2] for match in _NOUN.finditer(statement)]
    articles = {match[2]: match[1].lower() for match in _NOUN.finditer(statement)}
    groups = [names, names, numbers, list(dict.fromkeys(nouns))]
    draw.shuffle(groups)
    for group in groups:
        pairs = [
            (first, second)
            for number, first in enumerate(group)
            for second in group[number + 1 :]
            if first not in second and second not in first and articles.get(first) == articles.get(second)
        ]
        if pairs:
            first, second = draw.choice(pairs)
            exchanged = ((first, second), (second, first))
            return Made(exchange(statement, exchanged), "roles", exchanged)
    return None


def attribute(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Put another name or number of the passage in the place of one."""
    return _replaced(statement, names_of(material.passage), NUMBER.findall(material.passage), "attribute", draw)


def changed(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Put a name or number in the place of one that the passage doesn't have."""
    numbers = [_another_number(number, draw) for number in NUMBER.findall(statement)]
    missing = [name for name in material.other_names if name not in material.passage]
    free = [number for number in numbers if number not in material.passage]
    return _replaced(statement, missing, free, "changed", draw)


def direction(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Exchange a word for its opposite."""
    return _by_list(statement, words_of(material.language).opposites, "direction", draw)


def overstated(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Exchange a word for a stronger one."""
    made = _by_list(statement, words_of(material.language).stronger, "overstated", draw)
    return Made(made.text, made.kind) if made else None


def negated(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Add a negation, or take one away."""
    words = words_of(material.language)
    has = re.search(rf"\b{words.no} |n't\b", statement)
    if has:
        return Made(statement[: has.start()] + statement[has.end() :], "negation")
    verbs = [match for match in _WORD.finditer(statement) if match[0] in words.verbs]
    if not verbs:
        return None
    verb = draw.choice(verbs)
    at, added = (verb.end(), f" {words.no}") if words.no_follows else (verb.start(), f"{words.no} ")
    return Made(statement[:at] + added + statement[at:], "negation")


def word(statement: str, material: Material, draw: random.Random) -> Made | None:
    """Exchange a word for a similar one that the passage doesn't have."""
    places = [match for match in _WORD.finditer(statement) if match[0] in material.similar]
    if not places:
        return None
    place = draw.choice(places)
    others = [other for other in material.similar[place[0]] if other not in material.passage]
    if not others:
        return None
    other = draw.choice(others)
    return Made(statement[: place.start()] + other + statement[place.end() :], "word", ((place[0], other),))


def combined(statement: str, material: Material, draw: random.Random, others: Sequence[str]) -> Made | None:
    """Say of the subject what another sentence says of its own."""
    verbs = words_of(material.language).verbs

    def halves(text: str) -> tuple[str, str] | None:
        place = next((match for match in _WORD.finditer(text) if match[0] in verbs), None)
        return (text[: place.start()], text[place.start() :]) if place and NAME.search(text[: place.start()]) else None

    own = halves(statement)
    for other in draw.sample(list(others), len(others)):
        its = halves(other)
        if own and its and not set(NAME.findall(own[0])) & set(NAME.findall(its[0])):
            return Made(own[0] + its[1], "combined")
    return None


WAYS: tuple[tuple[Callable[[str, Material, random.Random], Made | None], float], ...] = (
    (roles, 3.0), (attribute, 3.5), (changed, 1.5), (direction, 2.0), (overstated, 1.5), (negated, 1.0), (word, 2.0),
)  # fmt: skip
"""The ways that need nothing but the statement and its passage, and how often each is tried first."""


def make_false(statement: str, material: Material, draw: random.Random, others: Sequence[str] = ()) -> Made | None:
    """Return the statement made false in some way; None if none applies."""
    if others and draw.random() < 0.1:
        made = combined(statement, material, draw, others)
        if made:
            return made
    left = list(WAYS)
    while left:
        way = draw.choices(left, [weight for _, weight in left])[0]
        left.remove(way)
        made = way[0](statement, material, draw)
        if made and made.text != statement:
            return made
    return None


def exchange(text: str, exchanged: Sequence[tuple[str, str]]) -> str:
    """Return the text with whole words or names exchanged, all at once."""
    new = dict(exchanged)
    pattern = "|".join(re.escape(old) for old in sorted(new, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{pattern})(?!\w)", lambda match: new[match[0]], text)


def _replaced(
    statement: str, names: Sequence[str], numbers: Sequence[str], kind: str, draw: random.Random
) -> Made | None:
    own_numbers = list(dict.fromkeys(NUMBER.findall(statement)))
    own_names = list(dict.fromkeys(names_of(statement)))
    for olds, news in draw.sample(((own_names, names), (own_numbers, numbers)), 2):
        free = [new for new in news if new not in statement]
        draw.shuffle(olds)
        for old in olds:
            years = bool(_YEAR.fullmatch(old))
            fitting = [new for new in free if bool(_YEAR.fullmatch(new)) == years and new not in old and old not in new]
            if fitting:
                exchanged = ((old, draw.choice(fitting)),)
                return Made(exchange(statement, exchanged), kind, exchanged)
    return None


def _another_number(number: str, draw: random.Random) -> str:
    """Return a number of the same form with one digit changed, mostly not the first one."""
    places = [at for at, letter in enumerate(number) if letter.isdigit()]
    at = draw.choice(places[1:] or places)
    return number[:at] + draw.choice([digit for digit in "123456789" if digit != number[at]]) + number[at + 1 :]


def _by_list(statement: str, exchanges: Mapping[str, str], kind: str, draw: random.Random) -> Made | None:
    lower = statement.lower()
    found = [old for old in exchanges if re.search(rf"(?<!\w){re.escape(old)}(?!\w)", lower)]
    if not found:
        return None
    old = draw.choice(found)
    places = list(re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", lower))
    place = draw.choice(places)
    return Made(statement[: place.start()] + exchanges[old] + statement[place.end() :], kind, ((old, exchanges[old]),))
