"""Make e-mail as programs write it, for tests: messages, mailboxes, and Outlook files."""

from __future__ import annotations

import mailbox
import struct
from collections.abc import Iterable, Mapping
from contextlib import closing
from email.message import EmailMessage
from itertools import pairwise
from pathlib import Path
from typing import Any


def letter(
    text: str = "",
    *,
    sender: str = "Ana Ruiz <ana@example.org>",
    subject: str = "Boiler",
    date: str = "Tue, 05 Mar 2024 21:15:00 +0100",
    id: str = "",
    reply_to: Iterable[str] = (),
    html: str = "",
    attached: Iterable[tuple[str, bytes | str]] = (),
) -> EmailMessage:
    """A message; ids are without brackets."""
    message = EmailMessage()
    headers = {
        "From": sender,
        "To": "Ben <ben@example.org>",
        "Subject": subject,
        "Date": date,
        "Message-ID": f"<{id}>" if id else "",
        "References": " ".join(f"<{each}>" for each in reply_to),
    }
    for name, value in headers.items():
        if value:
            message[name] = value
    if text or not html:
        message.set_content(text)
    if html and text:
        message.add_alternative(html, subtype="html")
    elif html:
        message.set_content(html, subtype="html")
    for name, data in attached:
        if isinstance(data, str):
            message.add_attachment(data, filename=name)
        else:
            message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message


def write_mailbox(path: Path, messages: Iterable[EmailMessage]) -> Path:
    """A mailbox with these messages."""
    path.unlink(missing_ok=True)
    with closing(mailbox.mbox(path)) as box:
        for message in messages:
            box.add(message)
    return path


FREE, END, FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
SECTOR, SMALL_SECTOR, SMALL = 512, 64, 4096


def ole_file(tree: Mapping[str, bytes | Mapping[str, Any]]) -> bytes:
    """A compound file ([MS-CFB]) with these streams, and storages of more of them."""
    entries: list[dict[str, Any]] = [{"name": "Root Entry", "kind": 5}]
    big, small = bytearray(), bytearray()
    fat: list[int] = []
    small_fat: list[int] = []

    def put(data: bytes, into: bytearray, table: list[int], size: int) -> int:
        first, count = len(table), -(-len(data) // size)
        table.extend([*range(first + 1, first + count), END])
        into.extend(data.ljust(count * size, b"\0"))
        return first

    def add(name: str, value: bytes | Mapping[str, Any]) -> int:
        index = len(entries)
        entries.append({"name": name, "kind": 2 if isinstance(value, bytes) else 1})
        if isinstance(value, bytes):
            is_small = len(value) < SMALL
            entries[index]["size"] = len(value)
            entries[index]["start"] = (
                END if not value else put(value, small, small_fat, SMALL_SECTOR) if is_small
                else put(value, big, fat, SECTOR)
            )  # fmt: skip
        else:
            entries[index]["child"] = chain([add(*item) for item in value.items()])
        return index

    def chain(children: list[int]) -> int:
        # A list is a tree, too.
        ordered = sorted(children, key=lambda index: (len(entries[index]["name"]), entries[index]["name"].upper()))
        for one, other in pairwise(ordered):
            entries[one]["right"] = other
        return ordered[0] if ordered else FREE

    entries[0]["child"] = chain([add(*item) for item in tree.items()])
    entries[0]["size"] = len(small)
    entries[0]["start"] = put(bytes(small), big, fat, SECTOR) if small else END
    table = struct.pack(f"<{len(small_fat)}I", *small_fat)
    small_table = put(table.ljust(-(-len(table) // SECTOR) * SECTOR, b"\xff"), big, fat, SECTOR) if table else END
    packed = b"".join(map(_entry, entries))
    directory = put(packed.ljust(-(-len(packed) // SECTOR) * SECTOR, b"\0"), big, fat, SECTOR)
    own = next(count for count in range(1, 100) if (len(fat) + count) * 4 <= count * SECTOR)
    at = len(fat)
    fat.extend([FAT] * own)
    whole_fat = struct.pack(f"<{len(fat)}I", *fat).ljust(own * SECTOR, b"\xff")
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6, b"", 0, own, directory, 0, SMALL,
        small_table, -(-len(table) // SECTOR), END, 0,
    )  # fmt: skip
    places = struct.pack("<109I", *[*range(at, at + own), *[FREE] * (109 - own)])
    return header + places + bytes(big) + whole_fat


def _entry(entry: Mapping[str, Any]) -> bytes:
    name = f"{entry['name']}\0".encode("utf-16-le")
    return struct.pack(
        "<64sHBBIII16sIQQIQ",
        name, len(name), entry["kind"], 1, FREE, entry.get("right", FREE), entry.get("child", FREE), b"", 0, 0, 0,
        entry.get("start", END if entry["kind"] == 2 else 0), entry.get("size", 0),
    )  # fmt: skip


def properties(header: int, **fixed: tuple[int, int, int]) -> bytes:
    """The stream of fixed properties: type, id and value of each."""
    rows = (struct.pack("<HHIQ", kind, name, 6, value) for kind, name, value in fixed.values())
    return b"\0" * header + b"".join(rows)


def wide(**texts: str) -> dict[str, bytes]:
    """Streams of texts by property, as `p0037`."""
    return {f"__substg1.0_{name[1:].upper()}001F": text.encode("utf-16-le") for name, text in texts.items()}
