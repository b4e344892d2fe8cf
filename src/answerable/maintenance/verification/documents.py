"""Finds the faults of one stored document: its text, its chunks, their places and vectors.

`VectorCheck` embeds some passages, or all, again and compares the vectors with the stored ones.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from answerable.datatypes import Document, FloatArray, chunk_id
from answerable.filters import normalize_fields
from answerable.formats.locate import Locator
from answerable.indexing.prepare import document_fields, passage
from answerable.maintenance.verification.findings import Finding, Repair, name_of
from answerable.protocols import Difference, Embedder, IndexedChunk, PassageVectors, StoredDocument
from answerable.text.indexed_text import indexed_text
from answerable.text.terms import terms

# Most passages that a finding names.
_SHOWN = 5
# Tolerance for the length of a vector, which is 1: the rounding error of 8-bit numbers.
_ROUNDING = 0.01
# The fields of a passage that are its whole document's, whatever its metadata.
_OWN = ("source", "type", "language", "title", "document_id")


def document_findings(
    stored: StoredDocument, document: Document, chunks: Sequence[IndexedChunk], dimension: int
) -> list[Finding]:
    """Return the faults of a document and its chunks; `stored` is its entry in the store's list."""
    differences = _missing(stored, document, chunks) or [
        *_wrong_text(stored, document, chunks),
        *_wrong_places(document, chunks),
        *_wrong_vectors(chunks, dimension),
    ]
    return [Finding(kind, name_of(stored), detail, Repair.MAKE, document.id) for kind, detail in differences]


def _missing(
    stored: StoredDocument, document: Document, chunks: Sequence[IndexedChunk]
) -> list[tuple[Difference, str]]:
    sequences = [indexed.chunk.sequence for indexed in chunks]
    lost = sorted(set(range(stored.chunks)).difference(sequences))
    if lost:
        what = f"{len(lost):,} of {stored.chunks:,} passages are missing: {_some(number + 1 for number in lost)}"
        return [(Difference.MISSING, what)]
    if len(chunks) != stored.chunks:
        return [(Difference.ORPHANED, f"it has {len(chunks):,} passages instead of {stored.chunks:,}")]
    if len(document.content) != stored.characters:
        said = f"its text has {len(document.content):,} characters, not {stored.characters:,}"
        return [(Difference.OFFSETS, said)]
    return []


def _wrong_text(
    stored: StoredDocument, document: Document, chunks: Sequence[IndexedChunk]
) -> Iterator[tuple[Difference, str]]:
    strange = [indexed for indexed in chunks if not _is_its_own(indexed, document)]
    if len(strange) == len(chunks) and stored.content_hash != document.content_hash:
        yield Difference.OFFSETS, "its text isn't the one that was added"
    elif strange:
        numbers = _some(indexed.chunk.sequence + 1 for indexed in strange)
        yield Difference.OFFSETS, f"{len(strange):,} passages differ from the text at their place: {numbers}"
    else:
        reached = 0
        for chunk in (indexed.chunk for indexed in chunks):
            if document.content[reached : chunk.start].strip():
                yield Difference.MISSING, f"characters {reached:,} to {chunk.start:,} are in no passage"
                return
            reached = max(reached, chunk.end)
        if document.content[reached:].strip():
            yield Difference.MISSING, f"the text after character {reached:,} is in no passage"


def _is_its_own(indexed: IndexedChunk, document: Document) -> bool:
    """Whether a chunk's text and id match its position in the document, and its sentences lie within its text."""
    chunk = indexed.chunk
    return (
        0 <= chunk.start < chunk.end
        and chunk.document_id == document.id
        and document.content[chunk.start : chunk.end] == chunk.content
        and chunk.id == chunk_id(document.id, chunk.start, chunk.content)
        and all(0 <= start <= end <= len(chunk.content) for start, end in indexed.sentences)
        and len(indexed.sentence_vectors) in (0, len(indexed.sentences))
    )


def _wrong_places(document: Document, chunks: Sequence[IndexedChunk]) -> Iterator[tuple[Difference, str]]:
    locator = Locator(document)
    astray = [
        indexed.chunk
        for indexed in chunks
        if indexed.chunk.location != locator.location(indexed.chunk.start, indexed.chunk.end)
    ]
    if astray:
        first = f"{astray[0].location}, not {locator.location(astray[0].start, astray[0].end)}"
        yield Difference.LINK, f"{len(astray):,} passages are cited with a wrong place: {first}"
    fields = document_fields(document)
    own = normalize_fields({name: fields[name] for name in _OWN})
    unlike = [name for name, values in own.items() if any(chunk.fields.get(name) != values for chunk in chunks)]
    if unlike:
        yield Difference.COUNTS, f"filters see another {' and '.join(unlike)} for its passages than its own"


