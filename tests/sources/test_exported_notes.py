"""Notes of Evernote and Google Keep: each a document with title, day, tags, boxes and attached files."""

from __future__ import annotations

import json
from base64 import b64encode
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from reading_here import read_file

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource
from answerable.formats.registry import format_of
from answerable.sources.context import ReadContext, Skipped


def note(title: str, content: str, more: str = "") -> str:
    return (
        f"<note><title>{title}</title><created>20240203T080910Z</created>{more}<content><![CDATA[<?xml version='1.0'?>"
        f"<!DOCTYPE en-note SYSTEM 'enml2.dtd'><en-note>{content}</en-note>]]></content></note>"
    )


def attached(name: str, data: bytes) -> str:
    file = f"<resource-attributes><file-name>{name}</file-name></resource-attributes>" if name else ""
    return f'<resource><data encoding="base64">{b64encode(data).decode()}</data>{file}</resource>'


def exported(*notes: str) -> bytes:
    return f'<?xml version="1.0"?><!DOCTYPE en-export SYSTEM "x.dtd"><en-export>{"".join(notes)}</en-export>'.encode()


def read(data: bytes, name: str) -> tuple[list[Document], list[str]]:
    context = ReadContext(skipped=Skipped())
    return read_file(data, context, name), [f"{each.source}: {each.reason}" for each in context.skipped.passed_over]


def test_notes_of_evernote() -> None:
    body = (
        "<div>Call Zoë&nbsp;first.</div><div><en-todo checked='true'/>Sweep</div><div><en-todo/>Paint</div>"
        "<ul style='--en-todo:true;'><li style='--en-checked:true;'><div>Pay</div></li>"
        "<li style='--en-checked:false;'><div>Lock</div></li></ul><h2>Colours</h2><div>Blue<en-media hash='1'/></div>"
        "<en-crypt cipher='AES'>c2VjcmV0</en-crypt>"
    )
    task = "<task><title>Buy tar</title><taskStatus>completed</taskStatus></task>"
    more = f"<tag>boat</tag><tag>spring</tag>{task}{attached('plan.txt', b'The mast is oak.')}{attached('', b'')}"
    (boat, plan, second), left_out = read(
        exported(note("Boat", body, more), note("Boat", "<div>Oars</div>")), "my.enex"
    )
    assert boat.content == (
        "# Boat\n\nCall Zoë first.\n\n☒ Sweep\n\n☐ Paint\n\n- ☒ Pay\n- ☐ Lock\n\n## Colours\n\nBlue\n\n- ☒ Buy tar\n\n"
        "Attachments: plan.txt, attachment 2"
    )
    assert (boat.source, boat.title, boat.type) == ("my.enex!/Boat", "Boat", DocumentType.MARKDOWN)
    assert boat.metadata == {"format": "exported note", "date": "2024-02-03", "tags": ["boat", "spring"]}
    assert [part.headings for part in boat.parts] == [("Boat",), ("Boat", "Colours")]
    assert {part.time for part in boat.parts} == {datetime(2024, 2, 3, 8, 9, 10)}
    assert format_of(boat).name == "exported note"
    assert (plan.source, plan.content, plan.metadata) == (
        "my.enex!/Boat!/plan.txt",
        "The mast is oak.",
        {"message": "my.enex!/Boat"},
    )
    assert (second.source, second.content) == ("my.enex!/Boat (2)", "# Boat\n\nOars")
    assert left_out == ["my.enex!/Boat!/attachment 2: empty"]


