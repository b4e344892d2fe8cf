"""Questions on everyday dialogues (FriendsQA, by people who read them): what the first quote is worth."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

import answerable
from answerable.datatypes import Document, PartKind
from answerable.sources.whatsapp.read import read_chat

from .harness import CACHE, data_folder

DIALOGUES = 10
FIRST = 0.64
"""The least share of answers whose first quote is in an utterance that answers; .48 with newer messages put first."""


def dialogues() -> Iterator[dict[str, Any]]:
    text = gzip.decompress((data_folder() / "natural" / "friendsqa-dev.json.gz").read_bytes())
    for each in json.loads(text)["data"][:DIALOGUES]:
        yield from each["paragraphs"]


def exported(dialogue: dict[str, Any]) -> Document:
    """The dialogue as a chat, a message every seven minutes."""
    start = datetime(2024, 3, 4, 9)
    lines = [
        f"{start + timedelta(minutes=7 * number):%d/%m/%Y, %H:%M} - "
        f"{' & '.join(each['speakers']) or 'Note'}: {' '.join(each['utterance'].split())}"
        for number, each in enumerate(dialogue["utterances:"])
    ]
    return read_chat("\n".join(lines), "WhatsApp Chat with Friends.txt")


@pytest.mark.quality
@pytest.mark.timeout(600)
def test_the_first_quote_answers() -> None:
    answered, right = 0, 0
    for dialogue in dialogues():
        document = exported(dialogue)
        messages = [part for part in document.parts if part.kind is PartKind.MESSAGE]
        with answerable.open(":memory:", cache_folder=str(CACHE)) as library:
            library.add_documents([document])
            for asked in dialogue["qas"]:
                answer = library.ask(asked["question"])
                assert "earlier:" not in answer.text
                if not answer.answered:
                    continue
                answered += 1
                first = answer.citations[0]
                meant = [messages[number] for number in {each["utterance_id"] for each in asked["answers"]}]
                right += any(part.start < first.end and first.start < part.end for part in meant)
    print(f"\n{right} of {answered} first quotes answer")
    assert right >= FIRST * answered
