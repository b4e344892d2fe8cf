"""A message saved by Outlook (.msg, [MS-OXMSG]) → Documents: the message, and each file attached to it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EncryptedSource
from answerable.sources.archives.members import ReadMember
from answerable.sources.context import ReadContext
from answerable.sources.dispatch import load
from answerable.sources.mail.contents import Attachment, safe_name, text_of_markup
from answerable.sources.mail.letter import Headers, Letter, Person, decoded, message_id, people, thread_id, time_of
from answerable.sources.mail.read import Contained, in_order, parse_message, raw_headers, read_contained

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]

Place = tuple[str, ...]
_ENTRY = struct.Struct("<HHIQ")
# Bytes before the properties of the file, of a message in it, and of recipients and attachments.
_BEFORE_PROPERTIES = {"": 32, "message": 24, "other": 8}
_TIME, _NUMBER = 0x0040, 0x0003  # types of values ([MS-OXCDATA])
# Bytes to read, in multiples of the file's size: streams may share bytes, and so be far larger than the file.
_MOST_READ = 4
_SPARE = 1_000_000  # bytes added to that limit, for small files
# Properties by their ids ([MS-OXPROPS]).
_CLASS, _SUBJECT, _BODY, _MARKUP, _HEADERS, _ID = 0x001A, 0x0037, 0x1000, 0x1013, 0x007D, 0x1035
_SENDER_NAMES, _SENDER_ADDRESSES = (0x0C1A, 0x0042), (0x5D01, 0x5D02, 0x0C1F, 0x0065)  # the preferred property first
_NAMES, _ADDRESSES, _KIND_OF_RECIPIENT = (0x3001,), (0x39FE, 0x3003), 0x0C15  # properties of recipients
_TO, _COPIED = 1, 2  # kinds of recipients
_SENT, _RECEIVED = 0x0039, 0x0E06  # properties with times
_FILE_NAMES, _DATA, _CONTENT_ID = (0x3707, 0x3704, 0x3001), 0x3701, 0x3712  # properties of attachments
_MESSAGE_INSIDE = "__substg1.0_3701000D"
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emz", ".wmz")


def read_outlook(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the message and its attachments, as `read_mail` does. Raise the errors of `read_mail`."""
    opened = OutlookFile(load(file, source, context.limits.max_file_size), source)
    return read_contained(_contained(opened, (), source, context), source, read_member, context)


def _contained(file: OutlookFile, at: Place, source: str, context: ReadContext) -> Iterator[Contained]:
    numbers = file.fixed(at)
    # The code page of the message's strings.
    codec = next((f"cp{numbers[name] & 0xFFFF}" for name in (0x3FFD, 0x3FDE) if name in numbers), "")
    if file.text(at, _CLASS).lower() == "ipm.note.smime":
        raise EncryptedSource(
            f"{source} is an encrypted message: open it in Outlook, save it decrypted, then add that file"
        )
    attached = file.inside(at, "__attach_version1.0")
    messages = [each for each in attached if (*each, _MESSAGE_INSIDE) in file.known]
    files = [(each, _file_name(file, each, number)) for number, each in enumerate(attached, 1) if each not in messages]
    files = [(each, name) for each, name in files if not _is_inline_picture(file, each, name)]
    letter = _letter(file, at, numbers, codec, [name for _, name in files])
    attachments = [Attachment(name, partial(file.binary, each, _DATA)) for each, name in files]
    inside = []
    for number, each in enumerate(messages, 1):
        inner = (*each, _MESSAGE_INSIDE)
        name = safe_name(file.text(inner, _SUBJECT)) or f"message {number}"
        inside.append((f"{name}.msg", partial(_contained, file, inner)))
    return in_order(letter, attachments, inside, source, context)


def _letter(file: OutlookFile, at: Place, numbers: dict[int, int], codec: str, attachments: list[str]) -> Letter:
    headers = _headers(file, at, codec)
    sender = Person(file.text(at, *_SENDER_NAMES, codec=codec).strip(), _address(file, at, _SENDER_ADDRESSES))
    text = file.text(at, _BODY, codec=codec)
    if not text.strip():
        markup = file.binary(at, _MARKUP)
        text = text_of_markup(decoded(markup, codec) if markup else file.text(at, _MARKUP, codec=codec))
    own_id = message_id(headers) or file.text(at, _ID).strip("<> ")
    return Letter(
        sender=next(iter(people(headers, "from")), sender),
        to=people(headers, "to") or _recipients(file, at, _TO, codec),
        copied=people(headers, "cc") or _recipients(file, at, _COPIED, codec),
        subject=" ".join(file.text(at, _SUBJECT, codec=codec).split()),
        # The headers have the sender's local time; Outlook's own properties are in UTC.
        time=time_of(headers) or time_from(numbers.get(_SENT, 0) or numbers.get(_RECEIVED, 0)),
        text=text,
        attachments=attachments,
        id=own_id,
        thread=thread_id(headers) or own_id,
    )


