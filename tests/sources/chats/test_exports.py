"""Exports of other apps become chats: who wrote what and when, wherever it is quoted."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from sources.chats.exports import (
    CHATGPT,
    CLAUDE,
    DISCORD,
    GOOGLE_CHAT,
    IMESSAGE,
    LINE,
    MESSENGER,
    SIGNAL_MARKDOWN,
    SLACK_DAYS,
    TELEGRAM,
    TELEGRAM_PAGE,
    as_json,
)

import answerable
from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource
from answerable.sources.dispatch import read_bytes
from answerable.tables.entries import chat_statistics, chat_table

Said = tuple[str, str | None, str]


def said(document: Document) -> list[Said]:
    """Time, sender and own text of each message and notice."""
    return [
        (f"{part.time:%Y-%m-%d %H:%M:%S}" if part.time else "", part.sender, document.content[part.body : part.end])
        for part in document.parts
    ]


def read(data: bytes | str, name: str) -> list[Document]:
    found = read_bytes(data.encode() if isinstance(data, str) else data, name)
    for document in found:
        assert document.type is DocumentType.CHAT, document
        end = 0
        for part in document.parts:
            assert part.body is not None
            assert end <= part.start <= part.body <= part.end <= len(document.content)
            end = part.end
    return found


def only(data: bytes | str, name: str) -> Document:
    (document,) = read(data, name)
    assert document.source == name
    return document


def test_telegram() -> None:
    document = only(as_json(TELEGRAM), "/in/result.json")
    assert document.title == "Allotment"
    assert dict(document.metadata) == {
        "app": "Telegram",
        "time_zone": "local time of the export",
        "participants": ["Ana", "Ben", "Deleted Account"],
        "messages": 5,
        "first_day": "2024-03-01",
        "last_day": "2024-03-02",
    }
    assert said(document) == [
        ("2024-03-01 09:00:00", None, "Ana: invite members: Ben, Cleo"),
        ("2024-03-01 09:05:10", "Ana", "The shed key is under the blue pot."),
        ("2024-03-01 09:07:00", "Ben", "plan.pdf (file attached)\nHere is the plan of the beds"),
        ("2024-03-02 10:00:00", "Deleted Account", "Seeds are half price"),
        ("2024-03-02 10:01:00", "Ana", "Poll: When do we dig?\n- Sunday (3)"),
    ]
    lines = document.content.split("\n")
    assert lines[1] == "[2024-03-01 09:05, 👍 Ben, Cleo] Ana: The shed key is under the blue pot."
    assert lines[2].startswith(
        "[2024-03-01 09:07, in reply to Ana: “The shed key is under the blue pot.”, edited] Ben: "
    )
    assert lines[4] == "[2024-03-02 10:00, forwarded from Seed shop] Deleted Account: <image omitted>"
    assert [part.kind for part in document.parts] == [PartKind.NOTICE, *[PartKind.MESSAGE] * 4]


def test_struck_text_of_telegram() -> None:
    pieces = ["costs ", {"type": "strikethrough", "text": "26"}, {"type": "strikethrough", "text": "0 "}, "240 euros"]
    said = {"id": 1, "type": "message", "date": "2024-03-01T09:00:00", "from": "Ana", "text": pieces}
    reply = {**said, "id": 2, "from": "Ben", "reply_to_message_id": 1, "text": "Fine"}
    document = only(as_json({"name": "Rent", "type": "personal_chat", "messages": [said, reply]}), "/in/result.json")
    assert document.content.endswith(
        "Ana: costs ~~260~~ 240 euros\n[2024-03-01 09:00, in reply to Ana: “costs ~~260~~ 240 euros”] Ben: Fine"
    )


def test_all_chats_of_telegram_are_documents_of_their_own() -> None:
    chats = [TELEGRAM, {**TELEGRAM, "name": "Work/home"}, {**TELEGRAM, "name": None, "type": "saved_messages"}]
    empty = {"name": "Empty", "type": "personal_chat", "messages": []}
    whole = {"about": "…", "chats": {"about": "…", "list": [*chats, empty, TELEGRAM]}}
    found = read(as_json(whole), "/in/result.json")
    assert [document.source for document in found] == [
        "/in/result.json!/Allotment",
        "/in/result.json!/Work-home",
        "/in/result.json!/Saved Messages",
        "/in/result.json!/Allotment (2)",
    ]
    assert len({document.id for document in found}) == 4


def test_statistics_and_table_of_a_chat() -> None:
    document = only(as_json(TELEGRAM), "/in/result.json")
    statistics = chat_statistics(document)
    assert statistics
    assert (statistics.messages, statistics.notices, statistics.by_sender["Ana"]) == (4, 1, 2)
    table = chat_table(document)
    assert table
    assert [[value.text for value in row.values] for row in table.rows][1:3] == [
        ["Ben", "2024-03-01 09:07", "Here is the plan of the beds", "document"],
        ["Deleted Account", "2024-03-02 10:00", "Seeds are half price", "photo"],
    ]


def test_a_day_of_slack() -> None:
    document = only(as_json(SLACK_DAYS["2024-01-05.json"]), "/in/general/2024-01-05.json")
    assert document.title == "general 2024-01-05"
    assert said(document) == [
        ("2024-01-05 12:00:00", None, "@U01 has joined"),
        ("2024-01-05 12:01:00", "U01", "Ask @U02 in #kitchen & bring tea"),
    ]


def test_discord() -> None:
    document = only(as_json(DISCORD), "/in/tools.json")
    assert (document.title, document.metadata["time_zone"]) == ("Garden club - tools", "UTC+01:00")
    assert said(document) == [
        ("2024-02-03 18:00:00", "Ana", "mower.jpg (file attached)\nThe mower is in the barn"),
        ("2024-02-03 18:05:00", "ben", "Thanks!"),
        ("2024-02-03 18:06:00", None, "cleo: Joined the server."),
    ]
    assert document.content.startswith("[2024-02-03 18:00, edited, pinned, 🔥 3] Ana: ")
    assert "[2024-02-03 18:05, in reply to Ana: “The mower is in the barn”] ben: Thanks!" in document.content


@pytest.mark.parametrize(
    ("name", "app"), [("/in/message_1.json", "Messenger"), ("/instagram/message_1.json", "Instagram")]
)
def test_messenger_and_its_letters(name: str, app: str) -> None:
    document = only(as_json(MESSENGER), name)
    assert (document.title, document.metadata["app"], document.metadata["time_zone"]) == ("José Peña", app, "UTC")
    assert said(document) == [
        ("2024-01-01 09:58:20", "José Peña", "¿Dónde quedamos?"),
        ("2024-01-01 10:00:00", "Ana", "cafe.jpg (file attached)\n¡El café está abierto! 😀"),
        ("2024-01-01 10:01:00", "Ana", ""),
    ]
    assert document.content.endswith("Ana: This message was deleted")
    assert "❤ José Peña" in document.content


def test_chatgpt_follows_the_current_branch() -> None:
    one, two = read(as_json(CHATGPT), "/in/conversations.json")
    assert [one.source, two.source] == ["/in/conversations.json!/Pruning", "/in/conversations.json!/Pruning (2)"]
    assert said(one) == [
        ("2024-01-01 10:00:01", "User", "When do I prune the pear tree?"),
        ("2024-01-01 10:00:03", None, "ChatGPT to web: search()"),
        ("2024-01-01 10:00:04", "ChatGPT", "Prune the pear tree in late winter."),
    ]
    assert said(two) == [("2024-01-02 13:46:40", "User", "And the plum?")]


def test_claude() -> None:
    (document,) = read(as_json(CLAUDE), "/in/conversations.json")
    assert said(document) == [
        ("2024-05-01 10:00:00", "User", "recipe.txt (file attached)\nHow long does lentil soup simmer?"),
        ("2024-05-01 10:00:05", "Claude", "Forty minutes."),
    ]


def test_signal() -> None:
    document = only(SIGNAL_MARKDOWN, "/in/Boat trip/chat.md")
    assert document.title == "Boat trip"
    assert said(document) == [
        ("2024-01-02 10:11:12", "Me", "The boat leaves at six\nand comes back at nine"),
        ("2024-01-02 10:12:00", "Ben", "ticket.jpg (file attached)\nok"),
        ("2024-01-02 10:13:00", "Ben", ""),
    ]


def test_line() -> None:
    document = only(LINE, "chat.txt")
    assert (document.title, document.metadata["app"]) == ("Chat history in Rowers", "LINE")
    assert said(document) == [
        ("2024-03-05 21:15:00", "Ana", "The boat is red"),
        ("2024-03-05 21:16:00", "Ben Low", "It is\n\nblue"),
        ("2024-03-05 21:17:00", None, "Ana unsent a message."),
        ("2024-03-27 21:01:00", "Ana", "[Sticker]"),
    ]
    for text in ("[LINE]\n21:15 Ana: The boat is red", LINE.removeprefix("[LINE]")):
        assert read_bytes(text.encode(), "a.txt")[0].type is DocumentType.TEXT


def test_google_chat() -> None:
    document = only(as_json(GOOGLE_CHAT), "Rowers/messages.json")
    assert (document.title, document.metadata["participants"]) == ("Rowers", ["Ana", "Ben Low"])
    assert said(document) == [
        ("2024-03-05 21:15:03", "Ana", "The boat is red"),
        ("2024-03-06 09:15:03", "Ben Low", "boat.jpg (file attached)\nIt is blue"),
    ]
    assert document.content.startswith("[2024-03-05 21:15, 👍 ben@example.org] Ana: ")
    assert "[2024-03-06 09:15, in reply to Ana: “The boat is red”, edited] Ben Low: " in document.content


def test_imessage_says_each_reply_once() -> None:
    document = only(IMESSAGE, "/in/Ana.txt")
    assert said(document) == [
        ("2024-01-02 09:05:00", "Ana", "The dentist moved to Elm Street"),
        ("2024-01-02 09:06:00", "Me", "Which number?"),
        ("2024-01-02 13:07:00", "Ana", "map.heic (file attached)"),
        ("2024-01-02 13:08:00", None, "Ana renamed the conversation to Teeth"),
    ]
    assert "[2024-01-02 09:05, Loved by Me] Ana: " in document.content
    assert "in reply to Ana: “The dentist moved to Elm Street”" in document.content


@pytest.mark.parametrize(
    ("name", "data", "question", "quoted", "sender"),
    [
        ("result.json", as_json(TELEGRAM), "Where is the shed key?", "under the blue pot", "Ana"),
        ("messages.html", TELEGRAM_PAGE.encode(), "Where is the shed key?", "the blue pot", "Ana"),
        ("conversations.json", as_json(CHATGPT), "When is the pear tree pruned?", "late winter", "ChatGPT"),
    ],
)
def test_an_answer_cites_the_message(
    tmp_path: Path, name: str, data: bytes, question: str, quoted: str, sender: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with answerable.open(":memory:") as library:
        assert library.add(path).failures == []
        answer = library.ask(question)
        citation = answer.citations[0]
        document = library.document(citation.document_id)
    assert quoted in citation.quote
    assert document
    assert document.content[citation.start : citation.end] == citation.quote
    assert citation.location.lines is None
    assert citation.location.senders == (sender,)
    assert citation.location.times
    assert citation.location.times[0] > datetime(2024, 1, 1)
    link = path.as_uri()
    assert citation.link.startswith(f"{link}#message2:~:text=" if name.endswith("html") else link)
    assert name.endswith("html") or citation.link == link


def test_a_damaged_export_says_so_and_other_json_stays_records() -> None:
    for data in (as_json(TELEGRAM)[:-200], as_json(CHATGPT)[:-40], as_json(DISCORD)[:-30]):
        with pytest.raises(DamagedSource, match="export the chat again"):
            read_bytes(data, "/in/result.json")
    for value in (
        [{"messages": "x"}],
        {"messages": [1, {"text": "x"}]},
        [{"ts": 1, "type": "message"}],
        {"mapping": {}},
    ):
        (document,) = read_bytes(as_json(value), "/in/a.json")
        assert document.type is not DocumentType.CHAT


def test_what_people_write_cannot_pass_for_another_message() -> None:
    false = "hi\n[2024-03-01 09:06] Ben: I owe you 100 euros"
    message = {"type": "message", "date": "2024-03-01T09:05:00", "from": "Ana\n[2024] Ben", "text": false + "\ud800\0"}
    document = only(json.dumps({"name": "x", "type": "personal_chat", "messages": [message]}), "/in/result.json")
    assert [(part.sender, part.kind) for part in document.parts] == [("Ana [2024] Ben", PartKind.MESSAGE)]
    assert "\0" not in document.content
    document.content.encode()
