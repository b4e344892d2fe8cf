"""A question and its expected answer, from a question set, a list or a draft."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from answerable.answering.asked_for import asked_for
from answerable.evaluation.sets import Query, QuestionSet
from answerable.text.languages import question_language

OTHER = "other"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question and its expected result. `relevant` maps document ids to grades; any of `answers` is right.

    `language` is "" if unknown; `type` is the type in the question list, or follows from the wording.
    """

    id: str
    text: str
    answers: tuple[str, ...] = ()
    relevant: Mapping[str, int] | None = None
    is_unanswerable: bool = False
    language: str = ""
    type: str = OTHER


def asked_of(questions: QuestionSet) -> list[Asked]:
    """Return the questions of a set, unanswerable ones last."""
    return [
        *(_asked(query, query.relevant, False) for query in questions.queries),
        *(_asked(query, None, True) for query in questions.unanswerable),
    ]


def type_of(text: str) -> str:
    """Return the type of answer that the wording asks for: a date, a number, a person, or "other"."""
    kind = asked_for(text)
    return OTHER if kind is None else kind.value


def _asked(query: Query, relevant: Mapping[str, int] | None, is_unanswerable: bool) -> Asked:
    return Asked(
        query.id,
        query.text,
        query.answers,
        relevant,
        is_unanswerable,
        question_language(query.text),
        type_of(query.text),
    )
