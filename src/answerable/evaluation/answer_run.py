"""Questions → answers: whether they say what is expected, cite what bears on it, and refuse what can't be answered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from answerable.answering.messages import quoting
from answerable.datatypes import Answer, Citation, Reason
from answerable.evaluation.asked import Asked
from answerable.evaluation.configurations import Configured
from answerable.evaluation.wording import holds, token_f1

_MARK = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Replied:
    """The figures of a question that apply to it, the confidence, and the seconds that the answer took.

    `is_right` is of what was said or, after a refusal for weak evidence, of what would have been.
    """

    figures: dict[str, float]
    confidence: float
    is_right: bool
    is_refused: bool
    seconds: float


def reply(configured: Configured, asked: Asked) -> Replied:
    """Asks a question and judges what comes."""
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
    """What an answer says, without marks and lead-in; nothing for a refusal."""
    return _MARK.sub("", answer.text.removeprefix(quoting(answer.language))) if answer.answered else ""


def _right_citations(citations: Sequence[Citation], asked: Asked) -> list[Citation]:
    """Those that stand in an expected document or, where none is named, hold an expected answer."""
    if asked.relevant:
        return [citation for citation in citations if citation.document_id in asked.relevant]
    return [citation for citation in citations if holds(citation.quote, asked.answers, asked.language)]


def _is_right(answer: Answer, asked: Asked) -> bool:
    if asked.is_unanswerable:
        return False
    if asked.answers:
        return holds(_text(answer), asked.answers, asked.language)
    return bool(_right_citations(answer.citations, asked))


@dataclass(frozen=True, slots=True)
class Point:
    """The share of all questions whose confidence is at least this, and the share of them that is answered wrongly."""

    confidence: float
    coverage: float
    risk: float


def risk_coverage(replies: Sequence[Replied]) -> list[Point]:
    """The risk-coverage curve (El-Yaniv & Wiener 2010), a point for each confidence, the highest first."""
    if not replies:
        return []
    confidences = np.array([each.confidence for each in replies])
    by_confidence = np.argsort(-confidences, kind="stable")
    confidences = confidences[by_confidence]
    wrong = np.cumsum([not replies[index].is_right for index in by_confidence])
    last = np.flatnonzero(np.append(confidences[1:] != confidences[:-1], True))
    return [Point(float(confidences[at]), float((at + 1) / len(replies)), float(wrong[at] / (at + 1))) for at in last]


def operating_point(replies: Sequence[Replied]) -> Point | None:
    """Where refusals stand as they are: risk and coverage of what was answered; None where nothing was."""
    answered = [each for each in replies if not each.is_refused]
    if not answered:
        return None
    wrong = sum(not each.is_right for each in answered)
    lowest = min(each.confidence for each in answered)
    return Point(lowest, len(answered) / len(replies), wrong / len(answered))


def thinned(curve: Sequence[Point], most: int) -> list[Point]:
    """At most so many of the points, at equal distances, the first and the last among them."""
    if len(curve) <= most:
        return list(curve)
    return [curve[round(at)] for at in np.linspace(0, len(curve) - 1, most)]


def area_under_risk(curve: Sequence[Point]) -> float:
    """The mean risk over all coverages, lower is better (Geifman & El-Yaniv 2017); NaN without a point."""
    if not curve:
        return float("nan")
    coverages = np.array([point.coverage for point in curve])
    steps = np.diff(coverages, prepend=0.0)
    return float(steps @ np.array([point.risk for point in curve]) / coverages[-1])
