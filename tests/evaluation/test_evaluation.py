"""Test the figures on results, answers, citations and refusals, by configuration, language and type."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document
from made_sets import make_set

from answerable.errors import SettingsError
from answerable.evaluation.evaluation import Plan, evaluate, set_store
from answerable.evaluation.judging import Retriever, configure, parse_retrievers, reply, search
from answerable.evaluation.report import (
    FIGURES,
    Difference,
    Measured,
    Report,
    SetReport,
)
from answerable.evaluation.sets import Asked, QuestionSet, asked_of
from answerable.library import Library
from answerable.protocols import Store
from answerable.settings import Settings
from answerable.wiring.build import MEMORY, build_store

SETTINGS = Settings()
EMBEDDER = HashEmbedder()
COMPARED = (Retriever.HYBRID, Retriever.DENSE, Retriever.BM25)


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> QuestionSet:
    """A made-up set of four articles."""
    return QuestionSet.load(make_set(tmp_path_factory.mktemp("sets") / "sea", 4, "sea"), "sea")


@pytest.fixture(scope="module")
def report(questions: QuestionSet) -> SetReport:
    """What the set gives, its three configurations side by side."""
    with set_store(questions, SETTINGS, EMBEDDER) as store:
        return evaluate("sea", asked_of(questions), SETTINGS, store, EMBEDDER, Plan(COMPARED))


def value(measured: Measured, name: str) -> float:
    """One of the figures."""
    (found,) = (figure.value for figure in measured.figures if figure.name == name)
    return found


# The whole


def test_a_set_is_measured_with_every_configuration(report: SetReport) -> None:
    assert (report.name, report.documents, report.questions, report.unanswerable) == ("sea", 8, 20, 4)
    assert [each.configuration for each in report.measured] == ["hybrid", "dense", "bm25"]
    for each in report.measured:
        counts = {figure.name: figure.questions for figure in each.figures}
        assert counts["ndcg@10"] == counts["answer_containment"] == counts["answered"] == 16
        assert counts["refusal_recall"] == 4
        for figure in each.figures:
            assert 0 <= figure.low <= figure.value <= figure.high <= 1
        assert [step.step for step in each.latencies] == ["search", "ask"]
        assert all(0 < step.p50 <= step.p95 for step in each.latencies)
        assert each.operating is not None
        assert 0 < each.operating.coverage <= 1
    hybrid, dense, bm25 = report.measured
    # Each fact has words of its own, which the hashed vectors of words mix up.
    assert value(bm25, "ndcg@10") == 1
    assert value(hybrid, "ndcg@10") > value(dense, "ndcg@10")
    assert value(hybrid, "answer_containment") > 0.9
    assert hybrid.differences == []
    assert {change.name for change in dense.differences} <= set(FIGURES)
    for change in dense.differences:
        assert change.value == pytest.approx(value(dense, change.name) - value(hybrid, change.name))
        assert change.low - 1e-9 <= change.value <= change.high + 1e-9
        assert 0 < change.p <= 1


def test_questions_of_one_language_and_type_are_no_groups(report: SetReport) -> None:
    hybrid = report.measured[0]
    assert hybrid.by_language == hybrid.by_type == []


@pytest.mark.long
def test_the_same_again_gives_the_same(questions: QuestionSet, report: SetReport) -> None:
    seen = []
    plan = Plan(on_asked=lambda name, done, total: seen.append((name, done, total)))
    with set_store(questions, SETTINGS, EMBEDDER) as store:
        again = evaluate("sea", asked_of(questions), SETTINGS, store, EMBEDDER, plan)
    assert again.measured[0].figures == report.measured[0].figures
    assert again.measured[0].operating == report.measured[0].operating
    assert seen == [("sea, hybrid", done, 20) for done in range(1, 21)]


def test_a_sample_and_search_alone(questions: QuestionSet) -> None:
    with set_store(questions, SETTINGS, EMBEDDER) as store:
        found = evaluate("sea", asked_of(questions), SETTINGS, store, EMBEDDER, Plan(answers=False, sample=12, seed=5))
    assert found.questions == 12
    (only,) = found.measured
    assert [step.step for step in only.latencies] == ["search"]
    assert {figure.name for figure in only.figures}.isdisjoint(("answered", "token_f1", "citation_recall"))
    assert only.operating is None


def test_a_report_is_json(report: SetReport) -> None:
    change = Difference("mrr", math.nan, 0.1, 0.2, 0.3)
    bare = replace(report, measured=[replace(report.measured[0], differences=[change])])
    plain = Report("1", "hash:words", "extractive", 0, [report, bare]).to_json()
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plain["sets"][0]["measured"][1]["configuration"] == "dense"
    assert plain["sets"][1]["measured"][0]["differences"][0]["value"] is None


# Configurations


def test_names_of_configurations() -> None:
    assert parse_retrievers("") == [Retriever.HYBRID]
    assert parse_retrievers(" BM25, dense,bm25 ,") == [Retriever.HYBRID, Retriever.BM25, Retriever.DENSE]
    with pytest.raises(SettingsError, match=r"no configuration 'splade'. Configurations: hybrid, dense, bm25"):
        parse_retrievers("dense,splade")


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """A store in memory, with a guide in English and one in Spanish."""
    with closing(build_store(MEMORY)) as opened:
        configure(SETTINGS, opened, EMBEDDER, Retriever.HYBRID).add_documents(
            [
                make_document("The warranty lasts 24 months. Call Ana.", "guide", source="guide.md", language="en"),
                make_document("La garantía dura dos años. Llama a Ana.", "guia", source="guia.md", language="es"),
            ]
        )
        yield opened


@pytest.mark.parametrize(
    ("retriever", "by_meaning", "by_keyword"),
    [(Retriever.HYBRID, True, True), (Retriever.DENSE, True, False), (Retriever.BM25, False, True)],
)
def test_each_configuration_searches_its_own_way(
    store: Store, retriever: Retriever, by_meaning: bool, by_keyword: bool
) -> None:
    with closing(configure(SETTINGS, store, EMBEDDER, retriever)) as configured:
        results = configured.search("How long does the warranty last?")
        assert results[0].document.id == "guide"
        assert all((result.meaning_rank is not None) is by_meaning for result in results)
        assert (results[0].keyword_rank is not None) is by_keyword
        assert configured.ask("How long does the warranty last?").citations[0].document_id == "guide"
    # Others search the same store after it.
    assert store.count() == (2, 2)


@pytest.mark.parametrize(
    "retriever", [Retriever.MINMAX, Retriever.SCALED, Retriever.SENTENCES, Retriever.FEEDBACK, Retriever.HYBRID]
)
def test_each_step_upon_the_others_finds_by_both(store: Store, retriever: Retriever) -> None:
    library = configure(SETTINGS, store, EMBEDDER, retriever)
    results = library.search("How long does the warranty last?")
    assert [result.document.id for result in results] == ["guide", "guia"]
    assert results[0].meaning_rank is not None
    assert results[0].keyword_rank is not None
    quoted = library.search('How long does the "garantía" last?')
    assert (quoted[0].document.id == "guia") is (retriever is Retriever.HYBRID)


def test_reranking_needs_an_embedder_that_can(store: Store) -> None:
    with pytest.raises(SettingsError, match="has no token vectors"):
        configure(SETTINGS, store, EMBEDDER, Retriever.RERANKED)


def test_a_question_about_a_chat_is_narrowed_in_every_configuration() -> None:
    chat = Path(__file__).parents[2] / "examples" / "Chat de WhatsApp con Viaje a Oaxaca.txt"
    with closing(build_store(MEMORY)) as opened:
        configure(SETTINGS, opened, EMBEDDER, Retriever.HYBRID).add(chat)
        for retriever in COMPARED:
            library = configure(SETTINGS, opened, EMBEDDER, retriever)
            narrowing = library.narrowing("¿Qué dijo Julián sobre el hotel?")
            assert narrowing is not None
            assert (narrowing.senders, narrowing.applied) == (("Julián",), True)
            assert library.search("¿Qué dijo Julián sobre el hotel?")


# A question


WARRANTY = Asked("q", "How long does the warranty last?", ("24 months",), {"guide": 1}, language="en")


@pytest.fixture(scope="module")
def configured(store: Store) -> Library:
    """The guides, as users search them."""
    return configure(SETTINGS, store, EMBEDDER, Retriever.HYBRID)


def test_what_a_search_is_measured_by(configured: Library) -> None:
    found = search(configured, WARRANTY)
    assert found.figures["mrr"] == found.figures["recall@1"] == found.figures["answer_found@10"] == 1
    assert found.seconds > 0
    assert set(search(configured, replace(WARRANTY, answers=())).figures) == set(FIGURES[:7])
    by_answer = replace(WARRANTY, relevant={}, answers=("four years",))
    assert search(configured, by_answer).figures == {"answer_found@10": 0}
    assert search(configured, replace(WARRANTY, is_unanswerable=True)).figures == {}


def test_what_an_answer_is_measured_by(configured: Library) -> None:
    found = reply(configured, WARRANTY)
    assert found.is_right
    assert not found.is_refused
    assert found.figures["answer_containment"] == found.figures["citation_recall"] == found.figures["answered"] == 1
    assert 0 < found.figures["token_f1"] < 1
    assert found.figures["citation_precision"] > 0
    assert "refusal_precision" not in found.figures
    # Without a document, a citation is right that holds the answer.
    assert reply(configured, replace(WARRANTY, relevant={})).figures["citation_recall"] == 1
    wrong = reply(configured, replace(WARRANTY, relevant={}, answers=("four years",)))
    assert not wrong.is_right
    assert wrong.figures["citation_precision"] == wrong.figures["citation_recall"] == wrong.figures["token_f1"] == 0
    # Half of what is expected is cited.
    two = reply(configured, replace(WARRANTY, relevant={"guide": 1, "elsewhere": 1}))
    assert two.figures["citation_recall"] == 0.5


def test_what_a_refusal_is_measured_by(configured: Library) -> None:
    nonsense = "Who composed the opera about Antarctic penguins?"
    right = reply(configured, Asked("q", nonsense, is_unanswerable=True))
    assert right.is_refused
    assert right.figures == {"refusal_recall": 1, "refusal_precision": 1}
    assert not right.is_right
    wrong = reply(configured, Asked("q", nonsense, ("Ana",), {"guide": 1}, language="en"))
    assert wrong.figures == {
        "answered": 0,
        "refusal_precision": 0,
        "answer_containment": 0,
        "token_f1": 0,
        "citation_recall": 0,
    }
    assert not wrong.is_right


def test_answers_in_spanish_and_portuguese(configured: Library) -> None:
    spanish = Asked("q", "¿Cuánto dura la garantía?", ("los dos años",), {"guia": 1}, language="es")
    found = reply(configured, spanish)
    assert found.is_right
    assert found.figures["citation_precision"] == 1
    with closing(build_store(MEMORY)) as opened:
        made = configure(SETTINGS, opened, EMBEDDER, Retriever.HYBRID)
        made.add_documents([make_document("A garantia dura dois anos.", "guia", language="pt")])
        portuguese = Asked("q", "Quanto tempo dura a garantia?", ("os dois anos",), {"guia": 1}, language="pt")
        assert reply(made, portuguese).figures["answer_containment"] == 1


def test_citations_of_an_answer_are_judged_by_document_first(configured: Library) -> None:
    # The right words in another document than the expected one.
    elsewhere = replace(WARRANTY, relevant={"guia": 1})
    assert reply(configured, elsewhere).figures["citation_precision"] < 1