def _wrong_vectors(chunks: Sequence[IndexedChunk], dimension: int) -> Iterator[tuple[Difference, str]]:
    wrong = [indexed.chunk.sequence + 1 for indexed in chunks if not _is_vector(indexed, dimension)]
    if wrong:
        yield Difference.VECTORS, f"{len(wrong):,} passages have no vectors of length 1 in {dimension:,} dimensions"


def _is_vector(indexed: IndexedChunk, dimension: int) -> bool:
    """Return whether a chunk has vectors of length 1, or waits for them."""
    rows = indexed.sentence_vectors
    if indexed.vector.shape != (dimension,) or (len(rows) and rows.shape[1] != dimension):
        return False
    if indexed.waits:
        return not rows.any()
    # NaN fails this comparison too.
    lengths = np.linalg.norm(np.vstack([indexed.vector, rows]) if len(rows) else indexed.vector[None], axis=1)
    return bool(np.all(np.abs(lengths[:1] - 1) < _ROUNDING) and np.all(np.isfinite(lengths)))


def _some(numbers: Iterator[int]) -> str:
    listed = list(numbers)
    return ", ".join(map(str, listed[:_SHOWN])) + (" …" if len(listed) > _SHOWN else "")


# Least cosine of a stored and a new vector: another runtime or precision stays above it, another model far below.
SAME = 0.99
# Least cosine of sentence vectors. Some runtimes embed a sentence alone, others pool it from its passage: the least
# cosine of about 500 sentences was .77.
SAME_SENTENCE = 0.7
# Passages to embed at once: a few seconds of work. A round number.
_BATCH = 16


class VectorCheck:
    """Compares stored vectors with vectors computed again.

    It takes a random sample of `size` chunks (Vitter's algorithm R, 1985), or all of them if `everything` is true.
    `compared` counts them.
    """

    def __init__(self, embedder: Embedder, size: int, everything: bool = False) -> None:
        self.compared = 0
        self._embedder = embedder
        self._size = _BATCH if everything else size
        self._everything = everything
        self._seen = 0
        self._kept: list[tuple[Document, IndexedChunk]] = []
        self._wrong: Counter[tuple[str, str, Difference]] = Counter()

    def take(self, document: Document, indexed: IndexedChunk) -> None:
        """Offer a chunk to the sample, unless it waits for its vectors."""
        if indexed.waits:
            return
        self._seen += 1
        if len(self._kept) < self._size:
            self._kept.append((document, indexed))
        elif not self._everything and (place := random.randrange(self._seen)) < self._size:
            self._kept[place] = document, indexed
        if self._everything and len(self._kept) == _BATCH:
            self._compare()

    def findings(self) -> Iterator[Finding]:
        """Yield a finding for each document whose stored vectors or terms differ from those computed from its text."""
        self._compare()
        for (document_id, name, kind), count in self._wrong.items():
            what = "vectors of another embedder" if kind is Difference.VECTORS else "terms of another text"
            detail = f"{count:,} of the passages that were compared have {what}"
            yield Finding(kind, name, detail, Repair.MAKE, document_id)

    def _compare(self) -> None:
        waiting, self._kept = self._kept, []
        for start in range(0, len(waiting), _BATCH):
            batch = waiting[start : start + _BATCH]
            made = self._embedder.embed_passages([passage(indexed.chunk, indexed.sentences) for _, indexed in batch])
            for (document, indexed), vectors in zip(batch, made, strict=True):
                self._note(document, Difference.VECTORS, not _are_same(indexed, vectors))
                counts = Counter(terms(indexed_text(indexed.chunk), document.language))
                self._note(document, Difference.COUNTS, counts != dict(indexed.terms))
        self.compared += len(waiting)

    def _note(self, document: Document, kind: Difference, is_wrong: bool) -> None:
        self._wrong.update([(document.id, document.source or document.id, kind)] * is_wrong)


def _are_same(indexed: IndexedChunk, made: PassageVectors) -> bool:
    rows = indexed.sentence_vectors
    # `rows` is empty for imported chunks, which have no sentence vectors.
    spans = [_cosine(row, fresh) for row, fresh in zip(rows, made.spans, strict=False)] if len(rows) else []
    return _cosine(indexed.vector, made.whole) >= SAME and all(cosine >= SAME_SENTENCE for cosine in spans)


def _cosine(one: FloatArray, other: FloatArray) -> float:
    if one.shape != other.shape:
        return 0.0
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    # A zero vector has no direction: it equals only another zero vector.
    return float(one @ other) / lengths if lengths else float(not one.any() and not other.any())
