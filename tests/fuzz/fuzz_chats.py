"""Fuzz chat exports of other apps than WhatsApp: changed values, and texts and pages made of their pieces."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

# Loaded before anything is watched: the first import of numpy, which it brings, opens a library.
import trafilatura  # noqa: F401
from draw import Draw
from fuzz_exports import with_another_value
from fuzz_targets import Target
from soundness import assert_same_again
from sources.chats import exports

from answerable.datatypes import Document
from answerable.errors import EmptySource
from answerable.sources.chats import slack as bundles
from answerable.sources.dispatch import read_bytes

VALUES: tuple[Any, ...] = (
    exports.TELEGRAM,
    {"chats": {"list": [exports.TELEGRAM, exports.TELEGRAM]}},
    exports.SLACK_DAYS["2024-01-06.json"],
    exports.DISCORD,
    exports.MESSENGER,
    exports.CHATGPT,
    exports.CLAUDE,
    exports.GOOGLE_CHAT,
)
CLIPPINGS = "".join(
    f"A book (Its author)\n- Your Highlight on page {page} | Added on Friday\n\nWords of it.\n==========\n"
    for page in (1, 2)
)
TEXTS = (
    ("/in/a.txt", exports.IMESSAGE),
    ("/in/a.txt", exports.LINE),
    ("/in/a.txt", CLIPPINGS),
    ("/in/a.md", exports.SIGNAL_MARKDOWN),
    ("/in/a.html", exports.TELEGRAM_PAGE),
)


def _chats(draw: Draw) -> None:
    match draw.number(2):
        case 0:
            value = draw.pick(VALUES)
            for _ in range(1 + draw.number(3)):
                value = with_another_value(draw, value)
            _read(json.dumps(value).encode("utf-8", "surrogatepass"), "/in/result.json")
        case 1:
            name, text = draw.pick(TEXTS)
            pieces = text.splitlines(keepends=True)
            _read(draw.file(pieces), name)
        case _:
            days = {name: with_another_value(draw, day) for name, day in exports.SLACK_DAYS.items()}
            users = with_another_value(draw, exports.USERS)
            found = {name: json.dumps(value).encode() for name, value in {**days, "../users.json": users}.items()}
            _read(bundles.bundle(found), "/in/slack.zip!/general")


def _read(data: bytes, name: str) -> None:
    documents = read_bytes(data, name)
    assert len({document.id for document in documents}) == len(documents)
    for number in range(min(len(documents), 3)):
        assert_same_again(partial(_one, data, name, number))


def _one(data: bytes, name: str, number: int) -> Document:
    documents = read_bytes(data, name)
    if number >= len(documents):
        raise EmptySource(f"{name} has no document {number}: read it again")
    return documents[number]


_SEEDS = tuple(bytes([1, number]) for number in range(len(TEXTS)))
TARGETS = {"chats": Target(_chats, _SEEDS)}
