"""The searched text of a chunk, with title and headings; and the search for all chunks that have the same text.

Every store has a field with the text's hash to find such chunks. A long text has the same meaning under any title and
heading. The meaning of a short text ("thirty days") may depend on them, so its hash includes the title and headings.
White space and case make no difference.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from itertools import accumulate, pairwise

import numpy as np

from answerable.datatypes import Chunk
from answerable.filters import AllOf, Filter, Not, OneOf, field_values
from answerable.protocols.stores import CountingStore, IndexedChunk, Store
from answerable.text.characters import single_spaced

_BROKEN_WORD = re.compile(r"(?<=[^\W\d_])-\n(?=[^\W\d_])")
_LINE = re.compile(r"[^\s](?:[^\n]*[^\s])?")

Piece = tuple[str, int, int]


def indexed_text(chunk: Chunk) -> str:
    """Return the context line and the content.

    For PDFs, running heads are left out, table rows are Markdown, and hyphenated words are joined.
    """
    return f"{chunk.context}\n{indexed_content(chunk)}" if chunk.context else indexed_content(chunk)


def indexed_content(chunk: Chunk) -> str:
    """Return the content as it is indexed, without the context line."""
    return "".join(glue + chunk.content[start:end] for glue, start, end in _content_pieces(chunk))


def indexed_spans(chunk: Chunk, spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Map spans of the content to `indexed_text`; a span that is not indexed becomes empty."""
    context = len(chunk.context) + 1 if chunk.context else 0
    pieces = [("\n" * context, 0, 0), *_content_pieces(chunk)]
    starts = [start for _, start, _ in pieces]
    places = list(accumulate(len(glue) + end - start for glue, start, end in pieces))

    def place(offset: int, number: int) -> int:
        _, start, end = pieces[max(number, 0)]
        return places[max(number, 0)] - end + min(max(offset, start), end)

    firsts = ((place(start, bisect_right(starts, start) - 1), end) for start, end in spans)
    return tuple((first, max(first, place(end, bisect_left(starts, end) - 1))) for first, end in firsts)


def _content_pieces(chunk: Chunk) -> list[Piece]:
    """Return the indexed spans of the content, in order, each with the text to put before it."""
    # Without pages, the whole content is indexed unchanged.
    pieces = _pdf_pieces(chunk) if any(part.page is not None for part in chunk.parts) else []
    return pieces if any(start < end for _, start, end in pieces) else [("", 0, len(chunk.content))]


def _pdf_pieces(chunk: Chunk) -> list[Piece]:
    pieces: list[Piece] = []
    glue = ""
    reached = 0
    for part in chunk.parts:
        start, end = max(part.start - chunk.start, 0), min(part.end, chunk.end) - chunk.start
        if start > reached and pieces and not glue and not chunk.content[reached - 1].isspace():
            glue = "\n"
        cuts = [cell - chunk.start for cell in part.cells if start < cell - chunk.start < end]
        if part.cells:
            pieces += _row_pieces(chunk.content, glue, [start, *cuts, end])
        else:
            pieces += _whole_words(chunk.content, glue, start, end)
        glue = " |\n" if part.cells else ""
        reached = end
    return [*pieces, (glue.rstrip(), reached, reached)] if glue else pieces


def _row_pieces(content: str, glue: str, cuts: list[int]) -> Iterator[Piece]:
    glue += "| "
    for start, end in pairwise(cuts):
        for line in _LINE.finditer(content, start, end):
            yield glue, *line.span()
            glue = " "
        glue = " | " if glue == " " else f"{glue} | "


def _whole_words(content: str, glue: str, start: int, end: int) -> Iterator[Piece]:
    for broken in _BROKEN_WORD.finditer(content, start, end):
        if content[broken.end()].islower():
            yield glue, start, broken.start()
            glue, start = "", broken.end()
    yield glue, start, end


TEXT_HASH = "text_hash"
"""The field of chunks that has the hash of their text."""
LONG = 200
"""A text of at least this many characters has the same meaning under any title and headings."""
WORDS = 8
"""A quote of at least this many words has the same meaning under any title and headings."""
MOST = 1_000_000
"""Maximum number of places counted in a store that can count them only by listing them."""


def text_hash(chunk: Chunk) -> str:
    """Return the hash of a chunk's text: 16 hexadecimal digits."""
    text = indexed_content(chunk)
    if len(text) < LONG:
        text = indexed_text(chunk)
    text = single_spaced(text).casefold()
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def says_the_same_anywhere(quote: str) -> bool:
    """Return whether a quote is long enough to have the same meaning under any title and heading."""
    return len(quote.split()) >= WORDS


def stored_hash(indexed: IndexedChunk) -> str:
    """Return the hash of a stored chunk's text, computed only if the chunk was stored without it."""
    stored = field_values(indexed.fields, TEXT_HASH)
    return str(stored[0]) if stored else text_hash(indexed.chunk)


def having(hashes: Collection[str], where: Filter | None) -> Filter:
    """Return the filter for chunks that pass `where` and have one of these texts."""
    return _both(OneOf(TEXT_HASH, tuple(hashes)), where)


def without(hashes: Collection[str], where: Filter | None) -> Filter:
    """Return the filter for chunks that pass `where` and have none of these texts."""
    return _both(Not(OneOf(TEXT_HASH, tuple(hashes))), where)


def count_places(store: Store, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
    """Return how many chunks that pass `where` have each of these texts, by its hash.

    Chunks that an earlier version stored on a server have no hash: they aren't counted.
    """
    if isinstance(store, CountingStore):
        return store.count_places(hashes, where)
    # Usually no text occurs twice; one search for all texts shows that.
    if len(_listed(store, hashes, where)) <= len(hashes):
        return dict.fromkeys(hashes, 1)
    return {each: len(_listed(store, [each], where)) for each in hashes}


def _listed(store: Store, hashes: Collection[str], where: Filter | None) -> list[tuple[int, float]]:
    """Return all chunks that pass `where` and have one of these texts."""
    fingerprint = store.fingerprint
    if fingerprint is None or not hashes:
        return []
    # Any vector will do, since all matching chunks are wanted.
    vector = np.full(fingerprint.dimension, fingerprint.dimension**-0.5, np.float32)
    return store.search_vectors(vector, MOST, having(hashes, where))


def _both(texts: Filter, where: Filter | None) -> Filter:
    return texts if where is None else AllOf((texts, where))