def _headers(file: OutlookFile, at: Place, codec: str) -> Headers:
    """Return the headers with which a message arrived; a message that was never sent has none."""
    text = file.text(at, _HEADERS, codec=codec)
    return raw_headers(parse_message(f"{text.strip()}\n\n".encode(), "")) if text.strip() else {}


def _recipients(file: OutlookFile, at: Place, kind: int, codec: str) -> list[Person]:
    found = file.inside(at, "__recip_version1.0")
    return [
        Person(file.text(each, *_NAMES, codec=codec).strip(), _address(file, each, _ADDRESSES))
        for each in found
        if file.fixed(each).get(_KIND_OF_RECIPIENT, _TO) == kind
    ]


def _address(file: OutlookFile, at: Place, names: tuple[int, ...]) -> str:
    """Return an internet address, or ""; Exchange also stores addresses in a format of its own."""
    return next((text for name in names if "@" in (text := file.text(at, name).strip())), "")


def _file_name(file: OutlookFile, at: Place, number: int) -> str:
    return safe_name(" ".join(file.text(at, *_FILE_NAMES).split())) or f"attachment {number}.bin"


def _is_inline_picture(file: OutlookFile, at: Place, name: str) -> bool:
    return name.lower().endswith(_PICTURES) and bool(file.text(at, _CONTENT_ID))


class OutlookFile:
    """An open file of Outlook. Raise DamagedSource if it can't be opened, or if its streams are too large."""

    def __init__(self, data: bytes, source: str) -> None:
        import olefile

        self._source = source
        self._left = _MOST_READ * len(data) + _SPARE
        try:
            self._file: OleFileIO = olefile.OleFileIO(BytesIO(data))
            self._names = [tuple(each) for each in self._file.listdir(streams=True, storages=True)]
        except (Exception, RecursionError) as error:
            # olefile raises any exception that a damaged structure leads to.
            raise self.damaged(str(error)[:200]) from error
        self.known = set(self._names)

    def damaged(self, reason: str) -> DamagedSource:
        """Return the error for a file that is damaged."""
        return DamagedSource(
            f"{self._source} is not a readable message of Outlook ({reason}): save it again from Outlook, or as .eml"
        )

    def inside(self, path: Place, prefix: str) -> list[Place]:
        """Return the storages inside `path` whose names begin with `prefix`: recipients, or attachments."""
        found = (each for each in self._names if len(each) == len(path) + 1 and each[:-1] == path)
        return sorted(each for each in found if each[-1].startswith(prefix))[:1_000]

    def stream(self, path: Place) -> bytes:
        """Return the bytes of a stream, or b"" if it can't be read."""
        if path not in self.known:
            return b""
        data = b""
        # The exceptions that olefile raises for a damaged container.
        of_damage = (OSError, ValueError, LookupError, OverflowError, struct.error)
        with suppress(*of_damage), self._file.openstream(list(path)) as stream:
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise self.damaged("its parts are larger than the file")
        return bytes(data)

    def fixed(self, path: Place) -> dict[int, int]:
        """Return the numbers and times of a storage, by the id of their property."""
        kind = "" if not path else "message" if path[-1].endswith("000D") else "other"
        data = self.stream((*path, "__properties_version1.0"))[_BEFORE_PROPERTIES[kind] :]
        whole = data[: len(data) // _ENTRY.size * _ENTRY.size]
        entries = _ENTRY.iter_unpack(whole)
        return {name: value for form, name, _, value in entries if form in (_TIME, _NUMBER)}

    def text(self, path: Place, *names: int, codec: str = "") -> str:
        """Return the text of the first of these properties that isn't empty."""
        for name in names:
            wide = self.stream((*path, f"__substg1.0_{name:04X}001F"))
            if text := wide.decode("utf-16-le", "replace") or decoded(
                self.stream((*path, f"__substg1.0_{name:04X}001E")), codec
            ):
                return decoded(text.encode("utf-8", "replace"), "utf-8").rstrip("\0")
        return ""

    def binary(self, path: Place, name: int) -> bytes:
        """Return the bytes of a property."""
        return self.stream((*path, f"__substg1.0_{name:04X}0102"))


def time_from(ticks: int) -> datetime | None:
    """Return a time in UTC from ticks of 100 ns since 1601."""
    try:
        return datetime(1601, 1, 1) + timedelta(seconds=ticks // 10_000_000) if ticks else None
    except OverflowError:
        return None
