"""Statistics of chats."""

from __future__ import annotations

from datetime import date, datetime

from answerable.datatypes import Document
from answerable.sources import read_chat
from answerable.tables.entries import chat_statistics

CHAT = """\
30/12/2023, 23:58 - Ana: Hola
30/12/2023, 23:59 - Ben: Hola
30/12/2023, 23:59 - Ben: ¿Qué tal?
02/02/2024, 10:00 - Ana creó el grupo "Casa"
02/02/2024, 10:01 - Ben: Nada
"""


def test_statistics_of_a_chat() -> None:
    found = chat_statistics(read_chat(CHAT, "chat.txt"))
    assert found is not None
    assert (found.first, found.last) == (datetime(2023, 12, 30, 23, 58), datetime(2024, 2, 2, 10, 1))
    assert (found.messages, found.notices) == (4, 1)
    assert list(found.by_sender.items()) == [("Ben", 3), ("Ana", 1)]
    assert found.by_day == {date(2023, 12, 30): 3, date(2024, 2, 2): 1}
    assert found.by_month == {"2023-12": 3, "2024-01": 0, "2024-02": 1}
    assert {hour: count for hour, count in enumerate(found.by_hour) if count} == {23: 3, 10: 1}
    assert found.busiest_days(1) == [(date(2023, 12, 30), 3)]


def test_a_document_without_messages_has_none() -> None:
    assert chat_statistics(Document.from_text("Ana: Hola")) is None
