"""Test the fit of a gate to question sets: cases, weights, thresholds, figures."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from helpers import HashEmbedder
from hypothesis import given
from hypothesis import strategies as st
from made_sets import make_set, write_set
from property_settings import examples

from answerable.answering.found import Found
from answerable.answering.gate import Gate, Signals
from answerable.evaluation import refusals
from answerable.evaluation.calibration import (
    ASKED,
    RIDGE,
    TARGETS,
    area_under_curve,
    calibrate,
    figures,
    fit_gate,
    fit_logistic,
)
from answerable.evaluation.refusals import (
    Case,
    Kind,
    Sampling,
    by_title,
    collect_cases,
    side,
)
from answerable.evaluation.sets import Query, QuestionSet
from answerable.library import Library

NOTHING = Signals(**dict.fromkeys(Signals.__slots__, 0.0))


def case(covered: float, kind: Kind, corpus: str = "sea", is_small: bool = False, **signals: float) -> Case:
    return Case(corpus, kind, "article", is_small, replace(NOTHING, words=covered, **signals), covered)


def made_cases(count: int = 400, seed: int = 0) -> list[Case]:
    """Cases of two sets, the answerable ones better covered, with some of either kind on the wrong side."""
    draw = random.Random(seed)
    return [
        case(
            draw.gauss(0.7 if kind is Kind.ANSWERABLE else 0.4, 0.15),
            kind,
            draw.choice(("sea", "land")),
            draw.random() < 0.3,
            meaning=draw.random(),
        )
        for kind in (Kind.ANSWERABLE, Kind.REMOVED, Kind.FOREIGN)
        for _ in range(count)
    ]


# The fit


def test_the_fit_finds_the_weights_that_made_the_data() -> None:
    draw = np.random.default_rng(0)
    signals = draw.normal((1.0, -2.0, 5.0), (1.0, 3.0, 0.5), (100_000, 3))
    truth = np.array([1.5, -0.5, 4.0])
    outcome = draw.random(len(signals)) < 1 / (1 + np.exp(-(signals @ truth - 20)))
    found, intercept = fit_logistic(signals, outcome, np.ones(len(signals)))
    assert found == pytest.approx(truth, rel=0.05)
    assert intercept == pytest.approx(-20, rel=0.05)


@examples(30)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 4))
def test_the_fit_is_where_the_penalised_loss_is_least(seed: int, count: int, signals_count: int) -> None:
    draw = np.random.default_rng(seed)
    signals = draw.normal(0, draw.uniform(0.1, 5, signals_count), (count, signals_count))
    outcome = np.arange(count) % 2 == 0
    weights = draw.uniform(0.1, 3, count)
    found, intercept = fit_logistic(signals, outcome, weights)
    spread = signals.std(axis=0)

    def loss(point: Sequence[float]) -> float:
        coefficients, shift = np.array(point[:-1]), point[-1]
        logits = signals @ coefficients + shift
        terms = np.logaddexp(0, np.where(outcome, -logits, logits))
        # The penalty is on the coefficients of the signals as they are scaled for the fit.
        return float(weights @ terms + RIDGE * weights.sum() / 2 * ((coefficients * spread) ** 2).sum())

    best = [*found, intercept]
    step = 1e-5
    for number in range(len(best)):
        up, down = ([*best[:number], best[number] + sign * step, *best[number + 1 :]] for sign in (1, -1))
        assert (loss(up) - loss(down)) / (2 * step) == pytest.approx(0, abs=1e-4 * weights.sum())


def test_a_signal_that_never_changes_weighs_nothing() -> None:
    signals = np.column_stack((np.arange(40.0) % 7, np.full(40, 3.0)))
    found, intercept = fit_logistic(signals, signals[:, 0] > 3, np.ones(40))
    assert found[0] > 0
    assert found[1] == pytest.approx(0)
    assert np.isfinite(intercept)


def test_a_case_of_weight_two_is_two_cases() -> None:
    draw = np.random.default_rng(1)
    signals, outcome = draw.normal(size=(30, 2)), np.arange(30) % 3 == 0
    twice = np.where(np.arange(30) < 10, 2.0, 1.0)
    one = fit_logistic(signals, outcome, twice)
    # The scale is that of the cases as they are given, so both are scaled by the same here.
    scaled = (signals - signals.mean(axis=0)) / signals.std(axis=0)
    repeated = np.repeat(np.arange(30), twice.astype(int))
    other = fit_logistic(scaled[repeated], outcome[repeated], np.ones(len(repeated)))
    first = 1 / (1 + np.exp(-(signals @ one[0] + one[1])))
    second = 1 / (1 + np.exp(-(scaled @ other[0] + other[1])))
    assert first == pytest.approx(second, abs=1e-3)


@given(
    st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30),
    st.lists(st.integers(0, 5).map(float), min_size=1, max_size=30),
)
def test_area_under_the_curve_is_a_count_of_pairs(right: list[float], wrong: list[float]) -> None:
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one in right for other in wrong]
    assert area_under_curve(right, wrong) == pytest.approx(sum(pairs) / len(pairs))
    assert area_under_curve(wrong, right) == pytest.approx(1 - sum(pairs) / len(pairs))


# The gate


@pytest.mark.parametrize("uses_meaning", [False, True])
def test_a_gate_weighs_what_tells_the_kinds_apart(uses_meaning: bool) -> None:
    gate = fit_gate(made_cases(), uses_meaning)
    assert set(gate.weights) == ({"words", "meaning"} if uses_meaning else {"words"})
    assert gate.weights["words"] > 5
    assert abs(gate.weights.get("meaning", 0)) < 1
    assert gate.probability(Signals(0.8, 0.5)) > 0.8
    assert gate.probability(Signals(0.2, 0.5)) < 0.2
    assert gate.wrong_answers == 10
    assert Gate.from_json(gate.to_json()) == gate


def test_no_more_of_the_fitted_cases_get_through_than_the_target() -> None:
    for target in TARGETS:
        cases = made_cases()
        gate = fit_gate(cases, uses_meaning=False).aiming_at(target)
        masses = Counter((each.corpus, each.kind, each.is_small) for each in cases)
        through = total = 0.0
        for each in cases:
            if each.kind in ASKED:
                weight = (
                    ASKED[each.kind] * (0.5 if each.is_small else 1) / masses[each.corpus, each.kind, each.is_small]
                )
                total += weight
                through += weight * (gate.probability(each.signals) >= gate.threshold)
        assert through / total <= target / 100 + 1e-9, target
        # Nor are many fewer let through than may be.
        assert through / total >= target / 100 - 0.015, target


def test_with_a_reader_one_gate_serves_all_languages() -> None:
    draw = random.Random(3)
    cases = [
        replace(case(0.5, kind, reading=draw.gauss(4 if kind is Kind.ANSWERABLE else 0, 1.5)), is_crossed=is_crossed)
        for kind in (Kind.ANSWERABLE, Kind.REMOVED, Kind.FOREIGN)
        for is_crossed in (False, True)
        for _ in range(300)
    ]
    gate = fit_gate(cases).aiming_at(10)
    assert gate.weights["reading"] > 0.5
    assert gate.crossed is None


def test_thresholds_fall_as_targets_rise() -> None:
    thresholds = fit_gate(made_cases(), uses_meaning=False).thresholds
    assert tuple(target for target, _ in thresholds) == TARGETS
    assert all(one >= other for (_, one), (_, other) in pairwise(thresholds))
    assert thresholds[-1] == (100.0, 0.0)


def test_the_size_of_a_set_makes_no_difference() -> None:
    cases = made_cases()
    more = [*cases, *(each for each in cases if each.corpus == "land" for _ in range(3))]
    one, other = fit_gate(cases, uses_meaning=False), fit_gate(more, uses_meaning=False)
    assert other.weights["words"] == pytest.approx(one.weights["words"], rel=0.02)
    assert other.intercept == pytest.approx(one.intercept, rel=0.02)


def test_questions_without_an_answer_by_the_sets_own_word_count_less_than_others() -> None:
    cases = made_cases()
    covered = [case(0.7, Kind.UNANSWERABLE, corpus) for corpus in ("sea", "land")]
    as_removed = [replace(each, kind=Kind.REMOVED) for each in covered] * 400
    without, with_them, misled = (fit_gate([*cases, *more], uses_meaning=False) for more in ([], covered, as_removed))
    assert without.weights["words"] > with_them.weights["words"] > misled.weights["words"] > 0


# Questions in another language


def crossed_cases() -> list[Case]:
    """Those of two sets, and of one whose questions are in another language: there only cosines tell."""
    draw = random.Random(1)
    tongues = [
        Case("tongues", kind, "article", False, replace(NOTHING, words=draw.random(), meaning=level), 0.5, True)
        for kind, mean in ((Kind.ANSWERABLE, 0.9), (Kind.REMOVED, 0.8), (Kind.FOREIGN, 0.7))
        for level in (draw.gauss(mean, 0.05) for _ in range(300))
    ]
    strangers = [replace(each, corpus="sea", kind=Kind.FOREIGN) for each in tongues[:50]]
    return [*made_cases(), *strangers, *tongues]


def test_questions_in_another_language_have_a_gate_of_their_own() -> None:
    gate = fit_gate(crossed_cases())
    assert gate.crossed
    assert gate.crossed.weights["meaning"] > 10 > abs(gate.weights["meaning"])
    assert gate.weights["words"] > 5 > abs(gate.crossed.weights["words"])
    # They change nothing for the others.
    assert replace(gate, crossed=None) == fit_gate(made_cases())
    found = {one.corpus: one for one in figures(gate, crossed_cases())}
    assert found["tongues"].area > 0.85
    assert found["tongues"].refused[Kind.FOREIGN] >= 0.88


def test_words_alone_have_one_gate_for_all_languages() -> None:
    assert fit_gate(crossed_cases(), uses_meaning=False).crossed is None


@pytest.mark.parametrize(
    "kinds",
    [[], [Kind.ANSWERABLE], [Kind.REMOVED, Kind.FOREIGN], [Kind.ANSWERABLE, Kind.UNANSWERABLE]],
)
def test_a_gate_needs_both_kinds(kinds: list[Kind]) -> None:
    with pytest.raises(ValueError, match="questions that have an answer and questions that have none"):
        fit_gate([case(0.5, kind) for kind in kinds])


def test_figures_by_hand() -> None:
    gate = Gate({"words": 10.0}, -5.0, ((0.0, 1.0), (10.0, 0.5)))  # answers from a coverage of .5
    cases = [
        *(case(coverage, Kind.ANSWERABLE) for coverage in (0.9, 0.8, 0.6, 0.3)),
        *(case(coverage, Kind.REMOVED) for coverage in (0.7, 0.2)),
        *(case(coverage, Kind.FOREIGN) for coverage in (0.1, 0.2, 0.6)),
        replace(case(0.9, Kind.UNANSWERABLE), closest=0.0),
        case(0.9, Kind.ANSWERABLE, "without a removed one"),
    ]
    (found,) = figures(gate, cases)
    assert (found.corpus, found.questions) == ("sea", 4)
    # Of 8 pairs, .6 and .3 lose to .7.
    assert found.area == found.cosine_area == pytest.approx(6 / 8)
    # One is as well covered as the best, and nothing is as close as its passage is to it.
    assert (found.unanswerable_area, found.unanswerable_cosine_area) == (pytest.approx(0.5 / 4), 1)
    assert found.refused == {
        Kind.ANSWERABLE: 0.25,
        Kind.REMOVED: 0.5,
        Kind.FOREIGN: pytest.approx(2 / 3),
        Kind.UNANSWERABLE: 0.0,
    }
    assert figures(gate.aiming_at(0), cases)[0].refused[Kind.ANSWERABLE] == 1
    assert figures(gate, []) == []


# The cases


@pytest.fixture
def sets(tmp_path: Path) -> list[QuestionSet]:
    """Two made-up sets of twelve articles with two documents each."""
    return [QuestionSet.load(make_set(tmp_path / name, 12, name), name) for name in ("sea", "land")]


def test_the_halves_are_halves_and_steady() -> None:
    sides = [side(f"article {number}") for number in range(1000)]
    assert set(sides) == {0, 1}
    assert 400 < sum(sides) < 600
    assert sides == [side(f"article {number}") for number in range(1000)]


def test_an_article_is_a_title_or_the_document_itself(tmp_path: Path) -> None:
    folder = write_set(
        tmp_path,
        [{"_id": "a", "title": "T", "text": "x"}, {"_id": "b", "text": "y"}],
        [{"_id": "q", "text": "x"}],
        [("q", "a", 1)],
    )
    assert [by_title("", document) for document in QuestionSet.load(folder).documents] == ["T", "b"]


class Asked:
    """Sees every question that is asked, with what the library holds then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen: list[tuple[Kind, bool, Query, set[str], str]] = []
        true_ask = refusals._SetRun.ask

        def ask(
            run: refusals._SetRun, library: Library, query: Query, kind: Kind, article: str, is_small: bool = False
        ) -> None:
            held = {document.id for document in library.documents()}
            evidence: Found = library.evidence(query.text)
            assert {result.document.id for result in evidence.results} <= held
            self.seen.append((kind, is_small, query, held, article))
            true_ask(run, library, query, kind, article, is_small)

        monkeypatch.setattr(refusals._SetRun, "ask", ask)


