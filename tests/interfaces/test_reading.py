"""Answers with the reader, as users get them; other tests of the commands do without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import run_here, run_in_terminal

QUESTION = "¿Cuál es el código de la reserva?"


@pytest.fixture(autouse=True)
def _reader(monkeypatch: pytest.MonkeyPatch, example_library: Path) -> None:
    monkeypatch.setenv("ANSWERABLE_READER", "local")
    monkeypatch.setenv("ANSWERABLE_LIBRARY", str(example_library))


def _printed(*arguments: str) -> Any:
    done = run_here(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_words_that_answer_are_named_within_their_quote() -> None:
    (first, *_) = _printed("ask", QUESTION)["citations"]
    start, end = first["answer"]
    assert first["start"] <= start < end <= first["end"]
    assert first["quote"][start - first["start"] : end - first["start"]] == "GLD-4471"


def test_the_words_that_answer_are_bold_in_a_terminal() -> None:
    status, shown = run_in_terminal("ask", QUESTION)
    assert status == 0
    assert "\x1b[1mGLD-4471\x1b[0m" in shown


def test_without_the_reader_no_words_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_READER", "off")
    found = _printed("ask", QUESTION)
    assert "GLD-4471" in found["text"]
    assert [citation["answer"] for citation in found["citations"]] == [None] * len(found["citations"])


def test_doctor_names_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    found = _printed("doctor")
    assert found["reader"].startswith("answerable-reader, trained on ")
    assert found["reading_speed"].endswith(" ms for 7 windows")
    monkeypatch.setenv("ANSWERABLE_READER", "off")
    assert _printed("doctor")["reader"] == "off"


def test_an_unknown_reader_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_READER", "large")
    done = run_here("ask", QUESTION)
    assert done.returncode == 2
    assert "local" in done.stderr
    assert "off" in done.stderr
