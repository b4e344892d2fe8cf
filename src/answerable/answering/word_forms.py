"""Words that are forms of one another where stems aren't: irregular forms ("vende", "vendió"), kindred languages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import takewhile

SHORTEST = 4
ALIKE = 0.6


class WordForms:
    """The terms of a text, ready to be asked whether one of them is a form of a word."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._by_beginning: dict[str, list[str]] = {}
        for term in terms:
            self._by_beginning.setdefault(term[:SHORTEST], []).append(term)

    def has_like(self, word: Collection[str]) -> bool:
        """Whether one of the terms begins as one of the word's stems does, for most of the longer one."""
        return any(
            _alike(term, stem)
            for stem in word
            if len(stem) >= SHORTEST
            for term in self._by_beginning.get(stem[:SHORTEST], ())
        )


def _alike(one: str, other: str) -> bool:
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return shared >= SHORTEST and shared >= ALIKE * max(len(one), len(other))
