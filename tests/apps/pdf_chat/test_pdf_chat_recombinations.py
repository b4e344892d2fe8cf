"""What a model may make of a company's document: true sentences in many forms, and false ones made of its parts.

The cases were written by somebody who hadn't read the code. The check misses some of them; more it may not miss.
"""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.documents import Document

from pdf_chat.grounding import checked

CASES = json.loads((Path(__file__).parents[1] / "recombinations.json").read_text("utf-8"))["company"]
KEPT = 21
TOLD = 10


def unsupported(kind: str) -> list[str]:
    """The sentences that the document doesn't back, of those that are true or false."""
    document = Document(page_content=CASES["document"])
    return [sentence for sentence in CASES[kind] if checked(sentence, [document]).unsupported]


def test_false_recombinations_are_told() -> None:
    told = unsupported("false")
    assert len(told) >= TOLD, set(CASES["false"]) - set(told)


def test_true_sentences_with_frames_and_other_formats_are_backed() -> None:
    told = unsupported("true")
    assert len(CASES["true"]) - len(told) >= KEPT, told
