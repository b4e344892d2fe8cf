"""A question typed without quotes is one question; a library or a document before it is not a part of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run_here

QUESTION = "How many tools may I borrow at once?"


@pytest.mark.parametrize("command", ["ask", "search"])
def test_words_without_quotes_are_one_question(example_library: Path, command: str) -> None:
    words = QUESTION.split()
    quoted = run_here(command, QUESTION, "--library", example_library, "--type", "pdf")
    assert "five tools" in quoted.stdout
    for arguments in (
        (*words, "--library", example_library, "--type", "pdf"),
        ("--library", example_library, *words[:3], "--type", "pdf", *words[3:]),
    ):
        typed = run_here(command, *arguments)
        assert (typed.returncode, typed.stdout) == (0, quoted.stdout)
    answer = json.loads(run_here("ask", *words, "--library", example_library, "--json").stdout)
    assert answer["question"] == QUESTION


def test_a_quote_and_a_question_for_the_demo_are_joined_too(example_library: Path) -> None:
    words = "A member may borrow up to five tools at the same time.".split()
    assert "riverside-library-rules.pdf" in run_here("places", *words, "--library", example_library).stdout
    asked = run_here("demo", "Until", "when", "can", "we", "cancel", "the", "flat?", "--json")
    assert [each["question"] for each in json.loads(asked.stdout)["answers"]] == ["Until when can we cancel the flat?"]


def test_a_library_or_a_document_is_not_taken_for_a_word(
    example_library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rules.pdf").write_bytes(b"%PDF-")
    Path("travel").mkdir()
    for place, words in (
        (str(example_library), QUESTION.split()),
        ("rules.pdf", QUESTION.split()),
        ("travel", [QUESTION]),
        ("postgresql://localhost/mine", [QUESTION]),
    ):
        done = run_here("ask", place, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"The word {place} names a place" in done.stderr
        assert f"--library {place}" in done.stderr
        assert f"--source {place}" in done.stderr
    assert "--source rules.pdf" in run_here("ask", QUESTION, "rules.pdf").stderr
    # A word that only happens to be the name of something here.
    for words in (
        ["travel", "means", "what?"],
        ["what", "does", "rules.pdf", "say?"],
        [f"what says {example_library}?"],
    ):
        done = run_here("ask", *words, "--library", example_library)
        assert (done.returncode, done.stderr) == (0, "")
