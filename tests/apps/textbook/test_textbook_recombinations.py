"""What a model may make of a section of a book: true sentences in many forms, and false ones made of its parts.

The cases were written by somebody who hadn't read the code. The check misses some of them; more it may not miss.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from providers.scripted_server import ScriptedServer
from textbook_parts import COMPLETIONS, say, write_book, writes

from src.tools.sync_book_to_qdrant import sync_book

CASES = json.loads((Path(__file__).parents[1] / "recombinations.json").read_text("utf-8"))["textbook"]
KEPT = 6
TOLD = 7


@pytest.fixture
def section(docs: Path) -> None:
    """The book has the section."""
    write_book(docs, {"module3/middleware.md": f"# Middleware\n\n{CASES['document']}\n"})
    sync_book()


def unsupported(sentences: Sequence[str], client: httpx.Client, openai: ScriptedServer) -> int:
    """How many sentences the book doesn't back, each being the model's whole answer."""
    found = 0
    for sentence in sentences:
        openai.script(COMPLETIONS, writes(sentence))
        found += say(client, "What is TernOS?", session=sentence).headers["X-Unsupported-Sentences"] != "0"
    return found


@pytest.mark.long
def test_false_recombinations_are_counted(section: None, client: httpx.Client, openai: ScriptedServer) -> None:
    assert unsupported(CASES["false"], client, openai) >= TOLD


@pytest.mark.long
def test_true_sentences_with_frames_are_backed(section: None, client: httpx.Client, openai: ScriptedServer) -> None:
    assert len(CASES["true"]) - unsupported(CASES["true"], client, openai) >= KEPT


def test_what_the_book_says_in_other_words_is_backed(
    section: None, client: httpx.Client, openai: ScriptedServer
) -> None:
    told = ("With a service, the calling node has to wait until the other node has replied.",)
    assert set(told) < set(CASES["true"])
    assert unsupported(told, client, openai) == 0
