"""Everyday questions on eighteen documents in three languages, written by hand (see everyday/README.md)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from answerable import Library
from answerable.answering.decide import Answering
from answerable.answering.gate import packaged_gates
from answerable.answering.reading import PASSAGES
from answerable.datatypes import Document
from answerable.e5.readers import E5Reader
from answerable.settings import Settings
from answerable.wiring.answering import READING
from answerable.wiring.build import build_reader, build_splitter, build_store

from .harness import CACHE, LOCAL, Bench

pytestmark = pytest.mark.quality

FOLDER = Path(__file__).with_name("everyday")
AMONG_SIX = {"own words": 30, "other words": 33, "short": 18, "other language": 12}
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


# Before the reader had learnt near misses, two more in own words, two more in other words and two more short ones were
# answered, which are near now, and four fewer were refused.
RIGHT = {"own words": 28, "other words": 12, "short": 14, "other language": 7}
"""By kind, how many answers have a quote with the answer."""
FIRST = {"own words": 28, "other words": 9, "short": 14, "other language": 6}
"""The same, of first quotes."""
REFUSED = 18
"""How many of the questions that no document answers are refused."""

QUESTIONS = [Question(**row) for row in json.loads((FOLDER / "questions.json").read_text("utf-8"))]


@pytest.fixture(scope="module")
def library(bench: Bench) -> Iterator[Library]:
    settings = Settings()
    answerer = Answering(packaged_gates()[LOCAL + READING], reader=E5Reader(cache_folder=CACHE / "models"))
    parts = build_splitter(settings), build_reader(settings), answerer
    with Library(build_store(":memory:"), bench.embedder, *parts, passages=PASSAGES) as made:
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


def test_answers_are_right_as_often_as_they_were(library: Library) -> None:
    right, first, refused = Counter[str](), Counter[str](), 0
    for asked in QUESTIONS:
        answer = library.ask(asked.question)
        documents = {result.document.id: result.document for result in answer.results}
        found = [asked.is_answered_in(documents[each.document_id], each.start, each.end) for each in answer.citations]
        right[asked.kind] += answer.answered and any(found)
        first[asked.kind] += answer.answered and found[0]
        refused += asked.answer is None and not answer.answered
    print(f"\n{dict(right)}, in the first quote {dict(first)}; {refused} refused")
    assert all(right[kind] >= floor for kind, floor in RIGHT.items())
    assert all(first[kind] >= floor for kind, floor in FIRST.items())
    assert refused >= REFUSED
