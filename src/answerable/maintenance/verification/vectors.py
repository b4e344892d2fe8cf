"""Embeds some passages, or all, again and compares the vectors with the stored ones."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np

from answerable.datatypes import Document, FloatArray
from answerable.maintenance.verification.findings import Finding, Repair
from answerable.protocols import Difference, Embedder, IndexedChunk, Passage, PassageVectors
from answerable.text.indexed_text import indexed_spans, indexed_text
from answerable.text.terms import terms

# The same model on another runtime, or in a few bits, stays above it; another model far below.
SAME = 0.99
# Runtimes that embed a sentence alone differ more from those that pool it from its passage: of some 500 sentences the
# least alike had .77.
SAME_SENTENCE = 0.7
_BATCH = 16


class VectorCheck:
    """Compares stored vectors with vectors computed anew.

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
        """Offer a chunk to the sample."""
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
            made = self._embedder.embed_passages([_passage(indexed) for _, indexed in batch])
            for (document, indexed), vectors in zip(batch, made, strict=True):
                self._note(document, Difference.VECTORS, not _are_same(indexed, vectors))
                counts = Counter(terms(indexed_text(indexed.chunk), document.language))
                self._note(document, Difference.COUNTS, counts != dict(indexed.terms))
        self.compared += len(waiting)

    def _note(self, document: Document, kind: Difference, is_wrong: bool) -> None:
        self._wrong.update([(document.id, document.source or document.id, kind)] * is_wrong)


def _passage(indexed: IndexedChunk) -> Passage:
    return Passage(indexed_text(indexed.chunk), indexed_spans(indexed.chunk, indexed.sentences))


def _are_same(indexed: IndexedChunk, made: PassageVectors) -> bool:
    rows = indexed.sentence_vectors
    # Imported chunks have no vectors of sentences.
    spans = [_cosine(row, fresh) for row, fresh in zip(rows, made.spans, strict=False)] if len(rows) else []
    return _cosine(indexed.vector, made.whole) >= SAME and all(cosine >= SAME_SENTENCE for cosine in spans)


def _cosine(one: FloatArray, other: FloatArray) -> float:
    if one.shape != other.shape:
        return 0.0
    lengths = float(np.linalg.norm(one)) * float(np.linalg.norm(other))
    # Zero vectors have no direction: they equal each other only.
    return float(one @ other) / lengths if lengths else float(not one.any() and not other.any())
