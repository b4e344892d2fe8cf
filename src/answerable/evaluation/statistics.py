"""Bootstrap intervals, a paired test of two configurations on the same questions, and the share of wrong answers.

A figure is the mean over the questions that it applies to; NaN marks all other questions. All random draws are seeded,
so the same questions give the same intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

SAMPLES = 5_000
"""Bootstrap and randomisation samples. A round number, not measured."""
LEVEL = 0.95
"""The confidence level of intervals, the usual value."""
_BLOCK = 2_000_000
"""Maximum number of random numbers in memory, which take 16 MB."""
_SAME = 1e-12
"""Smaller differences than this come from rounding."""


def means(values: Array) -> Array:
    """Return the mean of each column of an array (questions, figures), ignoring NaN; NaN for an empty column."""
    counted = ~np.isnan(values)
    return _ratio(np.nansum(values, axis=0), counted.sum(axis=0, dtype=np.float64))


def bootstrap(values: Array, seed: int = 0, samples: int = SAMPLES) -> Array:
    """Resample questions with all their figures; return the means of each sample, as an array (samples, figures).

    The method is the bootstrap (Efron & Tibshirani 1993). The same seed always draws the same questions, so the draws
    of two configurations are paired and can be subtracted.
    """
    count, width = values.shape
    joined = np.hstack((np.nan_to_num(values), ~np.isnan(values)))
    draw = np.random.default_rng(seed)
    found = [np.empty((0, width))]
    for size in _blocks(samples, count):
        # Drawing row numbers and counting them takes a fifth of the time of multinomial draws.
        drawn = draw.integers(0, count, (size, count)) + count * np.arange(size)[:, None]
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        sums = times.astype(np.float64) @ joined
        found.append(_ratio(sums[:, :width], sums[:, width:]))
    return np.concatenate(found)


def intervals(drawn: Array) -> Array:
    """Return the percentile interval of each column of draws, (2, figures); NaN without numbers."""
    ends = np.full((2, drawn.shape[1]), np.nan)
    for column, values in enumerate(drawn.T):
        known = values[~np.isnan(values)]
        if len(known):
            ends[:, column] = np.quantile(known, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return ends


def paired_test(one: Array, other: Array, seed: int = 0, samples: int = SAMPLES) -> Array:
    """Run the two-sided paired randomisation test on (questions, figures); return a p-value for each figure.

    Under the null hypothesis, the two configurations could be swapped on any question. The p-value is the share of
    random swaps with at least the observed difference, counting the observed one as well (Fisher 1935; recommended for
    retrieval by Smucker, Allan & Carterette 2007, doi:10.1145/1321440.1321528). It is NaN for a figure that applies to
    no question.
    """
    count, width = one.shape
    first, second = (np.hstack((np.nan_to_num(each), ~np.isnan(each))) for each in (one, other))
    change = second - first
    starts, ends = first.sum(axis=0), second.sum(axis=0)
    seen = np.abs(means(one) - means(other))
    draw = np.random.default_rng(seed)
    extreme = np.zeros(width)
    for size in _blocks(samples, count):
        moved = draw.integers(0, 2, (size, count)).astype(np.float64) @ change
        swapped = _ratio((starts + moved)[:, :width], (starts + moved)[:, width:])
        swapped -= _ratio((ends - moved)[:, :width], (ends - moved)[:, width:])
        extreme += (np.abs(np.nan_to_num(swapped)) >= seen - _SAME).sum(axis=0)
    return np.where(np.isnan(seen), np.nan, (extreme + 1) / (samples + 1))


def _ratio(sums: Array, counts: Array) -> Array:
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = sums / counts
    return found


def _blocks(samples: int, count: int) -> Iterator[int]:
    """Yield the number of samples of each block, `samples` in all."""
    size = max(1, _BLOCK // max(1, count))
    for start in range(0, samples, size):
        yield min(size, samples - start)


@dataclass(frozen=True, slots=True)
class Point:
    """`coverage` is the share of questions that are answered, `risk` the share of wrong answers among the answers."""

    coverage: float
    risk: float


def operating_point(refused: Sequence[bool], right: Sequence[bool]) -> Point | None:
    """Return coverage and risk of the answers that the engine gave, or None if it refused every question.

    `refused` and `right` have a value for each question: whether it was refused, and whether its answer is right.
    """
    wrong = [not is_right for is_refused, is_right in zip(refused, right, strict=True) if not is_refused]
    return Point(len(wrong) / len(refused), sum(wrong) / len(wrong)) if wrong else None
