"""Decide without a model whether a question is answered, and by what: a figure, quotes, or a refusal.

This module also defines the parts of a library that one question goes through: its store, gate, reader and writer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from typing import Any, Protocol

from answerable.answering.differences import Difference, differences
from answerable.answering.found import ComputedPassage, Figure, Found, place_of
from answerable.answering.gate import Gate, is_crossed
from answerable.answering.messages import HOW_TO_ASK, phrase, refusal, small_talk_language
from answerable.answering.sentences import Sentence, nearest
from answerable.datatypes import Answer, Citation, Reason, Step
from answerable.filters import Filter
from answerable.protocols import Answerer, AnswerReader, ChatModel, Embedder, JoinedStore, Store, TableReader
from answerable.retrieval.retriever import ALL_STEPS, Steps
from answerable.sharing import Work

NOT_FOUND = (Reason.NOTHING_FOUND, Reason.WEAK_EVIDENCE, Reason.NEAR)
"""If a search with the question's own filter ends for one of these reasons, the search is repeated without it."""
SURE_OF_FIGURE = 3.0
"""If it isn't clear what to compute, a quote with a reading (logit) above this answers. No measurement on record."""
SHARED = 0.5
"""The share of the question's words with which a sentence about another person or year is shown as the nearest, though
the reader is sure that it doesn't answer ("the fee in 2023", of 2024). A round number; of 256 questions on papers by a
stranger, it changed none."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What one answer may take: tokens of the passages at first, of earlier exchanges, of each reply, and of all tools'
    results; rounds of tool calls, and seconds until a model with tools is told to write.
    """

    context: int = 4000
    history: int = 1000
    answer: int = 8000
    tools: int = 24_000
    rounds: int = 8
    seconds: float = 120.0


@dataclass(frozen=True, slots=True)
class Writer:
    """The model that writes answers. With `checks_again` a second call reads each verified sentence beside its source.

    `is_strict` leaves out the sentences that fail a check instead of marking them, and shows nothing before.
    """

    model: ChatModel | Answerer
    budgets: Budgets = field(default_factory=Budgets)
    is_strict: bool = False
    checks_again: bool = True


@dataclass(frozen=True, slots=True)
class Answering:
    """How questions are answered: by up to `quotes` quotes or, with a writer, in the writer's words.

    `gate` refuses weak evidence; without a gate nothing is refused. `reader` reads the best
    sentences, `tables` reads tables.
    """

    gate: Gate | None = None
    reader: AnswerReader | None = None
    tables: TableReader | None = None
    quotes: int = 3
    writer: Writer | None = None

    def close(self) -> None:
        """Close the writer's connections. Idempotent."""
        if self.writer is not None:
            self.writer.model.close()


class PlannedTable(Protocol):
    """A table of the library, on which a model's plans are computed."""

    @property
    def id(self) -> str:
        """An id that no other table of the library has."""

    @property
    def description(self) -> str:
        """Its name, columns with their kinds, number of rows and first rows, in text that isn't made harmless yet."""

    def compute(self, plan: Mapping[str, Any], language: str) -> ComputedPassage | str:
        """Return what a plan computes, with the rows that it rests on; else what is wrong with the plan.

        The plan has the arguments of the tool `table` (see `answering.writing.tools`), checked by its schema.
        """


class Figures(Protocol):
    """Computes what a question asks for from tables, chats and the list of documents."""

    def figure(self, found: Found, reader: TableReader | None, work: Work) -> Figure:
        """Return what was computed, or why nothing was. Raise Stopped."""

    def tables(self, near: Sequence[str], where: Filter | None, only: bool = False) -> Sequence[PlannedTable]:
        """Return tables with the rows that pass a filter: of the documents with these ids, then of others.

        With `only`, return no tables of others.
        """


class StepClock:
    """Measures the wall time of each step in seconds; the first step begins when the clock is created."""

    def __init__(self) -> None:
        self._started = self._last = time.perf_counter()
        self._laps: dict[str, float] = {}

    def lap(self, name: str) -> None:
        """End the current step, add its time to this name, and begin the next step."""
        now = time.perf_counter()
        self._laps[name] = self._laps.get(name, 0.0) + now - self._last
        self._last = now

    def timings(self) -> dict[str, float]:
        """Return the seconds of each step, and of all steps as `total`."""
        return {**self._laps, "total": time.perf_counter() - self._started}


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a library that one question goes through.

    `figures` returns what computes; a search doesn't call it. `now` returns the local time that "last week" refers to.
    With `narrows`, a question may set a filter. `passages` is the number of passages in which an answer is sought.
    """

    store: Store
    embedder: Embedder
    figures: Callable[[], Figures]
    answering: Answering
    now: Callable[[], datetime]
    narrows: bool
    passages: int
    steps: Steps = ALL_STEPS
    clock: StepClock = field(default_factory=StepClock)

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Of several joined libraries, those that can't be queried at present, and why."""
        return self.store.unavailable if isinstance(self.store, JoinedStore) else {}


class By(str, Enum):
    """What answers a question."""

    FIGURES = "figures"
    QUOTES = "quotes"
    NEAR = "nearest quote"
    SMALL_TALK = "how to ask"
    REFUSAL = "refusal"