def test_a_large_file_in_a_note_does_not_hide_the_notes() -> None:
    large = attached("film.txt", b"x" * 8_000_000)
    (boat, oars), left_out = read(
        exported(note("Boat", "<div>Red</div>", large), note("Oars", "<div>Two</div>")), "a.enex"
    )
    assert (boat.content, oars.content) == ("# Boat\n\nRed\n\nAttachments: film.txt", "# Oars\n\nTwo")
    assert left_out == ["a.enex!/Boat!/film.txt: empty"]


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (exported(), EmptySource, "no note with a text"),
        (b"no xml", EmptySource, "no note with a text"),
        (exported(note("a", "b")).replace(b'"x.dtd"', b'"x.dtd" [<!ENTITY x "y">]'), DamagedSource, "defines entities"),
    ],
)
def test_exports_without_notes(data: bytes, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read(data, "a.enex")


KEEP: dict[str, Any] = {
    "isTrashed": False,
    "title": "Camp",
    "textContent": "The gate code is 88.\n",
    "listContent": [{"text": "Tent", "isChecked": True}, {"text": "Rope", "isChecked": False}],
    "annotations": [{"title": "Map", "url": "https://example.org/map"}],
    "attachments": [{"filePath": "1.png"}],
    "labels": [{"name": "trips"}],
    "createdTimestampUsec": 1706947750000000,
}


def test_a_note_of_keep() -> None:
    ((document,), left_out) = read(json.dumps(KEEP).encode(), "Camp.json")
    assert document.content == (
        "# Camp\n\nThe gate code is 88.\n\n- ☒ Tent\n- ☐ Rope\n\nMap (https://example.org/map)\n\nAttachments: 1.png"
    )
    assert document.metadata == {"format": "exported note", "date": "2024-02-03", "tags": ["trips"]}
    assert document.parts[0].time == datetime(2024, 2, 3, 8, 9, 10)
    assert left_out == []
    untitled = {"isTrashed": False, "textContent": "The key is\nwith Ana.", "title": ""}
    ((document,), _) = read(json.dumps(untitled).encode(), "2024-02-03T08_09_10.json")
    assert (document.title, document.content) == ("The key is with Ana.", "The key is\nwith Ana.")


def test_half_characters_are_no_text() -> None:
    broken = {**KEEP, "title": "\ud800", "textContent": "\udfff", "listContent": [{"text": "\ud83d"}]}
    ((document,), _) = read(json.dumps(broken).encode(), "a.json")
    assert f"{document.content}{document.title}{document.metadata}".encode()


def test_notes_of_simplenote(tmp_path: Path) -> None:
    created = {"creationDate": "2024-01-05T07:00:00.000Z", "tags": ["bread"]}
    active = [{"content": "# Dough\r\nIt is fed at 7:15.\n", **created}, {"content": "Dough"}, {"content": " "}]
    exported = {"activeNotes": active, "trashedNotes": [{"content": "Padlock"}] * 2}
    (tmp_path / "notes.json").write_text(json.dumps(exported))
    with answerable.open(":memory:") as library:
        report = library.add(tmp_path)
        ids = [each.id for each in library.documents()]
        found = [(Path(each.source).name, each.content) for each in map(library.document, ids)]
    assert sorted(found) == [("Dough", "# Dough\n\nIt is fed at 7:15."), ("Dough (2)", "# Dough")]
    assert dict(report.skipped) == {"note in the trash": 2}
    ((first, _), _) = read(json.dumps(exported).encode(), "notes.json")
    assert first.metadata == {"format": "exported note", "date": "2024-01-05", "tags": ["bread"]}


def test_a_note_in_the_trash_is_skipped_by_name(tmp_path: Path) -> None:
    (tmp_path / "Camp.json").write_text(json.dumps(KEEP))
    (tmp_path / "Old.json").write_text(json.dumps({**KEEP, "isTrashed": True}))
    (tmp_path / "Other.json").write_text('[{"isTrashed": true}]')
    with answerable.open(":memory:") as library:
        report = library.add(tmp_path)
        assert sorted(Path(each.source).name for each in library.documents()) == ["Camp.json", "Other.json"]
    assert dict(report.skipped) == {"note in the trash": 1}
    with pytest.raises(EmptySource, match="note without text"):
        read(b'{"isTrashed": false, "textContent": " ", "title": ""}', "a.json")
