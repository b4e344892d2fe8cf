"""Test the gate's probability that evidence answers, and its threshold."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from collecting import asking, collect, text
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.gate import LEXICAL_ONLY, Gate, Signals, packaged_gates
from answerable.answering.reading import rank
from answerable.answering.sentences import sentences
from answerable.wiring.answering import READING

GATE = Gate({"words": 2.0, "meaning": 4.0, "reading": 0.5}, -3.0, ((0.0, 1.0), (5.0, 0.8), (10.0, 0.6), (100.0, 0.0)))
PACKAGED = packaged_gates()
NOTHING = Signals(**dict.fromkeys(Signals.__slots__, 0.0))
ANY_SIGNALS = st.builds(Signals, st.floats(0, 1), st.floats(-1, 1), st.floats(-8, 8))


def test_probability_by_hand() -> None:
    signals = Signals(words=0.5, meaning=0.8, reading=-1.0)
    assert GATE.probability(signals) == pytest.approx(1 / (1 + math.exp(-(2 * 0.5 + 4 * 0.8 - 0.5 - 3))))


@pytest.mark.parametrize(("intercept", "probability"), [(1e6, 1.0), (-1e6, 0.0), (0.0, 0.5)])
def test_probability_at_the_extremes(intercept: float, probability: float) -> None:
    assert Gate({}, intercept, ((0.0, 1.0),)).probability(NOTHING) == pytest.approx(probability)


@pytest.mark.parametrize("name", [*PACKAGED])
@given(signals=ANY_SIGNALS, more=st.floats(0, 5), data=st.data())
def test_a_higher_signal_never_lowers_the_probability(
    name: str, signals: Signals, more: float, data: st.DataObject
) -> None:
    gate = PACKAGED[name]
    signal = data.draw(st.sampled_from(sorted(gate.weights)))
    changed = gate.probability(replace(signals, **{signal: getattr(signals, signal) + more}))
    assert 0 <= gate.probability(signals) <= changed <= 1


@given(ANY_SIGNALS, st.floats(-1, 1))
def test_the_gate_for_words_only_ignores_vectors(signals: Signals, other: float) -> None:
    gate = PACKAGED[LEXICAL_ONLY]
    assert gate.probability(replace(signals, meaning=other)) == gate.probability(signals)


def test_confidence_is_the_probability_of_the_signals_of_the_first_sentence() -> None:
    evidence = collect("red house", text("The red house stands. It is old."), similarities=[0.9, 0.5])
    ranked = rank(sentences(evidence))
    # All words, cosine .9, not read.
    assert GATE.confidence(evidence, ranked) == pytest.approx(1 / (1 + math.exp(-(2 + 4 * 0.9 - 3))))


def test_the_threshold_follows_the_target() -> None:
    cases: list[tuple[float, float]] = [(0, 1.0), (2.5, 0.9), (5, 0.8), (7.5, 0.7), (10, 0.6), (55, 0.3), (100, 0.0)]
    for target, threshold in cases:
        aimed = GATE.aiming_at(target)
        assert aimed.wrong_answers == target, target
        assert aimed.threshold == pytest.approx(threshold), target
        assert (aimed.weights, aimed.intercept) == (GATE.weights, GATE.intercept), target


def test_the_target_is_ten_percent_by_default() -> None:
    assert GATE.threshold == pytest.approx(0.6)


@pytest.mark.parametrize("name", [*PACKAGED])
@given(st.floats(0, 100), st.floats(0, 100))
def test_a_lower_target_never_refuses_less(name: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert PACKAGED[name].aiming_at(low).threshold >= PACKAGED[name].aiming_at(high).threshold - 1e-12


def test_the_packaged_gates_are_complete() -> None:
    names = "local:multilingual-e5-small", LEXICAL_ONLY
    assert set(PACKAGED) == {*names, *(name + READING for name in names)}
    for name, gate in PACKAGED.items():
        meaning, read = name.startswith("local:"), name.endswith(READING)
        assert set(gate.weights) == {"words", *(["meaning"] if meaning else []), *(["reading"] if read else [])}
        assert all(weight > 0 for weight in gate.weights.values())
        assert gate.aiming_at(100).threshold == 0
        assert 0 < gate.threshold < 1


@pytest.mark.parametrize("gate", [GATE, *PACKAGED.values()])
def test_a_gate_survives_json(gate: Gate) -> None:
    assert Gate.from_json(json.loads(json.dumps(gate.to_json()))) == gate
    # The target is the user's.
    assert Gate.from_json(gate.aiming_at(3).to_json()) == gate


CROSSED = replace(GATE, crossed=Gate({"meaning": 10.0}, -8.0, ((0.0, 1.0), (100.0, 0.0))))


def test_a_question_in_another_language_gets_the_crossed_gate() -> None:
    evidence = collect("la casa roja", text("The red house stands."), similarities=[0.9], language="es")
    ranked = rank(sentences(evidence))
    assert CROSSED.confidence(evidence, ranked) == pytest.approx(1 / (1 + math.exp(-1)))
    # Ten in a hundred is a threshold of .9 there.
    assert not CROSSED.passes(evidence, 0.89)
    assert CROSSED.passes(evidence, 0.9)
    assert CROSSED.aiming_at(50).passes(evidence, 0.5)
    assert Gate.from_json(CROSSED.to_json()) == CROSSED


def test_a_question_in_the_same_or_an_unknown_language_gets_the_usual_gate() -> None:
    cases = [("en", "en"), ("", "en"), ("es", ""), ("es", "es")]
    for question, document in cases:
        evidence = collect("red house", text("The red house stands."), similarities=[0.9], language="en")
        results = tuple(
            replace(result, document=replace(result.document, language=document)) for result in evidence.results
        )
        assert CROSSED.suited_to(replace(asking(evidence, language=question), results=results)) is CROSSED, question


def test_thresholds_may_be_in_any_order() -> None:
    values = GATE.to_json()
    assert Gate.from_json({**values, "thresholds": values["thresholds"][::-1]}) == GATE


@pytest.mark.parametrize(
    "changes",
    [
        {"weights": None},
        {"weights": []},
        {"weights": {"words": "much"}},
        {"weights": {"beauty": 1.0}},
        {"intercept": None},
        {"intercept": "high"},
        {"thresholds": []},
        {"thresholds": None},
        {"thresholds": [[1]]},
        {"thresholds": [["low", 0.5]]},
    ],
)
def test_an_invalid_gate_raises(changes: Mapping[str, Any]) -> None:
    with pytest.raises((KeyError, TypeError, AttributeError, ValueError)):
        Gate.from_json({**GATE.to_json(), **changes})


@pytest.mark.parametrize("name", ["weights", "intercept", "thresholds"])
def test_a_missing_value_raises(name: str) -> None:
    values = GATE.to_json()
    del values[name]
    with pytest.raises(KeyError):
        Gate.from_json(values)
