"""Late interaction (Khattab & Zaharia 2020, arXiv:2004.12832): compare a question and a text token by token.

Each question token scores its cosine with the nearest token in the text, weighted by the rarity of its word. The
vectors come from the embedder that also searches, so no second model is needed; it wasn't trained for this. nDCG@10 on
the development sets without and with late interaction (500 questions each of XQuAD, SQuAD2 and across languages):

    SciFact en .724 .736     Cranfield en .437 .430     FaQuAD pt .939 .944     XQuAD en .982 .989, es .982 .984
    SQuAD2 en .953 .960, es .906 .917, pt .935 .945     es → en .943 .965       en → es .953 .966   de → en .929 .959
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from answerable.datatypes import FloatArray, Span
from answerable.protocols import TokenEmbedder

SPREAD = 0.2
"""A text whose score is this far below the best counts 0, like low cosines in `hybrid`."""
KEPT = 200
"""Number of texts whose vectors are cached: 40 MB for passages of 1,000 characters."""


class LateInteraction:
    """A reranker that uses an embedder's token vectors; it caches the vectors of the latest texts."""

    def __init__(self, embedder: TokenEmbedder) -> None:
        self._embedder = embedder
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, npt.NDArray[np.float16]] = OrderedDict()

    def judge(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """Return a score for each text, 1 for the best, at least 0. Raises EmbeddingError."""
        asked = {span: weight for span, weight in words.items() if weight > 0}
        if not asked or not texts:
            return [1.0] * len(texts)
        scores = self.compare(question, asked, texts)
        best = max(scores)
        return [max(1 - (best - score) / SPREAD, 0.0) for score in scores]

    def compare(self, question: str, words: Mapping[Span, float], texts: Sequence[str]) -> list[float]:
        """Return a score for each text: the weighted mean of the question tokens' cosines with their nearest tokens."""
        spans = sorted(words)
        asked = self._embedder.embed_query_tokens(question, spans)
        weights = np.concatenate([np.full(len(some), words[span]) for span, some in zip(spans, asked, strict=True)])
        nearest = self._nearest(np.concatenate(asked), self._tokens(texts))
        return [float(score) for score in weights @ nearest / (weights.sum() or 1.0)]

    def _nearest(self, asked: FloatArray, texts: Sequence[npt.NDArray[np.float16]]) -> FloatArray:
        """Return the highest cosine of each question token (rows) with the tokens of each text (columns)."""
        # A text without tokens gets the lowest cosine.
        some = [tokens if len(tokens) else -asked.mean(axis=0, keepdims=True) for tokens in texts]
        starts = np.cumsum([0, *map(len, some[:-1])])
        found: FloatArray = np.maximum.reduceat(asked @ np.concatenate(some).T.astype(np.float32), starts, axis=1)
        return found

    def _tokens(self, texts: Sequence[str]) -> list[npt.NDArray[np.float16]]:
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
            for text, tokens in zip(missing, self._embedder.embed_passage_tokens(missing), strict=True):
                self._kept[text] = tokens.astype(np.float16)
            for text in texts:
                self._kept.move_to_end(text)
            found = [self._kept[text] for text in texts]
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
            return found
