"""The days of a Slack channel in an archive are one document, and so are the parts of a thread."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from reading_here import read_file
from sources.chats.exports import (
    CHANNELS,
    GOOGLE_CHAT,
    MESSENGER,
    SIGNAL_JSON,
    SIGNAL_MARKDOWN,
    SIGNAL_PAGE,
    SLACK_DAYS,
    USERS,
    as_json,
)

from answerable.datatypes import Document
from answerable.errors import DamagedSource
from answerable.sources.context import ReadContext, Skipped
from answerable.sources.folders import walk

TEXTS = [
    (None, "@Ana has joined"),
    ("Ana", "Ask @Ben Low in #kitchen & bring tea"),
    ("Ben Low", "kettle.png (file attached)\nThe kettle is in the shop (https://shop.example/k)"),
    ("Ben Low", "Only in blocks"),
]


def files() -> dict[str, bytes]:
    days = {f"general/{name}": as_json(day) for name, day in SLACK_DAYS.items()}
    other = {
        "kitchen/2024-01-05.json": as_json([{"type": "message", "user": "U02", "text": "x", "ts": "1704456000.000000"}])
    }
    return {"users.json": as_json(USERS), "channels.json": as_json(CHANNELS), **days, **other}


def in_folder(folder: Path, found: dict[str, bytes]) -> Path:
    for name, data in found.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def in_archive(path: Path, found: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w") as zipped:
        for name, data in found.items():
            zipped.writestr(name, data)
    return path


def said(document: Document) -> list[tuple[str | None, str]]:
    return [(part.sender, document.content[part.body : part.end]) for part in document.parts]


@pytest.mark.parametrize("root", ["", "Team export/"])
def test_channels_of_an_archive(tmp_path: Path, root: str) -> None:
    path = in_archive(tmp_path / "slack.zip", {root + name: data for name, data in files().items()})
    context = ReadContext()
    general, kitchen = read_file(path, context)
    assert (general.source, general.title) == (f"{path.as_posix()}!/{root}general", "general")
    assert said(general) == TEXTS
    assert (
        "[2024-01-06 12:01, in reply to Ana: “Ask @Ben Low in #kitchen & bring tea”, :tea: Ana] Ben Low: "
        in general.content
    )
    assert said(kitchen) == [("Ben Low", "x")]
    assert dict(context.skipped.counts) == {"list of a Slack export": 2}


def test_in_a_folder_each_day_is_a_document(tmp_path: Path) -> None:
    folder = in_folder(tmp_path / "slack", files())
    days = [folder / "general" / name for name in SLACK_DAYS]
    assert list(walk(folder)) == [
        folder / "channels.json",
        *days,
        folder / "kitchen/2024-01-05.json",
        folder / "users.json",
    ]
    (document,) = read_file(days[1])
    assert document.title == "general 2024-01-06"


def test_a_damaged_day_does_not_spoil_the_channel(tmp_path: Path) -> None:
    found = {**files(), "general/2024-01-06.json": b'[{"type": "mess'}
    (general, _) = read_file(in_archive(tmp_path / "slack.zip", found))
    assert said(general) == TEXTS[:2]


def test_parts_of_a_thread_of_messenger(tmp_path: Path) -> None:
    earlier = {**MESSENGER, "messages": [{"sender_name": "Ana", "timestamp_ms": 1600000000000, "content": "Hello"}]}
    found = {"inbox/jose_1/message_1.json": as_json(MESSENGER), "inbox/jose_1/message_2.json": as_json(earlier)}
    (zipped,) = read_file(in_archive(tmp_path / "messages.zip", found))
    assert [sender for sender, _ in said(zipped)] == ["Ana", "José Peña", "Ana", "Ana"]


@pytest.mark.parametrize(
    ("group", "title"),
    [({"name": "Rowers"}, "Rowers"), ({"members": [{"name": "Ana"}, {"name": "Ben Low"}]}, "Ana, Ben Low")],
)
def test_a_space_of_google_chat_has_its_name(tmp_path: Path, group: dict[str, object], title: str) -> None:
    found = {"Groups/Space A/messages.json": as_json(GOOGLE_CHAT), "Groups/Space A/group_info.json": as_json(group)}
    (zipped,) = read_file(in_archive(tmp_path / "takeout.zip", found))
    assert zipped.title == title
    assert [sender for sender, _ in said(zipped)] == ["Ana", "Ben Low"]


def test_a_chat_of_signal_is_read_once(tmp_path: Path) -> None:
    found = {"chat.md": SIGNAL_MARKDOWN, "data.json": SIGNAL_JSON, "index.html": SIGNAL_PAGE}
    files = {f"Boat trip/{name}": text.encode() for name, text in found.items()}
    other = {"data.json": b'{"date": "2024-01-02", "price": 3}', "index.html": b"<!doctype html><p>The pier"}
    context, skipped = ReadContext(), Skipped()
    archive = in_archive(tmp_path / "signal.zip", {**files, **other})
    names = {document.source.partition("!/")[2] for document in read_file(archive, context)}
    assert names == {"Boat trip/chat.md", *other}
    folder = in_folder(tmp_path / "signal", {**files, **other})
    assert list(walk(folder, skipped)) == [folder / "Boat trip/chat.md", *(folder / name for name in other)]
    assert dict(skipped.counts) == dict(context.skipped.counts) == {"copy of a Signal chat (chat.md)": 2}


def test_an_archive_with_a_bomb_among_its_days_is_refused(tmp_path: Path) -> None:
    bomb = json.dumps([{"type": "message", "text": "x" * 30_000_000, "ts": "1704456000.000000"}]).encode()
    path = tmp_path / "slack.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        for name, data in {**files(), "general/2024-01-08.json": bomb}.items():
            zipped.writestr(name, data)
    with pytest.raises(DamagedSource, match="times its size"):
        read_file(path)
