"""Whether probabilities mean what they say: of what is said to be right with .8, eight in ten should be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

BINS = 10


@dataclass(frozen=True, slots=True)
class Bin:
    """Predictions of like probability: their mean, the share of them that came true, their share of all."""

    predicted: float
    observed: float
    share: float


@dataclass(frozen=True, slots=True)
class Reliability:
    """The bins that hold any prediction, lowest first, with two errors, the lower the better.

    `brier` is the mean squared distance of prediction and outcome (Brier 1950), `calibration_error` the mean distance
    of a bin's prediction and observation (Naeini et al. 2015).
    """

    bins: list[Bin]
    brier: float
    calibration_error: float


def reliability(predicted: Sequence[float], outcome: Sequence[bool], weights: Sequence[float] = ()) -> Reliability:
    """How probabilities (from 0 to 1, of which there is at least one) compare with what came, by equal steps.

    Every prediction counts alike unless weights are given.
    """
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
