"""Questions and passages in other words: single words exchanged for their translations.

A word is translated by the embedder's own vectors: into the nearest words of the other language, when each language's
mean is taken off. Mixed questions teach the reader to answer by meaning, mixed passages to do in one language what it
learned in another ("CoSDA-ML", Qin et al. 2020, arXiv:2006.06402). Words of the same language are not used: an
antonym's vector is as near as a synonym's.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain, permutations

import numpy as np

from answerable.datatypes import FloatArray
from answerable.e5.encoder import vocabulary
from answerable.e5.weights import ModelFile, dequantize
from training.corpus import Corpus

LANGUAGES = ("en", "es", "pt", "de")
SHORTEST = 4
NEAREST = 2
LEAST_COSINE = 0.38
LEAST_MUTUAL = 0.3
"""The least cosine of two words that are each other's nearest."""

SMALL_WORDS = """
the|el la los las|o a os as; of|de|de do da; and|y|e; in|en|em no na; to|a para|a para; is|es está|é está;
was|fue era|foi era; were|fueron eran|foram eram; are|son están|são estão; has|tiene ha|tem; had|tenía había|tinha;
by|por|por; for|para|para; with|con|com; from|desde de|de; on|en sobre|em sobre; at|en|em; as|como|como;
that|que|que; which|que cual|que qual; he|él|ele; she|ella|ela; they|ellos ellas|eles elas; his|su|seu; her|su|sua;
their|sus|seus; its|su|seu; a|un una|um uma; an|un una|um uma; or|o|ou; not|no|não; but|pero|mas; what|qué cuál|qual;
who|quién|quem; when|cuándo cuando|quando; where|dónde donde|onde; how|cómo|como; many|muchos|muitos;
much|mucho|muito; more|más|mais; than|que|que; this|este esta|este esta; these|estos estas|estes estas;
one|uno una|um uma; two|dos|dois; all|todos|todos; been|sido|sido; be|ser|ser; can|puede|pode; also|también|também;
after|después|depois; before|antes|antes; between|entre|entre; about|sobre|sobre; only|solo|só; some|algunos|alguns;
other|otro otra|outro outra; if|si|se; because|porque|porque; my|mi|meu minha; day|día|dia; year|año|ano
"""
"""Words too short for their vectors: English | Spanish | Portuguese."""

Translations = dict[tuple[str, str], dict[str, list[str]]]

_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?![\w-])")
_BEGINS = "▁"
_LAST_LATIN = "ɏ"


class OtherWords:
    """Translations of single words between `LANGUAGES`."""

    def __init__(self, corpus: Corpus, model: ModelFile) -> None:
        self._small = _small_words()
        self._translations = _translations(*words_and_vectors(corpus, model))

    def translations(self, word: str, own: str, into: str) -> list[str]:
        """Return a word's translations, at most a few; none of a name."""
        small = self._small.get((own, into), {}).get(word.lower())
        if small and not word[1:].isupper():
            return [other.capitalize() for other in small] if word[0].isupper() else small
        return self._translations.get((own, into), {}).get(word, [])

    def exchange(self, text: str, own: str, into: str, share: float, draw: random.Random) -> str:
        """Return a text of the language `own` with a share of its words, but no names, in another language."""

        def other(match: re.Match[str]) -> str:
            found = self.translations(match[0], own, into)
            return draw.choice(found) if found and draw.random() < share else match[0]

        return _WORD.sub(other, text)


def _small_words() -> dict[tuple[str, str], dict[str, list[str]]]:
    found: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for row in SMALL_WORDS.split(";"):
        columns = dict(zip(LANGUAGES, (column.split() for column in row.split("|")), strict=False))
        for own, into in permutations(columns, 2):
            for word in columns[own]:
                found[own, into][word] += columns[into]
    return found


def words_and_vectors(corpus: Corpus, model: ModelFile) -> tuple[dict[str, list[str]], dict[str, FloatArray]]:
    """Return the words of each language that are one token, and their vectors without the language's mean."""
    tokens = {
        piece[1:]: number
        for number, piece in enumerate(vocabulary(model))
        if piece.startswith(_BEGINS) and len(piece) > SHORTEST and _is_plain(piece[1:])
    }
    vectors: dict[str, FloatArray] = {}
    words = _words_by_language(corpus, tokens)
    for language, spoken in words.items():
        rows = np.array([tokens[word] for word in spoken])
        own = dequantize(model.blocks("emb.word")[rows]).reshape(len(rows), -1)
        own -= own.mean(axis=0)
        vectors[language] = own / np.linalg.norm(own, axis=1, keepdims=True)
    return words, vectors


def _translations(words: Mapping[str, list[str]], vectors: Mapping[str, FloatArray]) -> Translations:
    """Return the nearest words of each other language."""
    found: dict[tuple[str, str], dict[str, list[str]]] = defaultdict(dict)
    for own_language, into in permutations(vectors, 2):
        cosines = vectors[own_language] @ vectors[into].T
        nearest = np.argsort(-cosines, axis=1)[:, :NEAREST]
        back = cosines.argmax(axis=0)
        for row, word in enumerate(words[own_language]):
            near = [int(place) for place in nearest[row] if cosines[row, place] >= LEAST_COSINE]
            best = int(nearest[row, 0])
            if not near and back[best] == row and cosines[row, best] >= LEAST_MUTUAL:
                near = [best]
            if near:
                found[own_language, into][word] = [words[into][place] for place in near]
    return found


def _words_by_language(corpus: Corpus, known: dict[str, int]) -> dict[str, list[str]]:
    """Return the known words of the corpus, each with the language that uses it most, of `LANGUAGES`."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for language, text in chain(
        ((passage.language, passage.text) for passage in corpus.passages),
        ((question.language, question.text) for question in corpus.questions),
    ):
        counts[language].update(_WORD.findall(text))
    totals = {language: sum(found.values()) for language, found in counts.items()}
    words: dict[str, list[str]] = defaultdict(list)
    for word in known:
        most = max(counts, key=lambda language: counts[language][word] / totals[language])
        if most in LANGUAGES and counts[most][word]:
            words[most].append(word)
    return words


def _is_plain(word: str) -> bool:
    return word.isalpha() and word == word.lower() and max(word) <= _LAST_LATIN
