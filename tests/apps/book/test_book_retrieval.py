"""Questions to the stored book, and the report on whether they find what they should."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest
from book_parts import ARM, EMBED, PUBLIC, make_page, refusal, stored, vector
from providers.scripted_server import ScriptedServer
from site_server import SiteServer

from main import ContentChunk, VectorEmbedding, ingest_book, store_vectors
from retrieval import CohereAPIError, RetrievalResult, ValidationReport, default_queries, search, validate

TEXTS = ("the gait of a robot", "a robot has an arm", "an unrelated sentence about tea")


@pytest.fixture
def texts(monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    """What the default collection holds, each a page."""
    chunks = [ContentChunk(f"{PUBLIC}{at}", f"Page {at}", at, text, 5, "", "") for at, text in enumerate(TEXTS)]
    store_vectors([VectorEmbedding(each.chunk_id, vector(each.text)) for each in chunks], chunks, "book_embeddings")
    return TEXTS


def cosine(one: str, other: str) -> float:
    return sum(a * b for a, b in zip(vector(one), vector(other), strict=True))


def test_the_signatures_are_the_specified_ones() -> None:
    given = {name: each.default for name, each in inspect.signature(search).parameters.items() if name != "query"}
    assert given == {"top_k": 5, "threshold": 0.0, "collection_name": "book_embeddings"}
    given = {name: each.default for name, each in inspect.signature(validate).parameters.items()}
    assert given == {"test_queries": inspect.Parameter.empty, "threshold": 0.7, "top_k": 3}
    assert [field.name for field in fields(RetrievalResult)] == ["text", "url", "title", "chunk_index", "score"]
    names = ["pass_rate", "passed", "total", "threshold", "results"]
    assert [field.name for field in fields(ValidationReport)] == names


def test_results_come_best_first_with_their_cosine(texts: tuple[str, ...], cohere: ScriptedServer) -> None:
    question = "gait of a robot"
    results = search(question, threshold=0.01)
    wanted = [text for text in texts if cosine(question, text) >= 0.01]
    assert [result.text for result in results] == sorted(wanted, key=lambda text: -cosine(question, text))
    assert [result.score for result in results] == pytest.approx(
        [cosine("gait of a robot", result.text) for result in results], abs=1e-5
    )
    best = results[0]
    assert (best.text, best.url, best.title, best.chunk_index) == (texts[0], f"{PUBLIC}0", "Page 0", 0)
    assert (cohere.requests[-1].body["input_type"], cohere.requests[-1].body["texts"]) == (
        "search_query",
        ["gait of a robot"],
    )


def test_top_k_and_threshold_bound_them(texts: tuple[str, ...]) -> None:
    assert len(search("gait of a robot", top_k=1)) == 1
    score = search("gait of a robot", top_k=1)[0].score
    assert [result.text for result in search("gait of a robot", threshold=score - 1e-4)] == [texts[0]]
    assert search("gait of a robot", threshold=min(1.0, score + 1e-4)) == []
    assert len(search("gait of a robot", threshold=-1.0)) == 3


def test_the_specified_example_runs(site: SiteServer, capsys: pytest.CaptureFixture[str]) -> None:
    site.put("/book/docs/urdf", make_page("URDF", "<p>What is URDF? It is a format.</p>"))
    ingest_book(site.home)
    results = search("What is URDF?", top_k=3, threshold=0.5)
    for r in results:
        print(f"{r.score:.3f} - {r.title}: {r.text[:100]}...")
    assert capsys.readouterr().out.startswith("0.")
    assert results[0].url == f"{PUBLIC}docs/urdf"


def test_a_collection_that_is_not_there_holds_nothing(cohere: ScriptedServer, caplog: pytest.LogCaptureFixture) -> None:
    assert search("gait") == []
    assert "run main.py first" in caplog.text
    assert cohere.requests == []


@pytest.mark.parametrize(
    ("query", "top_k", "threshold"),
    [("", 5, 0.0), (" \n", 5, 0.0), ("a", 0, 0.0), ("a", 5, 1.1), ("a", 5, float("nan"))],
)
def test_bad_arguments(query: str, top_k: int, threshold: float) -> None:
    with pytest.raises(ValueError, match=r"question is empty|must be at least 1|from -1 to 1"):
        search(query, top_k, threshold)


def test_cohere_failing_is_raised(texts: tuple[str, ...], cohere: ScriptedServer) -> None:
    cohere.script(EMBED, refusal(401))
    with pytest.raises(CohereAPIError):
        search("gait")


def test_a_report_says_which_queries_reach_the_threshold(texts: tuple[str, ...]) -> None:
    report = validate([texts[0], "gait of a robot", "zebra"], threshold=0.99)
    assert (report.pass_rate, report.passed, report.total, report.threshold) == (pytest.approx(1 / 3), 1, 3, 0.99)
    assert [each.query for each in report.results] == [texts[0], "gait of a robot", "zebra"]
    assert [each.passed for each in report.results] == [True, False, False]
    assert [len(each.results) for each in report.results] == [3, 3, 3]
    assert report.results[0].score == report.results[0].results[0].score == pytest.approx(1.0, abs=1e-5)
    assert validate(list(texts)).pass_rate == 1.0
    assert [len(each.results) for each in validate(list(texts), top_k=1).results] == [1, 1, 1]


def test_a_report_on_nothing() -> None:
    report = validate(["gait"])
    assert (report.pass_rate, report.passed, report.total) == (0.0, 0, 1)
    with pytest.raises(ValueError, match="no question"):
        validate([])
    with pytest.raises(ValueError, match="from -1 to 1"):
        validate(["gait"], threshold=70)


def test_the_default_questions_are_titles_spread_over_the_book(site: SiteServer) -> None:
    assert default_queries() == []
    for number in range(12):
        site.put(f"/book/docs/page{number:02}", make_page(f"Page {number:02}", ARM))
    ingest_book(site.home)
    assert len(stored()) == 15
    queries = default_queries()
    assert len(queries) == 10
    assert (queries[0], queries[-1]) == ("Arms", "Page 10")
    assert queries == sorted(queries)
    assert len(set(queries)) == 10
