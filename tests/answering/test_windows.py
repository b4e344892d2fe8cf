"""Test the windows that the reader gets (best sentences with neighbours and headings), and the reader's results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from collecting import chat, collect, text

import answerable
from answerable.answering.found import Found
from answerable.answering.reading import WINDOW, best_windows, rank, read, read_closely
from answerable.answering.sentences import Sentence, sentences
from answerable.datatypes import Document
from answerable.protocols import Reading

FILLER = "Nothing of note happened in the long and quiet years that followed the second siege of the small town. "


class Finder:
    """A reader that finds a text: the window answers if it has it, and the answer is there."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.windows: list[str] = []

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        self.windows += windows
        return [self._reading(window) for window in windows]

    def _reading(self, window: str) -> Reading:
        at = window.find(self.answer)
        starts = np.arange(len(window), dtype=np.int32)
        likely = np.full(len(window), 1e-6, np.float32)
        likely[max(at, 0)] = 1
        return Reading(4.0 if at >= 0 else -4.0, max(at, 0), max(at, 0) + len(self.answer), starts, likely)


def ranked(evidence: Found) -> list[Sentence]:
    return rank(sentences(evidence))


def test_a_window_is_a_sentence_with_its_neighbours_under_its_headings(tmp_path: Path) -> None:
    content = f"# Club guide\n\n## Hours\n\n{FILLER * 6}The pool opens at seven. It closes at nine.\n\n{FILLER * 6}"
    (tmp_path / "guide.md").write_text(content)
    evidence = collect("When does the pool open?", *answerable.read(tmp_path / "guide.md"))
    first = next(best_windows(ranked(evidence)))
    header, _, body = first.text.partition("\n")
    assert header == "Club guide › Hours"
    assert "The pool opens at seven. It closes at nine." in body
    assert len(body) <= WINDOW
    assert FILLER.strip() in body


def test_no_sentence_is_in_two_windows() -> None:
    evidence = collect("When does the pool of the town open?", text(FILLER * 30 + "The pool opens at seven."))
    found = list(best_windows(ranked(evidence)))
    assert len(found) > 3
    places = [(sentence.start, sentence.end) for window in found for sentence in window.sentences]
    assert len(places) == len(set(places))


def test_every_sentence_is_found_again_in_its_window() -> None:
    documents = (
        text("# A guide\n\n- The pool opens at seven.\n- It closes at nine.\n\nBring a towel."),
        chat(("Ana", "Does the pool open today? I hope so."), ("Luis", "At seven. See you there!"), ("Ana", "Good.")),
        text("| Place | Opens |\n|---|---|\n| Pool | seven |\n| Gym | six |"),
    )
    for document in documents:
        found = list(best_windows(ranked(collect("When does the pool open?", document))))
        for window in found:
            texts = [window.text[start:end] for start, end in window.spans]
            assert texts == [sentence.text for sentence in window.sentences]


def test_a_chats_window_has_the_date_and_who_wrote_when() -> None:
    evidence = collect("When does the pool open?", chat(("Ana", "Does the pool open?"), ("Luis", "At seven.")))
    (window,) = best_windows(ranked(evidence))
    assert window.text == "2024-03-05\n21:15 Ana: Does the pool open?\n21:16 Luis: At seven."


@pytest.mark.parametrize("name", ["prices.md", "prices.csv"])
def test_rows_far_down_a_table_are_read_under_its_column_names(tmp_path: Path, name: str) -> None:
    rows = [("Item", "Deposit"), *((f"Lamp of kind {number}", str(10 + number)) for number in range(60))]
    written = ["| " + " | ".join(row) + " |" if name.endswith("md") else ",".join(row) for row in rows]
    if name.endswith("md"):
        written.insert(1, "|---|---|")
    (tmp_path / name).write_text("\n".join(written))
    evidence = collect("What is the deposit of the lamp of kind 41?", *answerable.read(tmp_path / name), chunk_size=500)
    window = next(window for window in best_windows(ranked(evidence)) if "kind 41" in window.text)
    assert written[0] in window.text.splitlines()
    assert window.text.count("Deposit") == 1
    assert [window.text[slice(*span)] for span in window.spans] == [sentence.text for sentence in window.sentences]


def test_the_sentence_with_the_answer_comes_first_and_the_answer_is_known() -> None:
    document = text("When the pool opens, the pool of the town is full. Doors are unlocked at seven. Bring a towel.")
    evidence = collect("When does the pool of the town open?", document)
    assert read(evidence, None)[0].text.startswith("When the pool opens")
    best = read(evidence, Finder("seven"))[0]
    assert best.text == "Doors are unlocked at seven."
    assert best.answer is not None
    assert document.content[slice(*best.answer)] == "seven"


def test_an_answer_in_a_heading_is_no_span_of_the_text() -> None:
    evidence = collect("When does it open?", text("# Seven o'clock\n\nThe pool opens then.", title="Club"))
    read = read_closely(evidence, ranked(evidence), Finder("Seven o'clock"))
    assert [sentence.answer for sentence in read if sentence.text == "The pool opens then."] == [None]


@pytest.mark.parametrize("content", ["", "   "])
def test_nothing_to_read_is_read_as_nothing(content: str) -> None:
    document = Document("empty", content, language="en")
    assert read_closely(collect("When?", document), [], Finder("x")) == []
