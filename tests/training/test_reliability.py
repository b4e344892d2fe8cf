"""Predicted probabilities beside what came, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lab.plots import Bin, reliability, reliability_plot

PREDICTIONS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def test_bins_and_errors_by_hand() -> None:
    found = reliability([0.1, 0.12, 0.9, 1.0], [False, True, True, True])
    assert found.bins == [
        Bin(pytest.approx(0.11), pytest.approx(0.5), pytest.approx(0.5)),
        Bin(pytest.approx(0.95), pytest.approx(1.0), pytest.approx(0.5)),
    ]
    assert found.brier == pytest.approx((0.1**2 + 0.88**2 + 0.1**2) / 4)
    assert found.calibration_error == pytest.approx(0.5 * 0.39 + 0.5 * 0.05)


def test_a_weight_of_two_is_two_predictions() -> None:
    assert reliability([0.2, 0.8], [True, False], [2, 1]) == reliability([0.2, 0.2, 0.8], [True, True, False])


@given(PREDICTIONS)
def test_the_bins_are_all_of_it(predictions: list[tuple[float, bool]]) -> None:
    predicted, outcome = zip(*predictions, strict=True)
    found = reliability(predicted, outcome)
    assert sum(each.share for each in found.bins) == pytest.approx(1)
    assert sum(each.share * each.observed for each in found.bins) == pytest.approx(sum(outcome) / len(outcome))
    assert [each.predicted for each in found.bins] == sorted(each.predicted for each in found.bins)
    assert 0 <= found.brier <= 1
    assert 0 <= found.calibration_error <= 1


def test_the_drawing_has_a_dot_for_each_bin() -> None:
    drawing = reliability_plot([("<b>", reliability([0.5, 0.5, 1.0], [True, False, True]))])
    half, whole = drawing.findall(".//circle[title]")
    assert (half.get("cx"), half.get("cy")) == ("390.0", "152.0")
    assert (whole.get("cx"), whole.get("cy")) == ("620.0", "24.0")
    assert [each.text for each in half] == ["<b>: predicted 0.50, observed 0.50, 66.7% of all"]
