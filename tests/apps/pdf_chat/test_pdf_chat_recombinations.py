"""What a model may make of a company's document: true sentences in many forms, and false ones made of its parts.

The cases were written by somebody who hadn't read the code. The check misses some of them; more it may not miss.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from langchain_core.documents import Document

from answerable.reading.e5_judge import E5Judge
from pdf_chat.grounding import checked

CASES = json.loads((Path(__file__).parents[1] / "recombinations.json").read_text("utf-8"))["company"]
KEPT = 21
TOLD = 17


@pytest.fixture(scope="module")
def judge() -> E5Judge:
    return E5Judge(threads=1)


def unsupported(kind: str, judge: E5Judge) -> list[str]:
    """The sentences that the document doesn't back, of those that are true or false."""
    document = Document(page_content=CASES["document"])
    return [sentence for sentence in CASES[kind] if checked(sentence, [document], judge).unsupported]


def test_false_recombinations_are_told(judge: E5Judge) -> None:
    told = unsupported("false", judge)
    assert len(told) >= TOLD, set(CASES["false"]) - set(told)


def test_true_sentences_with_frames_and_other_formats_are_backed(judge: E5Judge) -> None:
    told = unsupported("true", judge)
    assert len(CASES["true"]) - len(told) >= KEPT, told
