"""How close words of a question are in meaning to names of columns and values, by the library's embedder.

Vectors of single words have much in common, most of all within a language. So the mean vector of unrelated everyday
words of that language is subtracted first, as Mu & Viswanath 2018 (arXiv:1702.01417) do with all words.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from answerable.computing.source import Source
from answerable.computing.vocabulary import word_lists
from answerable.computing.word_forms import spoken
from answerable.datatypes import FloatArray
from answerable.protocols import Embedder, Passage

KEPT = 20_000
"""How many vectors of words are kept, 1.5 KB each."""


class Closeness:
    """Cosines of words and names. Thread-safe; vectors are kept for the next question."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, FloatArray] = OrderedDict()
        self._means: dict[str, FloatArray] = {}
        self._lock = threading.Lock()

    def of(self, words: Sequence[str], language: str, names: Sequence[str], names_language: str) -> FloatArray:
        """Return the cosine of each word with each name, shape (words, names), without what their languages share."""
        if not words or not names:
            return np.zeros((len(words), len(names)), np.float32)
        with self._lock:
            one, other = self._centred(words, language), self._centred(names, names_language)
        cosines: FloatArray = one @ other.T
        return cosines

    def to_table(self, word: str, language: str, source: Source) -> float:
        """Return how close a word for rows is to what the table, its document or its columns are called, at most 1."""
        names = [source.table.title, source.document.title, *(spoken(each.name) for each in source.table.columns)]
        cosines = self.of([word], language, [name for name in names if name], source.document.language)
        return float(cosines.max()) if cosines.size else -1.0

    def _centred(self, texts: Sequence[str], language: str) -> FloatArray:
        moved = self._vectors(texts) - self._mean(language)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        scaled: FloatArray = (moved / np.maximum(lengths, 1e-6)).astype(np.float32)
        return scaled

    def _mean(self, language: str) -> FloatArray:
        lists = word_lists("everyday")
        if language not in self._means:
            sample = lists[language] if language in lists else " ".join(lists.values())
            mean: FloatArray = self._vectors(sample.split()).mean(axis=0)
            self._means[language] = mean
        return self._means[language]

    def _vectors(self, texts: Sequence[str]) -> FloatArray:
        missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
        if missing:
            found = self._embedder.embed_passages([Passage(text) for text in missing])
            self._kept.update(zip(missing, (each.whole for each in found), strict=True))
        vectors = np.stack([self._kept[text] for text in texts])
        for text in texts:
            self._kept.move_to_end(text)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return vectors
