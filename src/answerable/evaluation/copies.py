"""Find documents that other documents repeat: their answers remain in a library that they are removed from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from answerable.datatypes import Document
from answerable.text.terms import fold, words

LENGTH = 4
SHARE = 0.3


def copies(documents: Sequence[Document]) -> dict[str, frozenset[str]]:
    """Map each document's id to the ids of others that contain at least 30 % of its sequences of four words."""
    sequences = {document.id: _sequences(document.content) for document in documents}
    holders: dict[tuple[str, ...], list[str]] = {}
    for name, held in sequences.items():
        for sequence in held:
            holders.setdefault(sequence, []).append(name)
    found = {}
    for name, held in sequences.items():
        shared = Counter(other for sequence in held for other in holders[sequence] if other != name)
        repeating = frozenset(other for other, count in shared.items() if count >= SHARE * len(held))
        if repeating:
            found[name] = repeating
    return found


def _sequences(text: str) -> set[tuple[str, ...]]:
    spelt = [fold(word) for word in words(text)]
    return {tuple(spelt[start : start + LENGTH]) for start in range(len(spelt) - LENGTH + 1)}
