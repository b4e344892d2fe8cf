"""The chats that the benchmarks are made of: read back as they were written, the same each time, needles in place."""

from __future__ import annotations

import importlib
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from answerable.sources.whatsapp.read import MessageKind, parse_chat

LOCALES = ("US", "UK", "SPAIN", "MEXICO", "BRAZIL", "GERMANY")


@pytest.fixture(scope="module")
def chats() -> Any:
    """The module `generated_chats` of the benchmarks, which are no package."""
    return _benchmark("generated_chats")


@pytest.fixture(scope="module")
def needles() -> Any:
    """The module `needles` of the benchmarks."""
    return _benchmark("needles")


def _benchmark(name: str) -> Any:
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(folder)


@pytest.mark.parametrize("name", LOCALES)
def test_what_is_generated_is_read_back(chats: Any, name: str, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    truth = chats.write_chat(path, getattr(chats, name), 3000)
    read = parse_chat(path.read_text("utf-8"))
    kinds = Counter(message.kind for message in read)
    assert Counter(message.sender for message in read if message.sender) == truth.by_sender
    assert (truth.messages, len(read)) == (3000, 3000 + truth.notices)
    assert (kinds[MessageKind.MEDIA], kinds[MessageKind.DELETED]) == (truth.media, truth.deleted)
    assert (read[0].time, read[-1].time) == (truth.first, truth.last)
    assert any(message.edited for message in read)


def test_the_seed_decides(chats: Any) -> None:
    texts = ["".join(chats.chat_lines(chats.SPAIN, 300, chats.Truth(), seed)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_a_day_outside_of_the_chat_is_refused(chats: Any) -> None:
    planted = chats.Planted("hola", "Javi", date(2031, 1, 1))
    with pytest.raises(ValueError, match="2031-01-01"):
        list(chats.chat_lines(chats.SPAIN, 10, chats.Truth(), planted=[planted]))


@pytest.mark.parametrize(("language", "count"), [("es", 60), ("pt", 20), ("en", 20)])
def test_each_needle_stands_once_and_the_forms_are_balanced(
    chats: Any, needles: Any, language: str, count: int, tmp_path: Path
) -> None:
    found = needles.needles_of(language)
    path = tmp_path / "chat.txt"
    chats.write_chat(path, needles.LANGUAGES[language].locale, 2000, planted=[needle.planted for needle in found])
    read = parse_chat(path.read_text("utf-8"))
    for needle in found:
        (message,) = [message for message in read if message.text == needle.planted.text]
        assert (message.sender, message.time.date()) == (needle.planted.sender, needle.planted.day)
    assert Counter(needle.form for needle in found) == dict.fromkeys(needles.FORMS, count // 4)
    assert len({needle.question for needle in found}) == len({needle.planted.text for needle in found}) == count
