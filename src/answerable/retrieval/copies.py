"""Texts that stand in so many places, such as a licence or a footer, that they would leave no room for others.

If most candidates are copies, both searches are repeated without their texts, of which one place stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

from answerable.filters import Filter
from answerable.retrieval.fetched import Fetched, Scored
from answerable.text.places import without

Search: TypeAlias = "Callable[[int, Filter | None], Scored]"
"""A search of a store for the best, of a number and a filter."""


class Crowd:
    """The texts that are left out when a search is repeated, and the one chunk of each that stays."""

    def __init__(self, fetched: Fetched) -> None:
        self._fetched = fetched
        self._texts: set[str] = set()
        self._kept: set[int] = set()
        self._found: dict[str, dict[int, float]] = {}

    def search(self, name: str, search: Search, k: int, where: Filter | None) -> Scored:
        """Return the k best, best first; `name` tells the searches of one question apart."""
        if not self._texts:
            found = search(k, where)
            self._found[name] = dict(found)
            return found
        stays = {number: score for number, score in self._found[name].items() if number in self._kept}
        self._found[name] = {**stays, **dict(search(k, without(self._texts, where)))}
        return sorted(self._found[name].items(), key=lambda pair: (-pair[1], pair[0]))[:k]

    def grows(self, best: Sequence[int], *samples: Sequence[int]) -> bool:
        """Return whether most of the best chunks, or of a sample of others, are copies of texts that weren't left out.

        These are left out from now on; the first chunk of each stays.
        """
        lists = best, *samples
        # If more than half of a sample differ, the rest needn't be fetched; the best will be anyway.
        some = best, *(numbers[: len(numbers) // 2 + 1] for numbers in samples)
        texts = self._texts_of(chain(*some))
        if all(len({texts[number] for number in numbers if number in texts}) == len(numbers) for numbers in some):
            return False
        texts = self._texts_of(chain(*lists))
        new: dict[str, int] = {}
        for numbers in lists:
            found = [texts[number] for number in numbers if number in texts]
            if 2 * len(set(found)) <= len(found):
                # A text that was left out and is found again has no hash in the store.
                repeated = {text for text in found if found.count(text) > 1} - self._texts
                new |= {
                    text: next(each for each in numbers if texts.get(each) == text) for text in repeated - new.keys()
                }
        self._texts |= new.keys()
        self._kept |= set(new.values())
        return bool(new)

    def _texts_of(self, numbers: Iterable[int]) -> dict[int, str]:
        stored = self._fetched.fetch(list(dict.fromkeys(numbers)))
        return {number: self._fetched.text_of(indexed.chunk) for number, (indexed, _) in stored.items()}
