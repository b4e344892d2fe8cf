"""A message that isn't answered alone is asked together with the question before it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

import answerable
from answerable.answering.follow_ups import Completed, completed
from answerable.datatypes import Exchange

NOW = datetime(2026, 3, 2, 12)


def after(*questions: str) -> list[Exchange]:
    return [Exchange(each, each, "…") for each in questions]


@pytest.mark.parametrize(
    ("question", "message", "whole", "is_about_another"),
    [
        ("When is the rent due?", "and how is it paid?", "When is the rent due? and how is it paid?", False),
        ("How much was the oil in 2025?", "and in 2024?", "How much was the oil in 2024?", True),
        ("¿Cuánto gastamos en enero de 2025?", "¿y en marzo de 2025?", "¿Cuánto gastamos en marzo de 2025?", True),
        ("Quanto custou em 2024?", "e em 2025?", "Quanto custou em 2025?", True),
        ("What did Ana say about it?", "And Ben?", "What did Ben say about it?", True),
        ("¿Cuánto pagó Luis de Haro a Ana?", "¿y Marta?", "¿Cuánto pagó Luis de Haro a Ana? ¿y Marta?", True),
        ("When is the rent due?", "and the garage?", "When is the rent due? and the garage?", False),
    ],
)
def test_a_message_is_completed(question: str, message: str, whole: str, is_about_another: bool) -> None:
    assert completed(message, after(question), NOW) == Completed(whole, is_about_another)


def test_nothing_completes_the_first_message() -> None:
    assert completed("and how is it paid?", [], NOW) is None
    assert completed("and how is it paid?", after("hello!"), NOW) is None
    assert completed("and in May?", after("When is it due?", "thanks!"), NOW) == Completed(
        "When is it due? and in May?", True
    )


def test_a_message_that_is_answered_alone_stands_alone(tmp_path: Path) -> None:
    (tmp_path / "boathouse.txt").write_text(
        "The boiler was serviced in May 2025. The fee is paid by the club.", "utf-8"
    )
    with answerable.open(":memory:") as library:
        library.add(tmp_path)
        alone = library.ask("When was the boiler serviced?")
        assert alone.answered
        later = library.ask("When was the boiler serviced?", history=after("Who pays the fee?"))
        assert (later.question, later.text) == (alone.question, alone.text)


def test_what_was_just_said_does_not_answer_what_is_asked_next(tmp_path: Path) -> None:
    (tmp_path / "waste.txt").write_text(
        "Paper is collected on Tuesdays.\n\nThe office has a blue door and two steps.", "utf-8"
    )
    with answerable.open(":memory:") as library:
        library.add(tmp_path)
        first = library.ask("When is paper collected?")
        assert "Tuesdays" in first.text
        history = [Exchange("When is paper collected?", first.question, first.text)]
        later = library.ask("And the old furniture?", history=history)
        assert (later.answered, later.question) == (False, "And the old furniture?")
