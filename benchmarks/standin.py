"""A stand-in for an embedder, thousands of passages a second, where a benchmark is about scale and not about meaning.

Random indexing (Kanerva et al. 2000): a word's vector is the sum of vectors of chance, one for each passage of a sample
that it stands in, so that words of one topic lie near each other; a little chance of its own tells it from them. A text
is the sum of its words' vectors, each by its rarity in the sample, with length 1. Texts on the same thing are near,
topics are clusters, most texts are far from each other. Words are hashed; no order of words is known.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np

from answerable.datatypes import FloatArray
from answerable.protocols import Fingerprint, Passage, PassageVectors

DIMENSION = 384
BUCKETS = 1 << 16
OWN = 0.5
WORD = re.compile(r"\w+")


class StandInEmbedder:
    """Embeds by words, learnt from a sample of passages."""

    def __init__(self, table: FloatArray) -> None:
        self._table = table

    @property
    def fingerprint(self) -> Fingerprint:
        """A name of its own."""
        return Fingerprint("benchmark", "random-indexing", DIMENSION)

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Vectors of texts and of their spans."""
        return [self._embed(passage) for passage in passages]

    def embed_query(self, text: str) -> FloatArray:
        """The vector of a question, made as a text's is."""
        return self._embed(Passage(text)).whole

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Words."""
        return [len(WORD.findall(text)) for text in texts]

    def cost(self, tokens: int) -> float:
        """Nothing."""
        return 0.0

    def _embed(self, passage: Passage) -> PassageVectors:
        places, words = [0], [0]
        for match in WORD.finditer(passage.text):
            places.append(match.start())
            words.append(_bucket(match.group().lower()))
        # How far the sum has come before each word: that of a span is a difference.
        sums = np.cumsum(self._table[words], axis=0)
        edges = np.searchsorted(places, np.array(passage.spans, np.int64).reshape(-1, 2))
        rows = sums[np.maximum(edges[:, 1] - 1, 0)] - sums[np.maximum(edges[:, 0] - 1, 0)]
        return PassageVectors(_unit(sums[-1:] - sums[:1] + 1e-6)[0], _unit(rows + 1e-6))


def learn(sample: Iterable[str]) -> FloatArray:
    """Vectors of words by bucket, weighted by rarity, shape (buckets, dimension)."""
    chance = np.random.default_rng(1)
    sums = np.zeros((BUCKETS, DIMENSION), np.float32)
    counts = np.zeros(BUCKETS, np.int64)
    passages = 0
    for text in sample:
        words = list({_bucket(word.lower()) for word in WORD.findall(text)})
        sums[words] += chance.standard_normal(DIMENSION, np.float32)
        counts[words] += 1
        passages += 1
    own = chance.standard_normal((BUCKETS, DIMENSION), np.float32)
    topics = sums - counts[:, None] * (sums.sum(axis=0) / max(counts.sum(), 1))
    rarity = np.log(1 + passages / (counts + 1)) / math.log(1 + passages)
    return np.asarray((_unit(topics + 1e-6) + OWN * _unit(own)) * rarity[:, None], np.float32)


@lru_cache(1 << 16)
def _bucket(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace")) % BUCKETS


def _unit(rows: FloatArray) -> FloatArray:
    unit: FloatArray = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return unit
