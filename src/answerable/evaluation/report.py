"""Results of an evaluation: figures with intervals by configuration, language and type, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from answerable.errors import SettingsError
from answerable.evaluation.metrics import CUTOFFS, PASSAGES
from answerable.evaluation.statistics import Array, Point, bootstrap, intervals, means, paired_test

FOUND = ("ndcg@10", *(f"recall@{k}" for k in CUTOFFS), "mrr", "map", f"answer_found@{PASSAGES}")
SAID = ("answer_containment", "token_f1", "citation_precision", "citation_recall")
REFUSED = ("answered", "refusal_recall", "refusal_precision")
FIGURES = (*FOUND, *SAID, *REFUSED)
"""Names of all figures. A figure is a mean over the questions that it applies to; higher is better."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean with its 95 % interval and the number of questions."""

    name: str
    value: float
    low: float
    high: float
    questions: int


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference from the default configuration, with its 95 % interval and the p-value of the paired test."""

    name: str
    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of the questions in one language or of one type."""

    name: str
    questions: int
    figures: list[Figure]


@dataclass(frozen=True, slots=True)
class Latency:
    """Median and 95th percentile of a step's wall time, in seconds."""

    step: str
    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Measured:
    """The results of one configuration.

    `differences` compare its figures with the default configuration's; the default configuration itself has none.
    `operating` has the shares of answers given and of wrong answers among them; None without answers.
    """

    configuration: str
    figures: list[Figure]
    by_language: list[Group]
    by_type: list[Group]
    differences: list[Difference]
    latencies: list[Latency]
    operating: Point | None

    def figure(self, name: str) -> Figure:
        """Return a figure by its name, such as `recall@5`. Raise KeyError if it applies to no question."""
        return {each.name: each for each in self.figures}[name]


@dataclass(frozen=True, slots=True)
class SetReport:
    """The results on one set of questions; the default configuration comes first."""

    name: str
    documents: int
    passages: int
    questions: int
    unanswerable: int
    measured: list[Measured]


@dataclass(frozen=True, slots=True)
class Report:
    """A whole evaluation, with everything needed to repeat it."""

    version: str
    embedder: str
    model: str
    seed: int
    sets: list[SetReport]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values, with None for NaN."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def table(found: Sequence[Mapping[str, float]]) -> Array:
    """Return an array (questions, figures), NaN where a figure does not apply to a question."""
    rows = [[each.get(name, math.nan) for name in FIGURES] for each in found]
    return np.array(rows, np.float64).reshape(len(found), len(FIGURES))


def figures(values: Array, seed: int) -> list[Figure]:
    """Return each figure that applies to at least one question, with its interval.

    If all questions are answerable, the precision of refusals is left out.
    """
    counts = (~np.isnan(values)).sum(axis=0)
    if not counts[FIGURES.index("refusal_recall")]:
        counts[FIGURES.index("refusal_precision")] = 0
    low, high = intervals(bootstrap(values, seed))
    return [
        Figure(name, float(value), float(low[at]), float(high[at]), int(counts[at]))
        for at, (name, value) in enumerate(zip(FIGURES, means(values), strict=True))
        if counts[at]
    ]


def groups(values: Array, names: Sequence[str], seed: int) -> list[Group]:
    """Group questions by name and return the figures of each group, sorted; nothing if all names are equal."""
    labels = np.array(names)
    known = sorted(set(names)) if len(set(names)) > 1 else []
    return [
        Group(name or "unknown", int((labels == name).sum()), figures(values[labels == name], seed)) for name in known
    ]


def differences(default: Array, other: Array, seed: int) -> list[Difference]:
    """Return how much each figure differs from the default configuration's, on the same questions."""
    low, high = intervals(bootstrap(other, seed) - bootstrap(default, seed))
    change, p = means(other) - means(default), paired_test(default, other, seed)
    return [
        Difference(name, float(change[at]), float(low[at]), float(high[at]), float(p[at]))
        for at, name in enumerate(FIGURES)
        if not np.isnan(change[at])
    ]


def latency(step: str, seconds: Sequence[float]) -> Latency:
    """Return the median and 95th percentile of a step's times."""
    p50, p95 = np.quantile(np.array(seconds), (0.5, 0.95))
    return Latency(step, float(p50), float(p95))


def parse_floors(given: Sequence[str]) -> dict[str, float]:
    """Parse `FIGURE=VALUE` items: the floor of each figure. Raises SettingsError."""
    floors = {}
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        try:
            floor = float(value)
        except ValueError:
            floor = math.nan
        if name not in FIGURES or not 0 <= floor <= 1:
            raise SettingsError(
                f"{text!r} is not a valid floor. Use FIGURE=VALUE, such as ndcg@10=0.7. Figures: {', '.join(FIGURES)}."
            )
        floors[name] = floor
    return floors


def below(report: Report, floors: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure of a set that is below its floor in the default configuration."""
    found = []
    for each in report.sets:
        values = {figure.name: figure.value for figure in each.measured[0].figures}
        for name, floor in floors.items():
            if name not in values:
                found.append(f"{each.name}: no question says what {name} needs, so that it can't reach {floor:g}.")
            elif values[name] < floor:
                found.append(f"{each.name}: {name} is {values[name]:.4f}, below its floor of {floor:g}.")
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value
