"""Test the figures of a report and floors against values computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from answerable.errors import SettingsError
from answerable.evaluation.report import (
    Figure,
    Measured,
    Report,
    SetReport,
    below,
    figures,
    groups,
    parse_floors,
    table,
)
from answerable.evaluation.statistics import Point, operating_point


def test_the_share_answered_and_the_share_of_wrong_answers() -> None:
    refused = [False, False, False, True]
    assert operating_point(refused, [True, False, True, False]) == Point(0.75, 1 / 3)
    assert operating_point([True], [False]) is operating_point([], []) is None


# Figures and floors


def test_figures_are_means_over_what_applies() -> None:
    values = table(
        [
            {"mrr": 1.0, "answered": 1.0},
            {"mrr": 0.5, "answered": 0.0, "refusal_precision": 0.0},
            {"refusal_recall": 1.0, "refusal_precision": 1.0},
        ]
    )
    found = {figure.name: (figure.value, figure.questions) for figure in figures(values, 0)}
    assert found == {"mrr": (0.75, 2), "answered": (0.5, 2), "refusal_recall": (1, 1), "refusal_precision": (0.5, 2)}
    # Without a question that has no answer, refusals have no precision.
    assert [figure.name for figure in figures(values[:2], 0)] == ["mrr", "answered"]
    parts = groups(values, ["en", "", "en"], 0)
    assert [(part.name, part.questions) for part in parts] == [("unknown", 1), ("en", 2)]
    assert groups(values, ["en"] * 3, 0) == []
    assert np.isnan(table([{}])).all()


@pytest.fixture
def report() -> Report:
    """One set, with two figures."""
    found = [Figure("ndcg@10", 0.75, 0.5, 1.0, 12), Figure("answered", 0.9, 0.8, 0.95, 12)]
    measured = [Measured("hybrid", found, [], [], [], [], None)]
    return Report("1", "hash", "none", 0, [SetReport("sea", 1, 1, 12, 0, measured)])


def test_floors(report: Report) -> None:
    assert parse_floors(["ndcg@10=0.7", " mrr = 1 "]) == {"ndcg@10": 0.7, "mrr": 1.0}
    assert below(report, {"ndcg@10": 0.75, "answered": 0.1}) == []
    assert below(report, {"answered": 0.1, "mrr": 0.5, "ndcg@10": 0.8}) == [
        "sea: no question says what mrr needs, so that it can't reach 0.5.",
        "sea: ndcg@10 is 0.7500, below its floor of 0.8.",
    ]


@pytest.mark.parametrize("text", ["ndcg@10", "ndcg@10=", "ndcg@10=much", "ndcg@10=1.5", "ndcg@10=nan", "speed=1", "=1"])
def test_what_is_no_floor(text: str) -> None:
    with pytest.raises(SettingsError, match=r"is not a valid floor. Use FIGURE=VALUE, such as ndcg@10=0.7"):
        parse_floors([text])
