"""Rank sentences by how well they answer the question: by their words and vectors, and by reading the best of them."""

from __future__ import annotations

from collections.abc import Sequence

from answerable.answering.asked_for import asked_for, offers
from answerable.answering.evidence import Sentence, sentences
from answerable.answering.signals import UNREAD
from answerable.answering.windows import read_closely
from answerable.protocols import AnswerReader, Evidence

NEAR_WEIGHT = 0.55
SIMILARITY_WEIGHT = 8.3
CHUNK_WEIGHT = 0.82
CONTEXT_WEIGHT = 0.47
ASKING = 0.6
OFFERING = 0.2
READING_WEIGHT = 0.2

_QUESTION_MARKS = ("?", "？", "؟")


def ranking(evidence: Evidence, reader: AnswerReader | None) -> list[tuple[Sentence, float]]:
    """Rank the sentences of the evidence by support; with a reader, the best ones are read first."""
    ranked = rank(evidence.question, list(sentences(evidence)))
    if reader is None:
        return ranked
    read = read_closely(evidence, [sentence for sentence, _ in ranked], reader)
    scored = [
        (sentence, support + READING_WEIGHT * (UNREAD if sentence.reading is None else sentence.reading))
        for sentence, (_, support) in zip(read, ranked, strict=True)
    ]
    return sorted(scored, key=lambda pair: -pair[1])


def rank(question: str, found: Sequence[Sentence]) -> list[tuple[Sentence, float]]:
    """Rank sentences by support: covered terms, chunk score, similarity to the question.

    A question in the documents ranks below its possible replies. A sentence with the date, number or person asked for
    ranks above one without: this puts the gold answer in the best two sentences for .002, .008 and .006 more questions
    of XQuAD en and es and FaQuAD.

    The weights are a rounded maximum-likelihood fit on half of the articles of XQuAD en and es, FaQuAD and SQuAD2 en,
    es and pt; `ASKING` was chosen for chats.
    """
    if not found:
        return []
    closest = max(sentence.similarity for sentence in found)
    kind = asked_for(question)
    scored = [
        (
            sentence,
            (1 - NEAR_WEIGHT) * sentence.coverage
            + NEAR_WEIGHT * sentence.near_coverage
            + CONTEXT_WEIGHT * sentence.context
            + CHUNK_WEIGHT * sentence.chunk_score
            + SIMILARITY_WEIGHT * (sentence.similarity - closest)
            - ASKING * sentence.text.endswith(_QUESTION_MARKS)
            + OFFERING * (kind is not None and offers(sentence, kind, question)),
        )
        for sentence in found
    ]
    return sorted(scored, key=lambda pair: -pair[1])