def test_what_is_asked_of_which_library(sets: list[QuestionSet], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = Asked(monkeypatch)
    cases = collect_cases(sets, HashEmbedder(), Sampling(30, 10, 8))
    assert len(cases) == len(asked.seen)
    whole = {each.id for questions in sets for each in questions.documents}
    article = {each.id: each.title for questions in sets for each in questions.documents}
    for kind, is_small, query, held, name in asked.seen:
        gold = set(query.relevant)
        here = {article[each] for each in held}
        if kind in (Kind.ANSWERABLE, Kind.UNANSWERABLE):
            assert gold <= held
        else:
            assert not gold & held
        if kind is Kind.FOREIGN:
            assert not {article[each] for each in gold} & here
        else:
            assert name == article[next(iter(gold))]
        if is_small:
            assert len(held) in (1, 2)
            assert len(here) == 1
        elif kind is Kind.REMOVED:
            # All of the set but the one document: each is back before the next goes.
            assert len(held) == 24 - len(gold)
        else:
            assert len(held) == 24
        assert held <= whole


def test_how_many_cases_there_are(sets: list[QuestionSet]) -> None:
    cases = collect_cases(sets, HashEmbedder(), Sampling(30, 10, 8))
    counted = Counter((each.corpus, each.kind) for each in cases if not each.is_small)
    for name in ("sea", "land"):
        assert counted[name, Kind.ANSWERABLE] == counted[name, Kind.REMOVED] == 30
        assert counted[name, Kind.FOREIGN] == 10
        assert counted[name, Kind.UNANSWERABLE] == 12
    small = Counter(each.kind for each in cases if each.is_small)
    assert set(small) == {Kind.ANSWERABLE, Kind.REMOVED, Kind.FOREIGN}
    assert small[Kind.FOREIGN] == 2 * 8 * 4


def test_the_same_seed_gives_the_same_cases(sets: list[QuestionSet]) -> None:
    one, other, third = (collect_cases(sets, HashEmbedder(), Sampling(6, 3, 2, seed)) for seed in (0, 0, 1))
    assert one == other
    assert one != third


def test_no_strangers_where_articles_are_shared(sets: list[QuestionSet], tmp_path: Path) -> None:
    again = replace(sets[0], name="again")
    cases = collect_cases([sets[0], again], HashEmbedder(), Sampling(4, 10, 2))
    assert Kind.FOREIGN not in {each.kind for each in cases}
    # Named otherwise, its articles are others.
    apart = collect_cases(
        [sets[0], again], HashEmbedder(), Sampling(4, 10, 2), lambda name, document: f"{name} {document.title}"
    )
    assert sum(each.kind is Kind.FOREIGN and not each.is_small for each in apart) == 20


def test_a_question_about_two_documents_loses_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_set(
        tmp_path / "pets",
        [{"_id": name, "title": "Pets", "text": f"The {name} sleeps well."} for name in ("cat", "dog", "cow")],
        [{"_id": "q", "text": "Who sleeps well?"}, {"_id": "r", "text": "How does the cow sleep?"}],
        [("q", "cat", 1), ("q", "dog", 1), ("r", "cow", 1)],
    )
    asked = Asked(monkeypatch)
    collect_cases([QuestionSet.load(folder)], HashEmbedder(), Sampling(small_libraries=0))
    removed = {query.id: held for kind, _, query, held, _ in asked.seen if kind is Kind.REMOVED}
    assert removed == {"q": {"cow"}, "r": {"cat", "dog"}}


# All of it


@pytest.mark.parametrize(
    "wrong_answers", [10.0, *(pytest.param(target, marks=pytest.mark.long) for target in (2.0, 40.0))]
)
def test_calibrating_end_to_end(sets: list[QuestionSet], wrong_answers: float) -> None:
    said: list[str] = []
    found = calibrate(sets, HashEmbedder(256), wrong_answers, said.append)
    assert said == ["sea", "land"]
    assert [each.corpus for each in found.figures] == ["sea", "land"]
    assert found.gate.wrong_answers == wrong_answers
    for each in found.figures:
        # Made so that a question's names are in its document only.
        assert each.area > 0.9
        assert set(each.refused) == set(Kind)
        # Measured on the half that it wasn't fitted on.
        assert 0 < each.questions < 48
        assert each.refused[Kind.FOREIGN] >= each.refused[Kind.ANSWERABLE]


def test_one_set_will_do(sets: list[QuestionSet]) -> None:
    (found,) = calibrate(sets[:1], HashEmbedder()).figures
    assert set(found.refused) == {Kind.ANSWERABLE, Kind.REMOVED, Kind.UNANSWERABLE}


@pytest.mark.parametrize("seed", ["pond", "lake", "well", "brook"])
def test_too_few_articles_are_told(tmp_path: Path, seed: str) -> None:
    few = QuestionSet.load(make_set(tmp_path, 1, seed, 1))
    with pytest.raises(ValueError, match="too few articles"):
        calibrate([few], HashEmbedder())
