"""Questions about everyday papers, written one by one by a language model for the reader (`written/questions.jsonl`).

Each line is a document: its passages, and questions with the number of the passage that answers or, if none does, that
looks most as if it did. Two in seven questions are just beside what the document says.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from training.corpus import Builder, Corpus, Question
from training.near import add_near

SOURCE = "everyday"
PATH = Path(__file__).with_name("written") / "questions.jsonl"
MEASURED = 5
"""One document of so many isn't trained on: it measures."""

DAY = re.compile(r"\d{4}-\d\d-\d\d\n")
"""How a passage of a chat begins."""


def documents() -> Iterator[dict[str, Any]]:
    """Yield the documents."""
    with PATH.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def is_held_out(document: dict[str, Any]) -> bool:
    """Return whether the reader doesn't learn from a document."""
    return sha256(document["document"].encode()).digest()[0] % MEASURED == 0


def add_everyday(trained: Corpus, held: Corpus) -> None:
    """Add the questions to both corpora, each with the other passages of its document, which don't answer it."""
    builders = Builder(), Builder()
    for document in documents():
        _add(builders[is_held_out(document)], document)
    for corpus, builder in zip((trained, held), builders, strict=True):
        add_near(builder.corpus)
        _join(corpus, builder.corpus)
    trained.hashes[SOURCE] = sha256(PATH.read_bytes()).hexdigest()


def _add(builder: Builder, document: dict[str, Any]) -> None:
    title = document["document"]
    numbers = [
        builder.passage(text, document["language"], title, "" if DAY.match(text) else title)
        for text in document["passages"]
    ]
    for asked in document["questions"]:
        text, answer = document["passages"][asked["passage"]], asked["answer"]
        start = text.find(answer)
        builder.corpus.questions.append(
            Question(
                text=asked["q"],
                language=asked["language"],
                passage=numbers[asked["passage"]],
                answers=[(start, start + len(answer))] if answer else [],
                texts=[answer] if answer else [],
                source=SOURCE,
            )
        )


def _join(corpus: Corpus, other: Corpus) -> None:
    shift = len(corpus.passages)
    corpus.passages += other.passages
    for question in other.questions:
        question.passage += shift
        question.near = [number + shift for number in question.near]
    corpus.questions += other.questions
