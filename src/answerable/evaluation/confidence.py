"""Evaluate confidences: the risk at each coverage, and whether probabilities match the outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from answerable.evaluation.judging import Replied

BINS = 10


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a risk-coverage curve, for a minimum confidence.

    Coverage is the share of questions with at least this confidence; risk is the share of wrong answers among them.
    """

    confidence: float
    coverage: float
    risk: float


def risk_coverage(replies: Sequence[Replied]) -> list[Point]:
    """Return the risk-coverage curve (El-Yaniv & Wiener 2010), a point for each confidence, highest first."""
    if not replies:
        return []
    confidences = np.array([each.confidence for each in replies])
    by_confidence = np.argsort(-confidences, kind="stable")
    confidences = confidences[by_confidence]
    wrong = np.cumsum([not replies[index].is_right for index in by_confidence])
    last = np.flatnonzero(np.append(confidences[1:] != confidences[:-1], True))
    return [Point(float(confidences[at]), float((at + 1) / len(replies)), float(wrong[at] / (at + 1))) for at in last]


def operating_point(replies: Sequence[Replied]) -> Point | None:
    """Return coverage and risk of the answers that the engine gave, or None if it refused every question."""
    answered = [each for each in replies if not each.is_refused]
    if not answered:
        return None
    wrong = sum(not each.is_right for each in answered)
    lowest = min(each.confidence for each in answered)
    return Point(lowest, len(answered) / len(replies), wrong / len(answered))


def thinned(curve: Sequence[Point], most: int) -> list[Point]:
    """Return the curve with at most `most` points, evenly spaced, including the first and the last."""
    if len(curve) <= most:
        return list(curve)
    return [curve[round(at)] for at in np.linspace(0, len(curve) - 1, most)]


def area_under_risk(curve: Sequence[Point]) -> float:
    """Return the mean risk over all coverages, lower is better (Geifman & El-Yaniv 2017); NaN without points."""
    if not curve:
        return float("nan")
    coverages = np.array([point.coverage for point in curve])
    steps = np.diff(coverages, prepend=0.0)
    return float(steps @ np.array([point.risk for point in curve]) / coverages[-1])


@dataclass(frozen=True, slots=True)
class Bin:
    """A group of predictions with similar probabilities: their mean, share of true outcomes, share of all."""

    predicted: float
    observed: float
    share: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The non-empty bins, lowest first, and two errors (lower is better).

    `brier` is the mean squared error (Brier 1950), `calibration_error` the mean distance between the predicted and
    observed values of the bins (Naeini et al. 2015).
    """

    bins: list[Bin]
    brier: float
    calibration_error: float


def reliability(predicted: Sequence[float], outcome: Sequence[bool], weights: Sequence[float] = ()) -> Reliability:
    """Compare probabilities (from 0 to 1, at least one) with outcomes, in bins of equal width."""
    probabilities, came = np.asarray(predicted, float), np.asarray(outcome, float)
    counts = np.asarray(weights, float) if len(weights) else np.ones(len(probabilities))
    counts = counts / counts.sum()
    places = np.minimum((probabilities * BINS).astype(int), BINS - 1)
    bins = []
    for place in np.unique(places):
        inside = places == place
        share = float(counts[inside].sum())
        if share > 0:
            mean, observed = counts[inside] @ probabilities[inside], counts[inside] @ came[inside]
            bins.append(Bin(float(mean) / share, float(observed) / share, share))
    error = sum(each.share * abs(each.predicted - each.observed) for each in bins)
    return Reliability(bins, float(counts @ (probabilities - came) ** 2), float(error))
