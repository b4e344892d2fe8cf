"""Answers that were changed later, and summaries, on cases written by somebody who hadn't read the program.

Nothing is put first for being newer: in everyday chats that put other subjects first (see test_chats.py).
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import answerable
from answerable.datatypes import Answer

from .harness import CACHE
from .test_useful import FOLDER, plain

CHANGED = 0.55
"""The least share of questions whose answer changed that are answered with the latest among the quotes."""
KEY_POINTS = 0.8
"""The least share of a document's key points that its extracts have, on average."""


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def asked(files: dict[str, str], question: str, folder: Path) -> Answer:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    with answerable.open(":memory:", cache_folder=str(CACHE)) as library:
        library.now = lambda: datetime(2025, 6, 1)
        assert library.add(folder).failures == []
        answer = library.ask(question)
        for citation in answer.citations:
            assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return answer


def gives_the_latest(case: dict[str, Any], answer: Answer) -> bool:
    """Return whether an answer has what holds now."""
    text = plain(answer.text)
    return answer.answered and any(plain(one) in text for one in case["latest"])


@pytest.mark.long
@pytest.mark.quality
@pytest.mark.timeout(600)
def test_the_latest_answer_is_quoted(tmp_path: Path) -> None:
    right: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for number, case in enumerate(cases("corrections.jsonl")):
        answer = asked(case["files"], case["question"], tmp_path / str(number))
        kinds[case["kind"]] += 1
        right[case["kind"]] += gives_the_latest(case, answer)
    print("\n" + "\n".join(f"{kind}: {right[kind]} of {kinds[kind]}" for kind in kinds))
    unchanged = "no change"
    assert right[unchanged] == kinds[unchanged]
    assert right.total() - right[unchanged] >= CHANGED * (kinds.total() - kinds[unchanged])


@pytest.mark.quality
@pytest.mark.timeout(600)
def test_extracts_have_the_key_points(tmp_path: Path) -> None:
    shares = []
    for number, case in enumerate(cases("summaries.jsonl")):
        answer = asked({case["name"]: case["content"]}, case["question"], tmp_path / str(number))
        text = plain(" ".join(citation.quote for citation in answer.citations))
        said = [any(plain(one) in text for one in point) for point in case["key_points"]]
        shares.append(sum(said) / len(said))
        print(f"\n{shares[-1]:.2f} {case['name']}: {len(text) / len(case['content']):.2f} of its text", end="")
    assert sum(shares) / len(shares) >= KEY_POINTS
