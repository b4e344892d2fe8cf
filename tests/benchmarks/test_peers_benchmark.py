"""The comparison with other systems: our own column on a made-up set, and the tables."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from made_sets import make_set

from answerable.embedding.cache import CachedEmbedder
from answerable.evaluation.metrics import ndcg
from answerable.evaluation.sets import QuestionSet


@pytest.fixture(scope="module", autouse=True)
def _benchmarks_are_on_the_path() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[2] / "benchmarks"))
        yield


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, embedder: CachedEmbedder) -> dict[str, Any]:
    """What a process of ours reports on a made-up set, by task, with the set."""
    from peers.comparison import Sets
    from peers.embedding_server import serving
    from peers.environments import work
    from peers.systems import OURS

    folder = tmp_path_factory.mktemp("peers")
    make_set(folder / "made", 8, "peers")
    sets = Sets(folder, folder, {"made": "en"})
    with serving(embedder) as port:
        tasks = ("rank", "measure")
        done = {task: work(Path(sys.executable), task, OURS, sets.files["made"], port) for task in tasks}
    return {**done, "sets": sets, "loaded": QuestionSet.load(folder / "made")}


def test_rankings_become_the_mean_ndcg(reports: dict[str, Any]) -> None:
    rankings, sets = reports["rank"]["rankings"], reports["sets"]
    queries = {query.text: query.relevant for query in reports["loaded"].queries}
    asked = sets.corpus("made").questions
    assert sorted(asked) == sorted(queries)
    by_hand = fmean(ndcg(ranking, queries[text]) for ranking, text in zip(rankings, asked, strict=True))
    assert sets.ndcg("made", rankings) == pytest.approx(by_hand, abs=1e-12)
    assert by_hand > 0.9
    assert sets.ndcg("made", [[] for _ in rankings]) == 0


def test_costs_and_habits_are_measured(reports: dict[str, Any]) -> None:
    measured = reports["measure"]
    assert measured["index"] > 0
    assert 0 < measured["p50"] <= measured["p95"]
    assert 0 < measured["import"] < 60
    assert measured["peak"] > 20
    assert measured["embedded_again"] == 0
    assert measured["again"] < measured["index"]
    assert measured["duplicates"] is False
    assert measured["still_found"] is False
    assert measured["offsets"] == 1


def test_a_system_that_fails_is_said_to(tmp_path: Path) -> None:
    from peers.environments import Failed, work
    from peers.systems import System

    with pytest.raises(Failed, match=r"No module named 'peers\.nobody'"):
        missing = tmp_path / "corpus.json"
        missing.write_text('{"language": "en", "documents": [], "questions": []}')
        work(Path(sys.executable), "rank", System("Nobody", "nobody", (), ""), missing, 1)


def test_tables_print_losses_like_wins() -> None:
    from peers.systems import System
    from peers.table import tables

    ours, near, far = (System(name, name.lower(), (), f"pieces of {name}") for name in ("Ours", "Near", "Far"))
    broken = System("Broken", "broken", (), "none")

    def result(quality: float, seconds: float) -> dict[str, Any]:
        measured = dict.fromkeys(("index", "p50", "p95", "again", "peak", "import"), seconds)
        said = {"embedded_again": 3, "duplicates": True, "still_found": False, "offsets": None}
        note = {"note": "measured elsewhere."} if quality == 0.5 else {}
        return {"ndcg": {"made": quality}, "megabytes": 10, "when": "now", "measured": {**measured, **said, **note}}

    shown = tables(
        [ours, near, far, broken],
        {
            "ours": result(0.75, 2.0),
            "near": result(0.76, 1.0),
            "far": result(0.5, 0.5),
            "broken": {"failed": "it | broke", "when": "now"},
            "questions": {"made": 1234},
        },
        ["made"],
        "made",
    )
    lines = shown.splitlines()
    assert lines[0] == "|  | Ours | Near | Far |"
    assert "| nDCG@10 made, 1,234 questions | 0.7500 | **0.7600** | 0.5000 |" in lines
    assert "| CPU to index made, embedding apart | 2 s | 1 s (0.5×) | 0.5 s (0.25×) |" in lines
    assert "| passages at their exact offsets | not said | not said | not said |" in lines
    assert "- made: Near is 0.0100 above." in lines
    assert "- CPU to index made, embedding apart: Near takes 0.5 of ours." in lines
    assert not any("Far takes" in line for line in lines)
    assert "**Broken** isn't in the table: it | broke" in lines
    assert [line for line in lines if line.endswith("elsewhere.")] == ["Far: measured elsewhere."]
    assert "| Far | pieces of Far | now |" in lines


def test_rankings_of_other_questions_are_not_compared() -> None:
    from peers.comparison import merge

    results: dict[str, Any] = {}
    merge(results, {"one": {"ndcg": {"a": 0.5, "b": 0.6}}, "two": {"failed": "no"}}, {"a": 10, "b": 10})
    merge(results, {"two": {"ndcg": {"b": 0.7}, "when": "now"}}, {"b": 20})
    assert results["questions"] == {"a": 10, "b": 20}
    assert results["one"]["ndcg"] == {"a": 0.5}
    assert results["two"] == {"ndcg": {"b": 0.7}, "when": "now"}
    merge(results, {"two": {"measured": {"index": 1.0}}}, {"b": 20})
    assert results["two"] == {"ndcg": {"b": 0.7}, "when": "now", "measured": {"index": 1.0}}
