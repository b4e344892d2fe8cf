"""Fit a gate to cases: weights by logistic regression, thresholds from the percentage of wrong answers to allow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from answerable.answering.gate import Gate
from answerable.evaluation.refusals import Case, Kind, Sampling, collect_cases, side
from answerable.evaluation.sets import QuestionSet
from answerable.protocols import AnswerReader, Embedder

Array = npt.NDArray[np.float64]

# Percentages of wrong answers for which a threshold is fitted; `Gate.threshold` interpolates between them.
TARGETS = (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
RIDGE = 1e-3
"""Ridge penalty, relative to the total weight of the cases: keeps the weights finite. A guess, not measured."""
STEPS = 50
"""Maximum Newton steps; a fit needs about ten."""
FITTED = {Kind.ANSWERABLE: 1.0, Kind.REMOVED: 1 / 3, Kind.FOREIGN: 2 / 3, Kind.UNANSWERABLE: 1 / 4}
"""Weights of the kinds of cases when a gate is fitted."""
READ_FITTED = {**FITTED, Kind.UNANSWERABLE: 1.0}
"""Weights of the kinds when a gate with a reader is fitted, since a reader can recognise unanswerable questions."""
ASKED = {Kind.REMOVED: 1 / 8, Kind.FOREIGN: 7 / 8}
"""Weights of the kinds for thresholds: of eight questions without an answer, one is assumed close to the documents."""
CROSSED_SHARE = 0.15
"""Factor on the target for questions in another language than the passages, where words are weak evidence."""
SMALL_SHARE = 0.5
"""Weight of the cases from a set's small libraries."""


def fit_gate(cases: Sequence[Case], uses_meaning: bool = True) -> Gate:
    """Fit a gate; without `uses_meaning` it doesn't use the embedder's vectors.

    All sets have the same weight, and the thresholds hold for all together. With a reader, one gate serves all
    languages. Otherwise, with vectors, sets whose questions are in another language than their documents fit the gate
    `crossed`.
    Raises ValueError unless some cases should be answered and some refused.
    """
    foreign_tongue = _crossed_sets(cases)
    if any(case.signals.reading for case in cases):
        return _fit(cases, uses_meaning)
    if foreign_tongue == {case.corpus for case in cases}:
        return _fit(cases, uses_meaning)
    gate = _fit([case for case in cases if case.corpus not in foreign_tongue and not case.is_crossed], uses_meaning)
    if not uses_meaning or not foreign_tongue:
        return gate
    crossed = _fit([case for case in cases if case.corpus in foreign_tongue and case.is_crossed], uses_meaning)
    stricter = [(target, crossed.aiming_at(CROSSED_SHARE * target).threshold) for target in TARGETS[:-1]]
    return replace(gate, crossed=replace(crossed, thresholds=(*stricter, crossed.thresholds[-1])))


def _crossed_sets(cases: Sequence[Case]) -> set[str]:
    """Return the sets in which most answerable questions are in another language than their results."""
    tally = Counter((case.corpus, case.is_crossed) for case in cases if case.kind is Kind.ANSWERABLE)
    return {corpus for corpus, _ in tally if tally[corpus, True] > tally[corpus, False]}


def _fit(cases: Sequence[Case], uses_meaning: bool) -> Gate:
    used = [case for case in cases if case.kind in FITTED]
    answerable = np.array([case.kind is Kind.ANSWERABLE for case in used])
    wrong = [case for case in used if case.kind in ASKED]
    if not answerable.any() or not wrong:
        raise ValueError("a gate needs questions that have an answer and questions that have none")
    is_read = any(case.signals.reading for case in used)
    names = ("words", *(["meaning"] if uses_meaning else []), *(["reading"] if is_read else []))
    signals = np.array([[getattr(case.signals, name) for name in names] for case in used])
    coefficients, intercept = fit_logistic(signals, answerable, case_weights(used, READ_FITTED if is_read else FITTED))
    gate = Gate(
        {name: round(float(value), 4) for name, value in zip(names, coefficients, strict=True)},
        round(float(intercept), 4),
        ((0.0, 1.0),),
    )
    return replace(gate, thresholds=_thresholds(np.array(probabilities(gate, wrong)), case_weights(wrong, ASKED)))


def case_weights(cases: Sequence[Case], shares: Mapping[Kind, float] = FITTED) -> Array:
    """Return a weight for each case, 1 on average.

    Each set has the same total weight, divided among its kinds of cases as in `shares`.
    """
    masses = Counter((case.corpus, case.kind, case.is_small) for case in cases)
    weights = np.array(
        [
            shares[case.kind] * (SMALL_SHARE if case.is_small else 1) / masses[case.corpus, case.kind, case.is_small]
            for case in cases
        ]
    )
    found: Array = weights * len(cases) / weights.sum()
    return found


@dataclass(frozen=True, slots=True)
class Calibration:
    """A gate fitted on half of the articles, and its figures on the other half."""

    gate: Gate
    figures: list[Figures]


