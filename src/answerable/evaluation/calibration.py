"""Cases → a gate: weights by logistic regression, thresholds by the share of wrong answers they let through."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from answerable.answering.gate import Gate
from answerable.answering.signals import LEXICAL, SEMANTIC, Background
from answerable.evaluation.refusals import Case, Kind, collect_cases, measure_background, side
from answerable.evaluation.sets import QuestionSet
from answerable.protocols import Embedder

Array = npt.NDArray[np.float64]

TARGETS = (0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)
RIDGE = 1e-3
STEPS = 50
FITTED = {Kind.ANSWERABLE: 1.0, Kind.REMOVED: 1 / 3, Kind.FOREIGN: 2 / 3}
"""What the kinds weigh in every set when weights are fitted: those close to what is there teach the most."""
ASKED = {Kind.REMOVED: 1 / 4, Kind.FOREIGN: 3 / 4}
"""What they weigh when a target is met: of four questions without an answer, one is close to what is there."""
SMALL_SHARE = 0.5
"""What a set's small libraries weigh beside all of it."""


def fit_gate(cases: Sequence[Case], background: Background | None) -> Gate:
    """A gate for these cases; without a background one that looks at words only. Raises ValueError without both kinds.

    The sets weigh alike, whatever their size. A question without an answer by a set's own word is never fitted on.
    """
    used = [case for case in cases if case.kind in FITTED]
    answerable = np.array([case.kind is Kind.ANSWERABLE for case in used])
    if not answerable.any() or answerable.all():
        raise ValueError("a gate needs questions that have an answer and questions that have none")
    names = LEXICAL if background is None else LEXICAL + SEMANTIC
    signals = np.array([[getattr(case.signals, name) for name in names] for case in used])
    coefficients, intercept = fit_logistic(signals, answerable, _weights(used, FITTED))
    gate = Gate(
        {name: round(float(value), 4) for name, value in zip(names, coefficients, strict=True)},
        round(float(intercept), 4),
        ((0.0, 1.0),),
        background,
    )
    wrong = [case for case in used if case.kind in ASKED]
    thresholds = _thresholds(np.array(_probabilities(gate, wrong)), _weights(wrong, ASKED))
    return Gate(gate.weights, gate.intercept, thresholds, background)


def _weights(cases: Sequence[Case], shares: Mapping[Kind, float]) -> Array:
    """A weight for each case, 1 on average, so that sets and kinds have their shares however many cases there are."""
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
) -> Calibration:
    """Fits a gate for an embedder; figures are at this target. ValueError when there are too few articles to split."""
    background = measure_background(sets, embedder)
    cases = collect_cases(sets, embedder, background, on_progress=on_progress)
    fitted = [case for case in cases if side(case.article) == 0]
    held_out = [case for case in cases if side(case.article) == 1 and not case.is_small]
    too_few = ValueError("the sets have too few articles: half of them are needed to measure what the others give")
    try:
        gate = fit_gate(fitted, background).aiming_at(wrong_answers)
    except ValueError as error:
        raise too_few from error
    found = figures(gate, held_out)
    if not found:
        raise too_few
    return Calibration(gate, found)


def fit_logistic(signals: Array, outcome: npt.NDArray[np.bool_], weights: Array) -> tuple[Array, float]:
    """Ridge-penalised logistic regression by Newton's method (iteratively reweighted least squares)."""
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
    """The chance that one of the right scores above one of the wrong (Mann-Whitney), ties counting half."""
    ordered = np.sort(np.asarray(wrong, float))
    below = np.searchsorted(ordered, right, "left")
    up_to = np.searchsorted(ordered, right, "right")
    return float(np.mean(below + up_to) / 2 / len(ordered))


@dataclass(frozen=True, slots=True)
class Figures:
    """What a gate does to a set's questions: areas under the curve, and the shares of each kind that it refuses.

    `cosine_area` is that of the plainest rule, the highest passage cosine.
    """

    corpus: str
    questions: int
    area: float
    cosine_area: float
    refused: dict[Kind, float]


def figures(gate: Gate, cases: Sequence[Case]) -> list[Figures]:
    """The figures of every set among the cases, in order of their first case."""
    found = []
    for corpus in dict.fromkeys(case.corpus for case in cases):
        here = {kind: [case for case in cases if case.corpus == corpus and case.kind is kind] for kind in Kind}
        right, removed = here[Kind.ANSWERABLE], here[Kind.REMOVED]
        if not right or not removed:
            continue
        found.append(
            Figures(
                corpus,
                len(right),
                area_under_curve(_probabilities(gate, right), _probabilities(gate, removed)),
                area_under_curve([case.closest for case in right], [case.closest for case in removed]),
                {
                    kind: float(np.mean([value < gate.threshold for value in _probabilities(gate, some)]))
                    for kind, some in here.items()
                    if some
                },
            )
        )
    return found


def _probabilities(gate: Gate, cases: Sequence[Case]) -> list[float]:
    return [gate.probability(case.signals) for case in cases]


def _thresholds(wrong: Array, weights: Array) -> tuple[tuple[float, float], ...]:
    """For every target the lowest threshold that no larger a share of the wrong reaches."""
    order = np.argsort(-wrong)
    shares = 100 * np.cumsum(weights[order]) / weights.sum()
    found = []
    for target in TARGETS:
        let_through = int(np.searchsorted(shares, target + 1e-9, "right"))
        threshold = float(wrong[order][let_through]) if let_through < len(wrong) else 0.0
        found.append((target, min(round(threshold + 1e-4, 4), 1.0) if threshold else 0.0))
    return tuple(found)
