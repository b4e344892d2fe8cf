"""Messages saved by Outlook."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from made_mail import ole_file, properties, wide
from reading_here import read_file

import answerable
from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EncryptedSource, SourceError
from answerable.sources.context import ReadContext, Skipped
from answerable.sources.formats import without_ocr

# 2024-03-05 20:15 UTC in ticks since 1601.
SENT = (0x0040, 0x0039, int((datetime(2024, 3, 5, 20, 15) - datetime(1601, 1, 1)).total_seconds()) * 10_000_000)
PROPERTIES = "__properties_version1.0"


def message(header: int = 32, **texts: str) -> dict[str, Any]:
    """The tree of a message."""
    usual = {"p001a": "IPM.Note", "p0037": "Boiler", "p0c1a": "Ana Ruiz", "p5d01": "ana@example.org"}
    return {PROPERTIES: properties(header, sent=SENT), **wide(**{**usual, **texts})}


def test_a_message_with_attachments() -> None:
    tree = message(p1000="The boiler was repaired for 90 euros.\r\n\r\n-----Original Message-----\r\nFrom: Ben\r\nold")
    tree["__recip_version1.0_#00000000"] = {
        PROPERTIES: properties(8, kind=(3, 0x0C15, 2)), **wide(p3001="Ben", p39fe="ben@example.org")
    }  # fmt: skip
    tree["__attach_version1.0_#00000000"] = {
        PROPERTIES: properties(8), **wide(p3707="notes.txt"), "__substg1.0_37010102": b"The keys are with Pedro. " * 300
    }  # fmt: skip
    tree["__attach_version1.0_#00000001"] = {
        PROPERTIES: properties(8), **wide(p3707="photo.jpg"), "__substg1.0_37010102": b"\xff\xd8\xff\0\1"
    }  # fmt: skip
    tree["__attach_version1.0_#00000002"] = {
        PROPERTIES: properties(8), "__substg1.0_3701000D": message(24, p0037="Inner", p1000="Inside text.")
    }  # fmt: skip
    skipped = Skipped()
    mail, notes, inner = read_file(ole_file(tree), ReadContext(skipped=skipped), "/a/letter.msg")
    assert mail.content == (
        "From: Ana Ruiz <ana@example.org>\nCc: Ben <ben@example.org>\nDate: 2024-03-05 20:15\n"
        "Attachments: notes.txt, photo.jpg\nSubject: Boiler\n\nThe boiler was repaired for 90 euros."
    )
    assert (mail.type, mail.parts[0].time, mail.parts[0].sender) == (
        DocumentType.MAIL,
        datetime(2024, 3, 5, 20, 15),
        "Ana Ruiz",
    )
    assert (notes.source, notes.metadata["message"]) == ("/a/letter.msg!/notes.txt", "/a/letter.msg")
    assert (inner.source, inner.content.splitlines()[-1]) == ("/a/letter.msg!/Inner.msg", "Inside text.")
    assert [(each.source, each.reason) for each in skipped.passed_over] == [("/a/letter.msg!/photo.jpg", without_ocr())]


def test_its_headers_have_the_time_of_the_senders_place() -> None:
    headers = (
        "From: =?utf-8?q?Ana_N=C3=BA=C3=B1ez?= <ana@example.org>\r\nDate: Tue, 5 Mar 2024 21:15:00 +0100\r\n"
        "Message-ID: <two@x>\r\nReferences: <one@x>"
    )
    (mail,) = read_file(ole_file(message(p1000="Text.", p007d=headers)), source="a.msg")
    assert (mail.parts[0].time, mail.parts[0].sender) == (datetime(2024, 3, 5, 21, 15), "Ana Núñez")
    assert (mail.metadata["thread"], mail.metadata["message_id"]) == ("one@x", "two@x")


def test_texts_of_a_code_page_and_markup() -> None:
    tree = message()
    tree[PROPERTIES] = properties(32, page=(3, 0x3FFD, 1252))
    tree["__substg1.0_10130102"] = "<p>Cuesta 90 € en Málaga.</p>".encode("cp1252")
    (mail,) = read_file(ole_file(tree), source="a.msg")
    assert mail.content.endswith("\n\nCuesta 90 € en Málaga.")


def test_an_answer_cites_it(tmp_path: Path) -> None:
    path = tmp_path / "letter.msg"
    path.write_bytes(ole_file(message(p1000="The boiler was repaired on Friday for 90 euros.")))
    with answerable.open(":memory:") as library:
        assert library.add(path).added == 1
        answer = library.ask("How much did the repair of the boiler cost?")
    assert str(answer.citations[0].location) == "2024-03-05 20:15, Ana Ruiz"
    assert answer.citations[0].title == "Boiler"
    assert answer.citations[0].link == path.as_uri()


def test_damaged_and_encrypted_files() -> None:
    whole = ole_file(message(p1000="text " * 2_000))
    with pytest.raises(DamagedSource, match=r"a\.msg is not a readable message.*save it again"):
        read_file(whole[:600], source="a.msg")
    with pytest.raises(EncryptedSource, match="save it decrypted"):
        read_file(ole_file(message(p001a="IPM.Note.SMIME")), source="a.msg")
    for place in range(0, len(whole), 37):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        try:
            read_file(bytes(broken), source="a.msg")
        except SourceError as error:
            assert str(error)


def test_messages_of_robots_are_text() -> None:
    (document,) = read_file(b"float64 speed\nstring name\n", source="Motor.msg")
    assert document.type is DocumentType.TEXT
