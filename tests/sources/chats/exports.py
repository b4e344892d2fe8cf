"""Exports of chats as their apps write them, made here."""

from __future__ import annotations

import json
from typing import Any

TELEGRAM = {
    "name": "Allotment",
    "type": "private_group",
    "id": 77,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date": "2024-03-01T09:00:00",
            "actor": "Ana",
            "action": "invite_members",
            "members": ["Ben", "Cleo"],
            "text": "",
        },
        {
            "id": 2,
            "type": "message",
            "date": "2024-03-01T09:05:10",
            "date_unixtime": "1709280310",
            "from": "Ana",
            "from_id": "user1",
            "text": ["The shed key is under ", {"type": "bold", "text": "the blue pot"}, "."],
            "reactions": [{"type": "emoji", "count": 2, "emoji": "👍", "recent": [{"from": "Ben"}, {"from": "Cleo"}]}],
        },
        {
            "id": 3,
            "type": "message",
            "date": "2024-03-01T09:07:00",
            "edited": "2024-03-01T09:08:00",
            "from": "Ben",
            "from_id": "user2",
            "reply_to_message_id": 2,
            "file": "files/plan.pdf",
            "file_name": "plan.pdf",
            "text": "Here is the plan of the beds",
        },
        {
            "id": 4,
            "type": "message",
            "date": "2024-03-02T10:00:00",
            "from": None,
            "from_id": "user3",
            "forwarded_from": "Seed shop",
            "photo": "(File not included. Change data exporting settings to download.)",
            "text": "Seeds are half price",
        },
        {
            "id": 5,
            "type": "message",
            "date": "2024-03-02T10:01:00",
            "from": "Ana",
            "from_id": "user1",
            "text": "",
            "poll": {"question": "When do we dig?", "answers": [{"text": "Sunday", "voters": 3}]},
        },
    ],
}
USERS = [
    {"id": "U01", "name": "ana.g", "real_name": "Ana Gil", "profile": {"display_name": "Ana"}},
    {"id": "U02", "name": "ben", "profile": {"display_name": "", "real_name": "Ben Low"}},
]
CHANNELS = [{"id": "C01", "name": "general"}, {"id": "C02", "name": "kitchen"}]
SLACK_DAYS: dict[str, Any] = {
    "2024-01-05.json": [
        {
            "type": "message",
            "subtype": "channel_join",
            "user": "U01",
            "text": "<@U01> has joined",
            "ts": "1704456000.000100",
        },
        {
            "type": "message",
            "user": "U01",
            "text": "Ask <@U02> in <#C02|kitchen> &amp; bring tea",
            "ts": "1704456060.000200",
        },
    ],
    "2024-01-06.json": [
        {
            "type": "message",
            "user": "U02",
            "text": "The kettle is in <https://shop.example/k|the shop>",
            "ts": "1704542460.000300",
            "thread_ts": "1704456060.000200",
            "files": [{"name": "kettle.png"}],
            "reactions": [{"name": "tea", "users": ["U01"], "count": 1}],
        },
        {
            "type": "message",
            "user": "U02",
            "text": "",
            "blocks": [{"type": "rich_text", "elements": [{"type": "text", "text": "Only in blocks"}]}],
            "ts": "1704542470.000300",
        },
    ],
}
DISCORD = {
    "guild": {"id": "1", "name": "Garden club"},
    "channel": {"id": "2", "type": "GuildTextChat", "category": "Text", "name": "tools", "topic": "Lending"},
    "messages": [
        {
            "id": "10",
            "type": "Default",
            "timestamp": "2024-02-03T18:00:00.5+01:00",
            "timestampEdited": "2024-02-03T18:01:00+01:00",
            "isPinned": True,
            "content": "The mower is in the barn",
            "author": {"id": "7", "name": "ana77", "nickname": "Ana"},
            "attachments": [{"id": "1", "fileName": "mower.jpg", "url": "https://cdn.example/mower.jpg?ex=1"}],
            "reactions": [{"emoji": {"name": "🔥"}, "count": 3}],
        },
        {
            "id": "11",
            "type": "Reply",
            "timestamp": "2024-02-03T18:05:00+01:00",
            "content": "Thanks!",
            "author": {"id": "8", "name": "ben", "nickname": None},
            "reference": {"messageId": "10"},
        },
        {
            "id": "12",
            "type": "GuildMemberJoin",
            "timestamp": "2024-02-03T18:06:00+01:00",
            "content": "Joined the server.",
            "author": {"id": "9", "name": "cleo"},
        },
    ],
    "messageCount": 3,
}


def mangled(text: str) -> str:
    """A text as Messenger's export spells it: each byte of UTF-8 as a character."""
    return text.encode().decode("latin-1")


MESSENGER = {
    "participants": [{"name": mangled("José Peña")}, {"name": "Ana"}],
    "messages": [
        {"sender_name": "Ana", "timestamp_ms": 1704103260000, "is_unsent": True},
        {
            "sender_name": "Ana",
            "timestamp_ms": 1704103200000,
            "photos": [{"uri": "messages/inbox/x/photos/cafe.jpg"}],
            "content": mangled("¡El café está abierto! 😀"),
            "reactions": [{"reaction": mangled("❤"), "actor": mangled("José Peña")}],
        },
        {"sender_name": mangled("José Peña"), "timestamp_ms": 1704103100000, "content": mangled("¿Dónde quedamos?")},
    ],
    "title": mangled("José Peña"),
    "thread_path": "inbox/jose_1",
}