def calibrate(
    sets: Sequence[QuestionSet],
    embedder: Embedder,
    wrong_answers: float = 10.0,
    on_progress: Callable[[str], None] = lambda name: None,
    reader: AnswerReader | None = None,
) -> Calibration:
    """Fit a gate for an embedder, and measure the gate with the target `wrong_answers` (in percent).

    Raises ValueError if there are too few articles.
    """
    cases = collect_cases(sets, embedder, Sampling(reader=reader), on_progress=on_progress)
    fitted = [case for case in cases if side(case.article) == 0]
    held_out = [case for case in cases if side(case.article) == 1 and not case.is_small]
    too_few = ValueError("the sets have too few articles: half of them fit the gate, the others measure it")
    try:
        gate = fit_gate(fitted).aiming_at(wrong_answers)
    except ValueError as error:
        raise too_few from error
    found = figures(gate, held_out)
    if not found:
        raise too_few
    return Calibration(gate, found)


def fit_logistic(signals: Array, outcome: npt.NDArray[np.bool_], weights: Array) -> tuple[Array, float]:
    """Fit ridge-penalised logistic regression by Newton's method (iteratively reweighted least squares)."""
    center, scale = signals.mean(axis=0), signals.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    inputs = np.column_stack(((signals - center) / scale, np.ones(len(signals))))
    penalty = RIDGE * weights.sum() * np.append(np.ones(signals.shape[1]), 1e-9)
    solution = np.zeros(inputs.shape[1])
    for _ in range(STEPS):
        probability = 1 / (1 + np.exp(-np.clip(inputs @ solution, -30, 30)))
        gradient = inputs.T @ (weights * (probability - outcome)) + penalty * solution
        curvature = (inputs * (weights * probability * (1 - probability))[:, None]).T @ inputs + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        solution -= step
        if np.abs(step).max() < 1e-8:
            break
    coefficients = solution[:-1] / scale
    return coefficients, float(solution[-1] - coefficients @ center)


def area_under_curve(right: Sequence[float], wrong: Sequence[float]) -> float:
    """Return the probability that a right case scores above a wrong case (Mann-Whitney); ties count half."""
    ordered = np.sort(np.asarray(wrong, float))
    below = np.searchsorted(ordered, right, "left")
    up_to = np.searchsorted(ordered, right, "right")
    return float(np.mean(below + up_to) / 2 / len(ordered))


@dataclass(frozen=True, slots=True)
class Figures:
    """A gate's figures on a set: areas under the ROC curve, and the share of each kind of case that it refuses.

    `area` compares answerable questions with questions whose document was removed, `unanswerable_area` with questions
    that the set marks as unanswerable; they are NaN if it has none. The cosine areas are a baseline: a gate that only
    compares the highest cosine.
    """

    corpus: str
    questions: int
    area: float
    cosine_area: float
    refused: dict[Kind, float]
    unanswerable_area: float = float("nan")
    unanswerable_cosine_area: float = float("nan")


def figures(gate: Gate, cases: Sequence[Case]) -> list[Figures]:
    """Return the figures of every set, in order of the first case."""
    found = []
    for corpus in dict.fromkeys(case.corpus for case in cases):
        here = {kind: [case for case in cases if case.corpus == corpus and case.kind is kind] for kind in Kind}
        right, removed, unanswerable = here[Kind.ANSWERABLE], here[Kind.REMOVED], here[Kind.UNANSWERABLE]
        if not right or not (removed or unanswerable):
            continue
        found.append(
            Figures(
                corpus,
                len(right),
                *_areas(gate, right, removed),
                {
                    kind: float(np.mean([_is_refused(gate, case) for case in some]))
                    for kind, some in here.items()
                    if some
                },
                *_areas(gate, right, unanswerable),
            )
        )
    return found


def _areas(gate: Gate, right: Sequence[Case], wrong: Sequence[Case]) -> tuple[float, float]:
    """Return the areas under the ROC curve of the gate and of the cosine; NaN without wrong cases."""
    if not wrong:
        return float("nan"), float("nan")
    return (
        area_under_curve(probabilities(gate, right), probabilities(gate, wrong)),
        area_under_curve([case.closest for case in right], [case.closest for case in wrong]),
    )


def probabilities(gate: Gate, cases: Sequence[Case]) -> list[float]:
    """Return the gate's probability for each case; for crossed cases, that of the gate `crossed`."""
    return [_suited(gate, case).probability(case.signals) for case in cases]


def _is_refused(gate: Gate, case: Case) -> bool:
    suited = _suited(gate, case)
    return suited.probability(case.signals) < suited.threshold


def _suited(gate: Gate, case: Case) -> Gate:
    return gate.crossed if gate.crossed and case.is_crossed else gate


def _thresholds(wrong: Array, weights: Array) -> tuple[tuple[float, float], ...]:
    """Return for each target share the lowest threshold that lets at most this share of the wrong cases pass."""
    order = np.argsort(-wrong)
    shares = 100 * np.cumsum(weights[order]) / weights.sum()
    found = []
    for target in TARGETS:
        let_through = int(np.searchsorted(shares, target + 1e-9, "right"))
        threshold = float(wrong[order][let_through]) if let_through < len(wrong) else 0.0
        found.append((target, min(round(threshold + 1e-4, 4), 1.0) if threshold else 0.0))
    return tuple(found)
