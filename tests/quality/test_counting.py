"""Figures computed from made tables and chats, against those of plain Python; the rows cited are the rows counted."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest

import answerable
from answerable import Library
from answerable.datatypes import Answer

from .counting_cases import Case, cases
from .harness import CACHE

SEEDS = (1, 2, 3)
RIGHT, WRONG, CITED = 0.95, 0.02, 0.98

_FIGURE = re.compile(r"(?<![\d.,:-])\d(?:[\d.,]*\d)?")


def is_right(case: Case, answer: Answer) -> bool:
    """Return whether the answer's first line has the figure; of groups, whether the first is right."""
    if not answer.answered:
        return case.figures == ("0",)
    first, *lines = answer.text.split("\n")
    if case.kind == "who":
        return bool(lines) and any(lines[0].startswith(f"- {name}:") for name in case.figures)
    return bool(set(case.figures) & set(_FIGURE.findall(first.rpartition(": ")[2])))


def cited_rows(answer: Answer, library: Library) -> int:
    """Return how many rows or messages the citations quote; each stands in its document."""
    for citation in answer.citations:
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return sum(len(citation.quote.splitlines()) for citation in answer.citations)


@pytest.mark.quality
@pytest.mark.timeout(900)
def test_figures_are_right_and_cite_their_rows(tmp_path: Path) -> None:
    made = [case for seed in SEEDS for case in cases(seed)]
    libraries: dict[bytes, Library] = {}
    right = wrong = counted = cited = 0
    for case in made:
        if case.content not in libraries:
            folder = tmp_path / str(len(libraries))
            folder.mkdir()
            (folder / case.file).write_bytes(case.content)
            library = libraries[case.content] = answerable.open(":memory:", cache_folder=str(CACHE))
            library.now = lambda: datetime(2024, 7, 15)
            assert library.add(folder).failures == []
        answer = libraries[case.content].ask(case.question)
        found = is_right(case, answer)
        right += found
        wrong += not found and answer.answered and answer.confidence == 1.0
        if found and case.rows > 0:
            counted += 1
            cited += cited_rows(answer, libraries[case.content]) == case.rows
        if not found:
            print(f"\n{case.language} {case.kind}: {case.question!r} wants {case.figures}, got {answer.text[:150]!r}")
    for library in libraries.values():
        library.close()
    print(f"\n{right} of {len(made)} right, {wrong} wrong; rows cited as counted {cited} of {counted}")
    assert right >= RIGHT * len(made)
    assert wrong <= WRONG * len(made)
    assert cited >= CITED * counted
