"""Test that the figures of a ranking equal trec_eval's, even with ties."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from answerable.evaluation.metrics import CUTOFFS, average_precision, ndcg, order, ranking_figures, recall

TREC = {"ndcg@10": "ndcg_cut_10", "mrr": "recip_rank", "map": "map", **{f"recall@{k}": f"recall_{k}" for k in CUTOFFS}}

Scores = Mapping[str, float]


def trec(scores: Scores, relevant: Mapping[str, int]) -> dict[str, float]:
    """The figures as trec_eval has them."""
    cutoffs = ",".join(map(str, CUTOFFS))
    peer = pytrec_eval.RelevanceEvaluator(
        {"q": dict(relevant)}, {"ndcg_cut.10", "recip_rank", "map", f"recall.{cutoffs}"}
    )
    found = peer.evaluate({"q": dict(scores)})["q"]
    return {name: found[theirs] for name, theirs in TREC.items()}


def assert_same(scores: Scores, relevant: Mapping[str, int]) -> None:
    """Every figure is trec_eval's to 1e-9."""
    ours = ranking_figures(order(scores), relevant)
    theirs = trec(scores, relevant)
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        assert ours[name] == pytest.approx(value, abs=1e-9), name


def test_random_runs_with_ties_are_scored_as_trec_eval_does() -> None:
    for seed in range(150):
        draw = random.Random(seed)
        documents = [f"{draw.choice('abZé9-')}{number}" for number in range(draw.choice((1, 8, 60, 300)))]
        # Few different scores: most are ties. Some differ by less than a 32-bit float tells.
        scores = {
            document: draw.choice((0.5, 0.25, -1.0, 1 / 3, 1 / 3 + 1e-12, draw.random(), 7.0))
            for document in documents
            if draw.random() < 0.9 or document == documents[0]
        }
        relevant = {document: draw.choice((0, 0, 1, 2, 3)) for document in documents if draw.random() < 0.5}
        relevant["not found"] = 1
        assert_same(scores, relevant)


@given(
    st.dictionaries(st.text("abñ日1", min_size=1), st.floats(-5, 5, width=32), min_size=1, max_size=40),
    st.dictionaries(st.text("abñ日1", min_size=1), st.integers(0, 3), min_size=1, max_size=20),
)
def test_any_run_is_scored_as_trec_eval_does(scores: Scores, relevant: Mapping[str, int]) -> None:
    assert_same(scores, {**relevant, "x": 1})


def test_ties_go_to_the_last_id() -> None:
    assert order({"a": 1.0, "c": 1.0, "b": 1.0, "z": 0.5, "best": 2.0}) == ["best", "c", "b", "a", "z"]
    # Scores that are one 32-bit float are ties.
    assert order({"a": 1 / 3 + 1e-12, "b": 1 / 3}) == ["b", "a"]
    assert order({}) == []


def test_figures_by_hand() -> None:
    relevant = {"a": 2, "b": 1, "c": 0}
    found = ranking_figures(["c", "b", "x", "a"], relevant)
    assert found["recall@1"] == 0
    assert found["recall@5"] == 1
    assert found["mrr"] == 1 / 2
    assert found["map"] == pytest.approx((1 / 2 + 2 / 4) / 2)
    assert found["ndcg@10"] == pytest.approx((1 / 1.5849625 + 2 / 2.3219281) / (2 + 1 / 1.5849625))
    assert ndcg([], relevant) == recall([], relevant, 5) == average_precision([], relevant) == 0
    assert set(ranking_figures(["a"], {"a": 0}).values()) == {0.0}
