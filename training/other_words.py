"""Questions in other words than the passage: single words exchanged for their translations.

A word is translated by the embedder's own vectors: into the nearest words that aren't in texts of its language. Such
mixed questions teach the reader to answer by meaning, across languages too ("CoSDA-ML", Qin et al. 2020,
arXiv:2006.06402). Words of the same language are not used: an antonym's vector is as near as a synonym's.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from itertools import chain

import numpy as np

from answerable.e5.model_file import ModelFile, dequantize
from answerable.e5.tokenizer import vocabulary
from training.corpus import Corpus

SHORTEST = 4
NEAREST = 4
LEAST_COSINE = 0.45
EXCHANGED = 0.5

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_BEGINS = "▁"
_LAST_LATIN = "ɏ"
_ROWS = 1_000


class OtherWords:
    """Translations of single words, from the vectors of an embedder's vocabulary."""

    def __init__(self, corpus: Corpus, model: ModelFile) -> None:
        self._translations = _translations(_spoken(corpus), model)

    def __len__(self) -> int:
        return len(self._translations)

    def exchange(self, question: str, draw: random.Random) -> str:
        """Return the question with some of its words, but no names, in another language."""

        def other(match: re.Match[str]) -> str:
            found = self._translations.get(match[0])
            return draw.choice(found) if found and draw.random() < EXCHANGED else match[0]

        return _WORD.sub(other, question)


def _spoken(corpus: Corpus) -> dict[str, set[str]]:
    """Return the lower-case words of the corpus, by language."""
    found: dict[str, set[str]] = defaultdict(set)
    for language, text in chain(
        ((passage.language, passage.text) for passage in corpus.passages),
        ((question.language, question.text) for question in corpus.questions),
    ):
        found[language].update(word for word in _WORD.findall(text) if word == word.lower())
    return found


def _translations(spoken: dict[str, set[str]], model: ModelFile) -> dict[str, list[str]]:
    """Return the nearest words that are not in texts of a word's own language; only of words of one token."""
    tokens = {
        piece[1:]: number
        for number, piece in enumerate(vocabulary(model))
        if piece.startswith(_BEGINS) and len(piece) > SHORTEST and _is_plain(piece[1:])
    }
    words = list(tokens)
    vectors = dequantize(model.blocks("emb.word")[np.array(list(tokens.values()))]).reshape(len(words), -1)
    vectors -= vectors.mean(axis=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found: dict[str, list[str]] = {}
    for own in spoken.values():
        asked = [number for number, word in enumerate(words) if word in own]
        is_own = np.zeros(len(words), bool)
        is_own[asked] = True
        for start in range(0, len(asked), _ROWS):
            rows = asked[start : start + _ROWS]
            cosines = np.where(is_own, -1.0, vectors[rows] @ vectors.T)
            nearest = np.argpartition(-cosines, NEAREST, axis=1)[:, :NEAREST]
            for row, places, here in zip(rows, nearest, cosines, strict=True):
                if others := [words[place] for place in places if here[place] >= LEAST_COSINE]:
                    found.setdefault(words[row], others)
    return found


def _is_plain(word: str) -> bool:
    return word.isalpha() and word == word.lower() and max(word) <= _LAST_LATIN
