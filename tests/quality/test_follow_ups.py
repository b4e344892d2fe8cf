"""Second questions on everyday documents (`everyday/followups.jsonl`), by somebody who hadn't read the program."""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest

import answerable
from answerable.datatypes import Exchange

from .harness import CACHE

FOLDER = Path(__file__).with_name("everyday")
RIGHT = {"follow-up": 46, "new": 33}
"""Of 80 questions that only make sense after the first, and of 40 on another subject, how many get the right quote.

Measured 47 and 33.
"""


@pytest.mark.quality
@pytest.mark.timeout(900)
def test_second_questions_get_the_right_quote() -> None:
    right: Counter[str] = Counter()
    with answerable.open(":memory:", cache_folder=str(CACHE)) as library:
        library.now = lambda: datetime(2024, 9, 1, 12)
        assert library.add(FOLDER / "documents").failures == []
        for line in (FOLDER / "followups.jsonl").read_text("utf-8").splitlines():
            asked = json.loads(line)
            first = library.ask(asked["first"])
            answer = library.ask(asked["second"], history=[Exchange(asked["first"], first.question, first.text)])
            for citation in answer.citations if answer.answered else ():
                content = library.document(citation.document_id).content
                place = content.find(asked["quote"]) if citation.source.endswith(asked["file"]) else -1
                if place >= 0 and citation.start < place + len(asked["quote"]) and place < citation.end:
                    right[asked["kind"]] += 1
                    break
    print(f"\n{dict(right)}")
    assert all(right[kind] >= floor for kind, floor in RIGHT.items())
