"""Everyday questions on eighteen documents in three languages, written by hand (see everyday/README.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from answerable import Library
from answerable.answering.extractive import ExtractiveAnswerer
from answerable.datatypes import Document
from answerable.settings import Settings
from answerable.wiring.build import build_reader, build_splitter, build_store

from .harness import Bench

FOLDER = Path(__file__).with_name("everyday")
AMONG_SIX = {"own words": 30, "other words": 27, "short": 14, "other language": 12}
"""By kind, for how many questions one of the best six passages holds the answer."""


@dataclass(frozen=True)
class Question:
    question: str
    language: str
    kind: str
    document: str
    answer: str | None

    def is_answered_in(self, document: Document, start: int, end: int) -> bool:
        """Return whether the span of the document meets the answer."""
        if self.answer is None or not document.source.endswith(self.document):
            return False
        place = document.content.index(self.answer)
        return start < place + len(self.answer) and place < end


QUESTIONS = [Question(**row) for row in json.loads((FOLDER / "questions.json").read_text("utf-8"))]


@pytest.fixture(scope="module")
def library(bench: Bench) -> Iterator[Library]:
    settings = Settings()
    parts = build_splitter(settings), build_reader(settings), ExtractiveAnswerer(None)
    with Library(build_store(":memory:"), bench.embedder, *parts) as made:
        report = made.add(FOLDER / "documents")
        assert (report.added, report.failures) == (18, [])
        yield made


def test_the_passage_that_answers_is_among_six(library: Library) -> None:
    found = Counter(
        asked.kind
        for asked in QUESTIONS
        if any(
            asked.is_answered_in(result.document, result.chunk.start, result.chunk.end)
            for result in library.search(asked.question, 6)
        )
    )
    print(f"\n{dict(found)}")
    assert all(found[kind] >= floor for kind, floor in AMONG_SIX.items())
