"""The places of a text: all chunks that have it, found in every store by a field with the text's hash.

A long text says the same wherever it stands, under whatever title and heading. What a short one says may depend on them
("thirty days"): under others it is another text. White space and case make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from hashlib import blake2b

import numpy as np

from answerable.datatypes import Chunk
from answerable.filters import AllOf, Filter, Not, OneOf, field_values
from answerable.protocols import CountingStore, IndexedChunk, Store
from answerable.text.characters import single_spaced
from answerable.text.indexed_text import indexed_content, indexed_text

TEXT_HASH = "text_hash"
"""The field of chunks that has the hash of their text."""
LONG = 200
"""From so many characters on, a text doesn't need its title and headings."""
WORDS = 8
"""From so many words on, neither does a quote."""
MOST = 1_000_000
"""Up to this number places are counted in a store that has to list them."""
_HASH = re.compile("[0-9a-f]{16}")


def text_hash(chunk: Chunk) -> str:
    """Return the hash of a chunk's text: 16 hexadecimal digits."""
    text = indexed_content(chunk)
    if len(text) < LONG:
        text = indexed_text(chunk)
    text = single_spaced(text).casefold()
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def says_the_same_anywhere(quote: str) -> bool:
    """Return whether a quote is long enough to say the same under any title and heading."""
    return len(quote.split()) >= WORDS


def stored_hash(indexed: IndexedChunk) -> str:
    """Return the hash of a stored chunk's text, computed only if an earlier version stored it without."""
    for value in field_values(indexed.fields, TEXT_HASH):
        # Under an earlier version a document's own metadata may have had the name.
        if isinstance(value, str) and _HASH.fullmatch(value):
            return value
    return text_hash(indexed.chunk)


def having(hashes: Collection[str], where: Filter | None) -> Filter:
    """Return the filter for what passes `where` and has one of these texts."""
    return _both(OneOf(TEXT_HASH, tuple(hashes)), where)


def without(hashes: Collection[str], where: Filter | None) -> Filter:
    """Return the filter for what passes `where` and has none of these texts."""
    return _both(Not(OneOf(TEXT_HASH, tuple(hashes))), where)


def count_places(store: Store, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
    """Return how many chunks that pass `where` have each of these texts, by its hash.

    Chunks that an earlier version stored on a server have no hash: they aren't counted.
    """
    if isinstance(store, CountingStore):
        return store.count_places(hashes, where)
    # Mostly no text stands twice, and one search tells.
    if len(_listed(store, hashes, where)) <= len(hashes):
        return dict.fromkeys(hashes, 1)
    return {each: len(_listed(store, [each], where)) for each in hashes}


def _listed(store: Store, hashes: Collection[str], where: Filter | None) -> list[tuple[int, float]]:
    """Return all chunks that pass `where` and have one of these texts."""
    fingerprint = store.fingerprint
    if fingerprint is None or not hashes:
        return []
    # Any vector will do, since all are wanted.
    vector = np.full(fingerprint.dimension, fingerprint.dimension**-0.5, np.float32)
    return store.search_vectors(vector, MOST, having(hashes, where))


def _both(texts: Filter, where: Filter | None) -> Filter:
    return texts if where is None else AllOf((texts, where))
