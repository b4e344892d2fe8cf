"""Hard negatives: passages that BM25 finds for a question and that lack its answer; and questions' translations."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from answerable.datatypes import FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.text.terms import AVERAGE_LENGTH, K1, B
from training.corpus import Corpus, Question

MOST = 8
SAME_QUESTION = 0.86
STEM = 6
ROWS = 500

_WORD = re.compile(r"\w+")


def add_near(corpus: Corpus) -> None:
    """Give each question up to `MOST` passages of its group that lack its answer, best first."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number, passage in enumerate(corpus.passages):
        groups[passage.group].append(number)
    asked: dict[str, list[Question]] = defaultdict(list)
    for question in corpus.questions:
        asked[corpus.passages[question.passage].group].append(question)
    for group, numbers in groups.items():
        texts = [corpus.passages[number].text for number in numbers]
        found = _search(texts, [question.text for question in asked[group]])
        for question, places in zip(asked[group], found, strict=True):
            others = (numbers[place] for place in places if numbers[place] != question.passage)
            lacking = [number for number in others if not question.is_answered_by(corpus.passages[number].text)]
            question.near = lacking[:MOST]


def add_translations(corpus: Corpus) -> None:
    """Give each question its translations: those with its id, otherwise the closest ones about the same paragraph.

    Paragraphs of SQuAD 2 and XQuAD have the same key in all languages; SQuAD 2's English questions have other ids.
    """
    embedder = LocalEmbedder()
    by_paragraph: dict[tuple[str, str], list[Question]] = defaultdict(list)
    for question in corpus.questions:
        if question.key:
            by_paragraph[question.source.split("/")[0], question.key].append(question)
    for questions in by_paragraph.values():
        by_id: dict[str, dict[str, str]] = defaultdict(dict)
        for question in questions:
            by_id[question.id][question.language] = question.text
        for question in questions:
            same = {language: text for language, text in by_id[question.id].items() if language != question.language}
            question.translations |= same
        if len(by_id) == max(Counter(question.language for question in questions).values()):
            continue
        vectors = np.stack([embedder.embed_query(question.text) for question in questions])
        cosines = vectors @ vectors.T
        languages = np.array([question.language for question in questions])
        for row, question in enumerate(questions):
            for language in set(languages) - {question.language, *question.translations}:
                best = _closest(cosines[row], languages == language)
                back = _closest(cosines[best], languages == question.language)
                if back == row and cosines[row, best] >= SAME_QUESTION:
                    question.translations[str(language)] = questions[best].text


def _closest(cosines: FloatArray, among: np.ndarray) -> int:
    return int(np.argmax(np.where(among, cosines, -1)))


def _search(texts: Sequence[str], questions: Sequence[str]) -> list[list[int]]:
    """Return the numbers of the best texts for each question."""
    vocabulary: dict[str, int] = {}
    counts = _counts(texts, vocabulary, grow=True).tocoo()
    lengths = np.asarray(counts.tocsr().sum(1)).ravel()
    rarity = np.log(1 + len(texts) / (1 + np.bincount(counts.col, minlength=len(vocabulary))))
    damping = K1 * (1 - B + B * lengths[counts.row] / AVERAGE_LENGTH)
    weights = counts.data * (K1 + 1) / (counts.data + damping) * rarity[counts.col]
    weighted = coo_matrix((weights, (counts.col, counts.row)), (len(vocabulary), len(texts))).tocsr()
    found: list[list[int]] = []
    for start in range(0, len(questions), ROWS):
        scores = (_counts(questions[start : start + ROWS], vocabulary, grow=False) @ weighted).toarray()
        wanted = min(2 * MOST, scores.shape[1])
        best = np.argpartition(-scores, wanted - 1, axis=1)[:, :wanted]
        found.extend(row[np.argsort(-own[row])].tolist() for row, own in zip(best, scores, strict=True))
    return found


def _counts(texts: Sequence[str], vocabulary: dict[str, int], grow: bool) -> csr_matrix:
    rows, columns = [], []
    for row, text in enumerate(texts):
        for word in _WORD.findall(text.lower()):
            term = word[:STEM]
            if grow:
                vocabulary.setdefault(term, len(vocabulary))
            if term in vocabulary:
                rows.append(row)
                columns.append(vocabulary[term])
    return csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), (len(texts), len(vocabulary)))
