"""Exports of chats made here, in the layout of each app."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any

from made_files import zipped

from format_files.made import EXAMPLES
from format_files.made_media import said_in_note, voice_note
from format_files.sample import Probe, Sample, probe

_NOTE = "PTT-20240305-WA0001.opus"
_TALK = (
    ("2024-03-05 21:15", "Ana", "The shed key is under the blue pot."),
    ("2024-03-05 21:17", "Ben", "Then I water the beds on Sunday."),
    ("2024-03-06 08:02", "Cleo", "Seeds are half price at the market until Friday."),
)
"""Who wrote what when, in UTC where an export has UTC."""


def chats() -> list[Sample]:
    """An export of each app."""
    return [
        *(_telegram_json(), _telegram_page(), _slack(), _discord(), _chatgpt(), _signal(), _imessage()),
        *(_whatsapp_text(), _whatsapp_zip()),
    ]


def _probes(talk: Sequence[tuple[str, str, str]] = _TALK) -> tuple[Probe, ...]:
    return tuple(probe(text, time=time, sender=sender) for time, sender, text in talk)


def _sample(name: str, kind: str, data: bytes | str | object, talk: Sequence[tuple[str, str, str]] = _TALK) -> Sample:
    if not isinstance(data, bytes):
        data = (data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, indent=1)).encode()
    return Sample(name, kind, _probes(talk), data, " ".join(text for _, _, text in talk))


def _epoch(time: str) -> float:
    return datetime.fromisoformat(time).replace(tzinfo=timezone.utc).timestamp()


def _telegram_json() -> Sample:
    messages = [
        {
            "id": number,
            "type": "message",
            "date": f"{time.replace(' ', 'T')}:00",
            "date_unixtime": f"{_epoch(time):.0f}",
            "from": sender,
            "from_id": f"user{sender}",
            "text": text,
        }
        for number, (time, sender, text) in enumerate(_TALK, 1)
    ]
    return _sample(
        "result.json",
        "Telegram, JSON",
        {"name": "Allotment", "type": "private_group", "id": 7, "messages": messages},
    )


def _telegram_page() -> Sample:
    messages = "".join(
        f'<div class="message default clearfix" id="message{number}"><div class="body">'
        f'<div class="pull_right date details" title="{datetime.fromisoformat(time):%d.%m.%Y %H:%M:%S} UTC+00:00">'
        f'{time[-5:]}</div><div class="from_name">{sender}</div><div class="text">{text}</div></div></div>'
        for number, (time, sender, text) in enumerate(_TALK, 1)
    )
    page = (
        '<!DOCTYPE html><html><head><meta charset="utf-8"/><title>Exported Data</title></head><body>'
        '<div class="page_wrap"><div class="page_header"><div class="content"><div class="text bold">Allotment</div>'
        f'</div></div><div class="page_body chat_page"><div class="history">{messages}</div></div></div></body></html>'
    )
    return _sample("messages.html", "Telegram, HTML", page)


def _slack() -> Sample:
    people = sorted({sender for _, sender, _ in _TALK})
    users = [{"id": f"U0{each}", "name": each.lower(), "profile": {"display_name": each}} for each in people]
    days: dict[str, list[dict[str, Any]]] = {}
    for time, sender, text in _TALK:
        message = {"type": "message", "user": f"U0{sender}", "text": text, "ts": f"{_epoch(time):.6f}"}
        days.setdefault(f"general/{time[:10]}.json", []).append(message)
    files = {"users.json": users, "channels.json": [{"id": "C01", "name": "general"}], **days}
    return _sample("slack.zip", "Slack", zipped({name: json.dumps(value) for name, value in files.items()}))


def _discord() -> Sample:
    messages = [
        {
            "id": f"{number}",
            "type": "Default",
            "timestamp": f"{time.replace(' ', 'T')}:00.5+00:00",
            "content": text,
            "author": {"id": sender, "name": sender.lower(), "nickname": sender},
        }
        for number, (time, sender, text) in enumerate(_TALK, 1)
    ]
    head = {"guild": {"id": "1", "name": "Club"}, "channel": {"id": "2", "type": "GuildTextChat", "name": "tools"}}
    return _sample("tools.json", "Discord", {**head, "messages": messages, "messageCount": len(messages)})


def _chatgpt() -> Sample:
    said = [
        ("user", "When do I prune the pear tree?", "2024-01-01 10:00"),
        ("assistant", "Prune the pear tree in late winter.", "2024-01-01 10:01"),
    ]
    nodes: dict[str, Any] = {}
    for number, (role, text, time) in enumerate(said):
        content = {"content_type": "text", "parts": [text]}
        message = {"author": {"role": role}, "create_time": _epoch(time), "content": content, "recipient": "all"}
        children = [str(number + 1)] if number + 1 < len(said) else []
        parent = str(number - 1) if number else None
        nodes[str(number)] = {"id": str(number), "parent": parent, "children": children, "message": message}
    exported = [{"title": "Pruning", "create_time": _epoch(said[0][2]), "current_node": "1", "mapping": nodes}]
    talk = [(time, {"user": "user", "assistant": "ChatGPT"}[role], text) for role, text, time in said]
    return _sample("conversations.json", "ChatGPT", exported, talk)


def _signal() -> Sample:
    lines = (f"[{time.replace(' ', ', ')}:00] {sender}: {text}\n" for time, sender, text in _TALK)
    return _sample("chat.md", "Signal", "".join(lines))


def _imessage() -> Sample:
    blocks = (
        f"{datetime.fromisoformat(time):%b %d, %Y %l:%M:%S %p}\n{sender}\n{text}\n\n" for time, sender, text in _TALK
    )
    return _sample("Ana, Ben, Cleo.txt", "iMessage", "".join(blocks))


def _whatsapp_text() -> Sample:
    name = "Chat de WhatsApp con Viaje a Oaxaca.txt"
    text = (EXAMPLES / name).read_text("utf-8")
    talk = (
        ("2024-03-06 12:44", "Marta", "Boletos comprados, asientos 11, 12 y 13."),
        ("2024-03-12 21:03", "Julián", "Para Hierve el Agua hay que llevar 50 pesos de entrada por persona"),
        ("2024-03-20 19:22", "Ana Lucía", "Recuerden que soy alérgica al cacahuate"),
    )
    return Sample(name, "WhatsApp", _probes(talk), (EXAMPLES / name).read_bytes(), text)


def _whatsapp_zip() -> Sample:
    lines = [
        "05/03/2024, 21:14 - Ana: The shed key is under the blue pot.",
        f"05/03/2024, 21:15 - Ben: {_NOTE} (file attached)",
        "05/03/2024, 21:20 - Ana: Thanks, see you there.",
    ]
    name = "WhatsApp Chat with Allotment"
    data = zipped({f"{name}.txt": "\n".join(lines) + "\n", _NOTE: voice_note()})
    return Sample(
        f"{name}.zip",
        "WhatsApp with a voice note",
        (
            probe("The shed key is under the blue pot.", time="2024-03-05 21:14", sender="Ana"),
            probe(said_in_note(), time="2024-03-05 21:15", sender="Ben", second=0),
            probe("Thanks, see you there.", time="2024-03-05 21:20", sender="Ana"),
        ),
        data,
        f"The shed key is under the blue pot. {said_in_note()} Thanks, see you there.",
    )
