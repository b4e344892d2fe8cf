"""Compute a question's figures from its ranking, as trec_eval does, and from the words of its answer, as SQuAD does.

A document is relevant if its grade is above 0. As in trec_eval, ties are ranked by id in descending code point order,
and scores are compared as 32-bit floats, so that the figures equal those of trec_eval.

Words are compared in lower case, without punctuation and articles (Rajpurkar et al. 2016, arXiv:1606.05250). The
articles depend on the language, as in Lewis et al. 2020 (arXiv:1910.07475). In scripts without spaces, each character
counts as a word.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from answerable.text.word_lists import read_toml

CUTOFFS = (1, 5, 10, 100)
"""Cutoffs of recall."""
PASSAGES = 10
"""How many of the best passages are searched for the expected answer."""
_ARTICLES = read_toml(Path(__file__).with_name("words.toml"))["articles"]
ARTICLES = {language: frozenset(words.split()) for language, words in _ARTICLES.items()}
# In these languages, an apostrophe separates article and noun; in other languages, apostrophes are dropped.
_ELIDING = ("fr", "it")
_APOSTROPHES = str.maketrans("'’", "  ")
# Unicode blocks of Thai and Lao, kana, and Chinese characters, which are written without spaces.
_UNSEPARATED = ((0x0E00, 0x0EFF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))


def order(scores: Mapping[str, float]) -> list[str]:
    """Return the ids of documents, best first."""
    by_id = sorted(scores, reverse=True)
    return sorted(by_id, key=lambda document: -np.float32(scores[document]))


def ndcg(ranking: Sequence[str], relevant: Mapping[str, int], k: int = 10) -> float:
    """Return the normalised discounted cumulative gain at k (Järvelin & Kekäläinen 2002); the gain is the grade."""
    best = _gain(sorted((grade for grade in relevant.values() if grade > 0), reverse=True)[:k])
    return _gain([max(0, relevant.get(document, 0)) for document in ranking[:k]]) / best if best else 0.0


def recall(ranking: Sequence[str], relevant: Mapping[str, int], k: int) -> float:
    """Return the share of all relevant documents that are among the first k."""
    wanted = {document for document, grade in relevant.items() if grade > 0}
    return len(wanted.intersection(ranking[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return 1 / rank of the first relevant document, or 0. Its mean is MRR."""
    return next((1 / rank for rank, document in enumerate(ranking, 1) if relevant.get(document, 0) > 0), 0.0)


def average_precision(ranking: Sequence[str], relevant: Mapping[str, int]) -> float:
    """Return the mean precision at the ranks of the relevant documents. Its mean over questions is MAP.

    The precision of a relevant document that wasn't found is 0.
    """
    wanted = sum(grade > 0 for grade in relevant.values())
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if relevant.get(document, 0) > 0:
            found += 1
            total += found / rank
    return total / wanted if wanted else 0.0


def ranking_figures(ranking: Sequence[str], relevant: Mapping[str, int]) -> dict[str, float]:
    """Return every figure of a ranking by its name."""
    return {
        "ndcg@10": ndcg(ranking, relevant),
        **{f"recall@{k}": recall(ranking, relevant, k) for k in CUTOFFS},
        "mrr": reciprocal_rank(ranking, relevant),
        "map": average_precision(ranking, relevant),
    }


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def tokens(text: str, language: str) -> list[str]:
    """Return the words without articles, or all words if there are only articles."""
    plain = unicodedata.normalize("NFC", text).lower()
    if language in _ELIDING:
        plain = plain.translate(_APOSTROPHES)
    found = "".join(map(_spread, plain)).split()
    articles = ARTICLES.get(language, frozenset())
    return [token for token in found if token not in articles] or found


def holds(text: str, expected: Iterable[str], language: str) -> bool:
    """Return whether the text contains one of the expected answers, word for word."""
    said = tokens(text, language)
    return any(_stands_in(tokens(each, language), said) for each in expected)


def token_f1(text: str, expected: Iterable[str], language: str) -> float:
    """Return the F1 of the words (harmonic mean of precision and recall) for the best expected answer."""
    said = Counter(tokens(text, language))
    return max((_f1(said, Counter(tokens(each, language))) for each in expected), default=0.0)


def _f1(said: Counter[str], wanted: Counter[str]) -> float:
    shared = (said & wanted).total()
    return 2 * shared / (said.total() + wanted.total()) if shared else 0.0


def _stands_in(wanted: Sequence[str], said: Sequence[str]) -> bool:
    width = len(wanted)
    return width > 0 and any(said[start : start + width] == wanted for start in range(len(said) - width + 1))


def _spread(character: str) -> str:
    """Return "" for punctuation, and a character of a script without spaces with a space on each side."""
    if any(first <= ord(character) <= last for first, last in _UNSEPARATED):
        return f" {character} "
    category = unicodedata.category(character)
    return "" if category[0] == "P" or character in "$+<=>^`|~" else character
