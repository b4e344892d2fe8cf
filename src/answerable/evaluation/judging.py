"""Ask a library one question, and judge the passages and the answer, its citations or its refusal."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass

from answerable.answering.phrases import quoting
from answerable.datatypes import Answer, Citation, Reason
from answerable.evaluation.answer_match import holds, token_f1
from answerable.evaluation.asked import Asked
from answerable.evaluation.configurations import Configured
from answerable.evaluation.metrics import order, ranking_figures
from answerable.library import Library

DEPTH = 100
"""How many passages a search returns; a document ranks by its best."""
PASSAGES = 10
"""How many of these passages are searched for the expected answer."""
_MARK = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Searched:
    """The figures of a question's search that apply to it, and the seconds that the search took."""

    figures: dict[str, float]
    seconds: float


def search(library: Library, asked: Asked) -> Searched:
    """Search for a question and judge the ranking; unanswerable questions have no figures."""
    started = time.perf_counter()
    results = library.search(asked.text, DEPTH)
    seconds = time.perf_counter() - started
    figures: dict[str, float] = {}
    if asked.is_unanswerable:
        return Searched(figures, seconds)
    if asked.relevant:
        scores: dict[str, float] = {}
        for result in results:
            scores[result.document.id] = max(result.score, scores.get(result.document.id, result.score))
        figures |= ranking_figures(order(scores), asked.relevant)
    if asked.answers:
        found = any(holds(result.chunk.content, asked.answers, asked.language) for result in results[:PASSAGES])
        figures[f"answer_found@{PASSAGES}"] = float(found)
    return Searched(figures, seconds)


@dataclass(frozen=True, slots=True)
class Replied:
    """The figures of a question's answer that apply to it, the confidence, and the seconds that the answer took.

    `is_right` judges the answer. After a refusal for weak evidence, it judges the answer that the gate refused.
    """

    figures: dict[str, float]
    confidence: float
    is_right: bool
    is_refused: bool
    seconds: float


def reply(configured: Configured, asked: Asked) -> Replied:
    """Ask a question and judge the answer."""
    answer = configured.library.ask(asked.text)
    said = answer
    if answer.reason is Reason.WEAK_EVIDENCE and not asked.is_unanswerable:
        said = configured.unrefusing.ask(asked.text)
    return Replied(
        _figures(answer, asked),
        answer.confidence,
        _is_right(said, asked),
        not answer.answered,
        answer.timings["total"],
    )


def _figures(answer: Answer, asked: Asked) -> dict[str, float]:
    refused = float(not answer.answered)
    figures = {"refusal_recall": refused} if asked.is_unanswerable else {"answered": 1 - refused}
    if refused:
        figures["refusal_precision"] = float(asked.is_unanswerable)
    if asked.is_unanswerable:
        return figures
    text = _text(answer)
    if asked.answers:
        figures["answer_containment"] = float(holds(text, asked.answers, asked.language))
        figures["token_f1"] = token_f1(text, asked.answers, asked.language)
    right = _right_citations(answer.citations, asked)
    if answer.citations:
        figures["citation_precision"] = len(right) / len(answer.citations)
    cited = {citation.document_id for citation in right}
    figures["citation_recall"] = len(cited) / len(asked.relevant) if asked.relevant else float(bool(right))
    return figures


def _text(answer: Answer) -> str:
    """Return the answer without citation marks and introduction; "" for a refusal."""
    return _MARK.sub("", answer.text.removeprefix(quoting(answer.language))) if answer.answered else ""


def _right_citations(citations: Sequence[Citation], asked: Asked) -> list[Citation]:
    """Return the citations of relevant documents; if no document is known, those with an expected answer."""
    if asked.relevant:
        return [citation for citation in citations if citation.document_id in asked.relevant]
    return [citation for citation in citations if holds(citation.quote, asked.answers, asked.language)]


def _is_right(answer: Answer, asked: Asked) -> bool:
    if asked.is_unanswerable:
        return False
    if asked.answers:
        return holds(_text(answer), asked.answers, asked.language)
    return bool(_right_citations(answer.citations, asked))