def node(name: str, parent: str | None, role: str, text: str, time: float | None = None, **more: Any) -> dict[str, Any]:
    """A node of ChatGPT's tree."""
    content = {"content_type": "text", "parts": [text]}
    message = {"author": {"role": role}, "create_time": time, "content": content, "recipient": "all", **more}
    return {"id": name, "parent": parent, "children": [], "message": message}


CHATGPT = [
    {
        "title": "Pruning",
        "create_time": 1704103200.5,
        "current_node": "d",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["a"], "message": None},
            "s": node("s", "root", "system", "You are a gardener"),
            "a": node("a", "s", "user", "When do I prune the pear tree?", 1704103201),
            "b": node("b", "a", "assistant", "In June.", 1704103202),
            "c": node("c", "a", "assistant", "search()", 1704103203, recipient="web"),
            "d": node("d", "c", "assistant", "Prune the pear tree in late winter.", 1704103204),
        },
    },
    {"title": "Pruning", "create_time": 1704203200, "mapping": {"a": node("a", None, "user", "And the plum?")}},
]
CLAUDE = [
    {
        "uuid": "1",
        "name": "Soup",
        "created_at": "2024-05-01T10:00:00.123456Z",
        "chat_messages": [
            {
                "sender": "human",
                "text": "How long does lentil soup simmer?",
                "created_at": "2024-05-01T10:00:00.123456Z",
                "attachments": [{"file_name": "recipe.txt"}],
            },
            {
                "sender": "assistant",
                "text": "",
                "content": [{"type": "thinking", "thinking": "Hm"}, {"type": "text", "text": "Forty minutes."}],
                "created_at": "2024-05-01T10:00:05Z",
            },
        ],
    }
]
SIGNAL_JSON = (
    '{"date": "2024-01-02T10:11:12", "sender": "Me", "body": "The boat leaves at six", "quote": "", "sticker": null, '
    '"reactions": [["Ben", "👍"]], "attachments": []}\n'
)
SIGNAL_PAGE = """
<!doctype html>
<html lang='en'>
<head>
    <meta charset='utf-8'>
    <title>Boat trip</title>
    <link rel=stylesheet href='../style.css'>
</head>
<body>
    <div class=first>
        <a href=#pg0>FIRST</a>
    </div>
    <div class=page id=pg0><div class='msg me'><p class=body>The boat leaves at six</p></div></div>
</body>
</html>
"""
SIGNAL_MARKDOWN = """\
[2024-01-02, 10:11:12] Me: The boat leaves at six
and comes back at nine
(- Ben: 👍 -)
[2024-01-02, 10:12:00] Ben:
> The boat leaves at six

ok ![ticket.jpg](./media/ticket.jpg)
[2024-01-02 10:13:00] Ben: (This message was deleted)
"""
IMESSAGE = """\
Jan 02, 2024  9:05:00 AM (Read by you after 5 minutes)
Ana
The dentist moved to Elm Street
Tapbacks:
Loved by Me
    Jan 02, 2024  9:06:00 AM
    Me
    Which number?

Jan 02, 2024  9:06:00 AM
Me
Which number?
This message responded to an earlier message.

Jan 02, 2024  1:07:00 PM
Ana
attachments/12/map.heic

Jan 02, 2024  1:08:00 PM Ana renamed the conversation to Teeth

"""
TELEGRAM_PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8"/><title>Exported Data</title></head><body>
<div class="page_wrap"><div class="page_header"><div class="content"><div class="text bold">Allotment</div></div></div>
<div class="page_body chat_page"><div class="history">
<div class="message service" id="message-1"><div class="body details">1 March 2024</div></div>
<div class="message default clearfix" id="message2"><div class="body">
<div class="pull_right date details" title="01.03.2024 09:05:10 UTC+01:00">09:05</div>
<div class="from_name">Ana</div><div class="text">The shed key is under<br>the blue pot</div></div></div>
<div class="message default clearfix joined" id="message3"><div class="body">
<div class="pull_right date details" title="01.03.2024 09:06:00 UTC+01:00">09:06</div>
<div class="reply_to details">In reply to <a href="#go_to_message2">this message</a></div>
<div class="media_wrap clearfix"><a class="photo_wrap" href="photos/pot.jpg"></a></div>
<div class="text">This pot</div></div></div>
</div></div></div></body></html>"""


def as_json(value: Any) -> bytes:
    """JSON as the apps write it."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode()


LINE = (
    "[LINE] Chat history in Rowers\nSaved on: 2024/03/28 21:15\n\nTue, 03/05/2024\n21:15\tAna\tThe boat is red\n"
    '21:16\tBen Low\t"It is\n\nblue"\n21:17\tAna unsent a message.\n\nWed, 03/27/2024\n9:01 PM\tAna\t[Sticker]\n'
)

GOOGLE_CHAT = {
    "messages": [
        {
            "creator": {"name": "Ana", "email": "ana@example.org"},
            "created_date": "Tuesday, March 5, 2024 at 9:15:03 PM UTC",
            "text": "The boat is red",
            "reactions": [{"emoji": {"unicode": "👍"}, "reactor_emails": ["ben@example.org"]}],
        },
        {
            "creator": {"name": "Ben Low"},
            "created_date": "Wednesday, March 6, 2024 at 9:15:03\u202fAM UTC",
            "text": "It is blue",
            "attached_files": [{"original_name": "boat.jpg", "export_name": "File-boat.jpg"}],
            "quoted_message_metadata": {"creator": {"name": "Ana"}, "text": "The boat is red"},
            "previous_message_versions": [{"text": "It is green"}],
        },
        {"message_state": "DELETED", "deleted_date": "Wednesday, March 6, 2024 at 9:20:00 AM UTC"},
    ]
}