@dataclass(frozen=True, slots=True)
class Decision:
    """What answers a question, with the confidence and the gate's threshold that led to this decision.

    `best` is the sentence to which the confidence applies, `reason` the reason of a refusal, `gate` the case for which
    the threshold holds.
    `differs` is how the best sentence differs from the question. `language` is the language of small talk.
    """

    by: By
    confidence: float
    reason: Reason = Reason.ANSWERED
    threshold: float | None = None
    gate: str = ""
    language: str = ""
    best: Sentence | None = None
    differs: tuple[Difference, ...] = ()

    def why(self, found: Found) -> Step:
        """Return what was decided; for a refusal also the passage nearest to an answer, its score and missing words."""
        given = {"gate": self.gate}
        chose: dict[str, str | float] = {"by": self.by.value}
        # Rules recognise small talk; they compute no confidence.
        weighed = None if self.by is By.SMALL_TALK else self.confidence
        values: dict[str, float | None] = {"confidence": weighed, "threshold": self.threshold}
        if self.differs:
            chose["differs"] = "; ".join(f"{each.asked}: {', '.join(each.says)}" for each in self.differs)
        if self.by in (By.REFUSAL, By.NEAR):
            chose["reason"] = str(self.reason)
        if self.by in (By.REFUSAL, By.NEAR) and found.results:
            result = self.best.result if self.best else found.results[0]
            near = nearest(found.asked.question, found.asked.language, result)
            chose["nearest"] = place_of(result, found.asked.language)
            chose["text"] = self.best.text if self.best else near.text
            if near.missing:
                chose["missing words"] = ", ".join(near.missing)
            values["score"] = result.score
        return Step.of("decide", given, chose, values)


def decide_unread(found: Found, figure: Figure, answering: Answering) -> Decision | None:
    """Return the decision on a question for which no sentence has to be read; None if some have to."""
    computed = figure.answer
    if computed and (computed.answered or computed.reason is not Reason.UNCLEAR):
        return Decision(By.FIGURES, computed.confidence, computed.reason)
    if computed:
        return None
    language = _small_talk(found, may_refuse=answering.gate is not None)
    return Decision(By.SMALL_TALK, 1.0, language=language) if language is not None else None


def decide(found: Found, figure: Figure, ranked: Sequence[Sentence], answering: Answering) -> Decision:
    """Return what answers a question whose sentences were ranked and read."""
    weighed = _weigh(found, ranked, answering)
    # Ask the user what to compute, unless the best quote almost certainly answers the question.
    if figure.answer and (not ranked or (ranked[0].reading or 0.0) <= SURE_OF_FIGURE):
        return replace(weighed, by=By.FIGURES, reason=figure.answer.reason)
    return weighed


def _weigh(found: Found, ranked: Sequence[Sentence], answering: Answering) -> Decision:
    """Decide whether the ranked sentences answer, are near, or neither.

    The gate's confidence says how likely the best one answers. It can't if it differs from the question by a name or a
    year that decides, in the question's language (others translate names): before the reader had learnt near misses,
    .72 of those on papers by a stranger were answered instead of .76, and no right answer was lost; of XQuAD's in
    Spanish, .015 more were near.
    """
    if not ranked:
        return Decision(By.REFUSAL, 0.0, reason=Reason.NOTHING_FOUND)
    gate, asked = answering.gate, found.asked
    if gate is None:
        return Decision(By.QUOTES, 1.0)
    confidence = gate.confidence(found, ranked)
    differs = tuple(differences(asked.question, ranked[0]))
    is_of_another = any(each.decides for each in differs) and ranked[0].result.document.language in ("", asked.language)
    is_passed = gate.passes(found, confidence) and not is_of_another
    is_close = is_of_another and ranked[0].near_coverage >= SHARED
    is_near = not is_passed and (is_close or gate.is_near(found, confidence))
    case = ("other language" if is_crossed(found) else "", "filter" if found.topic is not None else "")
    return Decision(
        By.QUOTES if is_passed else By.NEAR if is_near else By.REFUSAL,
        confidence,
        reason=Reason.ANSWERED if is_passed else Reason.NEAR if is_near else Reason.WEAK_EVIDENCE,
        threshold=gate.threshold_for(found),
        gate=", ".join(filter(None, case)),
        best=ranked[0],
        differs=differs,
    )


def refuse(found: Found, reason: Reason, confidence: float = 0.0) -> Answer:
    """Return a refusal in the question's language."""
    asked = found.asked
    text = refusal(reason, asked.language)
    return Answer(asked.question, text, False, reason, asked.language, confidence, results=found.results)


def answered(found: Found, text: str, citations: tuple[Citation, ...], confidence: float, *why: Step) -> Answer:
    """Return an answer with citations."""
    asked = found.asked
    reason = Reason.ANSWERED
    return Answer(asked.question, text, True, reason, asked.language, confidence, citations, found.results, why=why)


def say_how_to_ask(found: Found, language: str) -> Answer:
    """Return an explanation of how to ask, for a message that asks nothing about the documents."""
    text, language = phrase(HOW_TO_ASK, language), language or found.asked.language
    return Answer(found.asked.question, text, True, Reason.SMALL_TALK, language, 1.0)


def _small_talk(found: Found, may_refuse: bool) -> str | None:
    """Return the language of a message that greets, thanks or asks about the assistant; None for a question.

    A message without words to search for also counts as small talk, unless it is about a part of the library.
    """
    asked, is_open = found.asked, may_refuse and found.where is None
    language = small_talk_language(asked.message, asked.language, is_first=is_open and asked.message == asked.question)
    if not language and (found.word_weights or not is_open):
        return None
    return language or asked.language
