"""Messages with two questions, and with one that looks like two, by somebody who hadn't read the program."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import answerable
from answerable import Answer, Library
from answerable.datatypes import Reason

from .harness import CACHE

FOLDER = Path(__file__).with_name("two_questions")
QUOTED = {"both": 12, "one": 16, "single": 18}
"""Of 20 messages of a kind, how many get a right quote for each of their questions that the documents answer."""
NAMED = 3
"""Of the 20 of which the documents answer one question, how many name the other, and quote the right place for this."""


def quotes(library: Library, answer: Answer, file: str, quote: str) -> bool:
    for citation in answer.citations if answer.answered else ():
        content = library.document(citation.document_id).content
        place = content.find(quote) if citation.source.endswith(file) else -1
        if place >= 0 and citation.start < place + len(quote) and place < citation.end:
            return True
    return False


@pytest.mark.quality
@pytest.mark.timeout(600)
def test_each_of_two_questions_gets_its_quote() -> None:
    quoted: Counter[str] = Counter()
    named = 0
    with answerable.open(":memory:", cache_folder=str(CACHE)) as library:
        for file in FOLDER.iterdir():
            if file.suffix != ".jsonl":
                library.add(file)
        for line in (FOLDER / "questions.jsonl").read_text("utf-8").splitlines():
            asked = json.loads(line)
            answer = library.ask(asked["q"])
            if all(quotes(library, answer, part["file"], part["quote"]) for part in asked["parts"] if part["file"]):
                quoted[asked["kind"]] += 1
                named += asked["kind"] == "one" and answer.reason is Reason.PARTLY
    print(f"\n{dict(quoted)}, {named} named")
    assert all(quoted[kind] >= floor for kind, floor in QUOTED.items())
    assert named >= NAMED
