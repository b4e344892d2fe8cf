"""Test intervals and the paired test against known properties, and that they are the same in every run."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from answerable.evaluation.statistics import Array, bootstrap, intervals, means, paired_test

NAN = math.nan


def test_means_leave_out_what_does_not_apply() -> None:
    found = means(np.array([[1.0, NAN, NAN], [0.0, 0.5, NAN]]))
    assert found[:2] == pytest.approx([0.5, 0.5])
    assert np.isnan(found[2])


def test_an_interval_is_as_wide_as_the_normal_one() -> None:
    draw = np.random.default_rng(3)
    values = draw.normal(0.6, 0.2, (2000, 1))
    values[::4] = NAN
    low, high = intervals(bootstrap(values))[:, 0]
    error = np.nanstd(values) / math.sqrt(1500)
    mean = np.nanmean(values)
    assert low == pytest.approx(mean - 1.96 * error, abs=0.15 * error)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.15 * error)


def test_a_small_bootstrap_is_that_of_all_draws() -> None:
    values = np.array([[0.0, NAN], [0.5, 1.0], [1.0, 0.0]])
    everything = np.array([means(values[list(drawn)]) for drawn in itertools.product(range(3), repeat=3)])
    found = bootstrap(values, samples=40_000)
    assert np.nanmean(found, axis=0) == pytest.approx(np.nanmean(everything, axis=0), abs=0.01)
    assert np.nanstd(found, axis=0) == pytest.approx(np.nanstd(everything, axis=0), abs=0.01)
    assert np.isnan(found[:, 1]).mean() == pytest.approx(1 / 27, abs=0.01)


def exact(one: Array, other: Array) -> float:
    """The p-value over all swaps of one figure."""
    seen = abs(means(one)[0] - means(other)[0])
    hits = 0
    for swaps in itertools.product((False, True), repeat=len(one)):
        swapped = np.array(swaps)[:, None]
        difference = means(np.where(swapped, other, one)) - means(np.where(swapped, one, other))
        hits += abs(difference[0]) >= seen - 1e-12
    return float(hits / 2 ** len(one))


def test_p_is_that_of_all_swaps() -> None:
    for seed in range(5):
        draw = np.random.default_rng(seed)
        one, other = draw.random((8, 1)), draw.random((8, 1)) + 0.2
        # Where a figure applies to one of the two only, the swap takes that along.
        one[0] = NAN
        assert paired_test(one, other, samples=20_000)[0] == pytest.approx(exact(one, other), abs=0.015), seed


def test_p_of_the_same_and_of_the_different() -> None:
    values = np.random.default_rng(0).random((200, 3))
    values[:, 2] = NAN
    found = paired_test(values, values + np.array([0.0, 0.5, 0.0]))
    assert found[0] == 1
    assert found[1] < 0.001
    assert np.isnan(found[2])


def test_p_is_low_by_chance_as_often_as_it_says() -> None:
    draw = np.random.default_rng(0)
    low = [paired_test(draw.random((40, 1)), draw.random((40, 1)), samples=400)[0] <= 0.1 for _ in range(400)]
    assert 0.06 < np.mean(low) < 0.14


def test_the_same_seed_draws_the_same() -> None:
    values = np.random.default_rng(0).random((50, 2))
    assert np.array_equal(bootstrap(values, 1), bootstrap(values, 1))
    assert not np.array_equal(bootstrap(values, 1), bootstrap(values, 2))
    # A difference of draws is paired: of a figure and itself plus a constant it has no spread.
    assert np.ptp(bootstrap(values + 0.1, 1) - bootstrap(values, 1)) < 1e-12


def test_many_questions_are_drawn_in_blocks() -> None:
    values = np.full((3_000_000, 1), 0.5)
    assert intervals(bootstrap(values, samples=2))[:, 0] == pytest.approx([0.5, 0.5])


def test_no_questions_have_no_interval() -> None:
    assert np.isnan(intervals(bootstrap(np.empty((0, 2)), samples=5))).all()
