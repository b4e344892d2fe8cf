"""`answerable demo`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import run_here

from answerable.interfaces.examples import QUESTIONS


@pytest.fixture(autouse=True)
def _cache_of_all_tests(cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests embed these documents too."""
    monkeypatch.setenv("ANSWERABLE_CACHE_FOLDER", str(cache_folder))
    monkeypatch.setenv("ANSWERABLE_READER", "local")


@pytest.mark.parametrize(
    ("language", "quotes"),
    [("es", 2), pytest.param("en", 2, marks=pytest.mark.long), pytest.param("pt", 1, marks=pytest.mark.long)],
)
def test_the_examples_answer_all_but_the_last_question(language: str, quotes: int) -> None:
    done = run_here("demo", "--language", language, "--json")
    assert done.returncode == 0, done.stderr
    answers = json.loads(done.stdout)["answers"]
    assert [answer["question"] for answer in answers] == list(QUESTIONS[language])
    assert [answer["answered"] for answer in answers] == [True, True, True, False]
    assert [len(answer["citations"]) for answer in answers] == [quotes, 1, 4, 0]


def test_a_question_of_ones_own_is_asked_and_nothing_is_kept(tmp_path: Path) -> None:
    library = tmp_path / "library"
    # What the user's settings name is neither opened nor asked.
    settings = {"ANSWERABLE_LIBRARY": library, "ANSWERABLE_MODEL": "openai:none", "ANSWERABLE_EMBEDDER": "openai:none"}
    done = run_here("demo", "¿Se puede usar vinagre?", "--language", "es", env=settings)
    assert done.returncode == 0, done.stderr
    assert "ataca las juntas y no debe usarse.” [1]" in done.stdout
    assert done.stdout.count("\n? ") == 1
    assert not os.path.exists(library)
