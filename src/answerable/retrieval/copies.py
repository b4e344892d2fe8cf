"""Candidates that are copies of one text, such as a licence or a footer, which would leave no room for other texts.

Copies have equal scores. If they are most of what a search finds, it is repeated without their texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias

from answerable.filters import Filter
from answerable.retrieval.fetched import Fetched, Scored
from answerable.text.places import text_hash, without

Search: TypeAlias = "Callable[[int, Filter | None], Scored]"
"""A search of a store for the best, of a number and a filter."""

# Fewer equal scores are no crowd.
_CROWD = 3
_ROUNDS = 6
# Servers search differently, and slower, for more than a thousand.
_MOST = 800
_DIGITS = 5


def search_distinct(fetched: Fetched, search: Search, k: int, where: Filter | None) -> Scored:
    """Return the k best that `search` finds, best first; if most are copies, one of each text and what follows them.

    Of copies the one with the lowest number stays.
    """
    first = found = search(k, where)
    kept: dict[int, float] = {}
    hashes: set[str] = set()
    limit = k
    for _ in range(_ROUNDS):
        crowds = list(_crowds(found))
        if len(found) < limit or len(kept) + len(found) - sum(len(crowd) - 1 for crowd in crowds) > k // 2:
            break
        texts = _copied(fetched, crowds)
        if not texts.keys() - hashes:
            # What is left has no hash, or is as near by chance.
            break
        hashes |= texts.keys()
        kept |= {number: score for number, score in found if number in texts.values()}
        limit = min(2 * limit, _MOST)
        found = search(limit, without(hashes, where))
    if not kept:
        return first
    return sorted({**kept, **dict(found)}.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def _crowds(found: Scored) -> Iterator[list[int]]:
    """Yield the numbers of chunks with equal scores, where these are several."""
    for _, equals in groupby(found, key=lambda pair: round(pair[1], _DIGITS)):
        numbers = [number for number, _ in equals]
        if len(numbers) >= _CROWD:
            yield numbers


def _copied(fetched: Fetched, crowds: list[list[int]]) -> dict[str, int]:
    """Return the text's hash and the first chunk of each crowd whose first and last chunk are copies."""
    ends = {number: None for crowd in crowds for number in (min(crowd), max(crowd))}
    hashes = {number: text_hash(indexed.chunk) for number, (indexed, _) in fetched.fetch(list(ends)).items()}
    return {
        hashes[min(crowd)]: min(crowd)
        for crowd in crowds
        if min(crowd) in hashes and hashes[min(crowd)] == hashes.get(max(crowd))
    }
