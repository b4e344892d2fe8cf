"""A message saved by Outlook (.msg) → Documents: the message, and each file attached to it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from answerable.datatypes import Document
from answerable.errors import EncryptedSource
from answerable.sources.context import ReadContext
from answerable.sources.dispatch import load
from answerable.sources.mail.charsets import decoded
from answerable.sources.mail.contents import Attachment, safe_name
from answerable.sources.mail.headers import Headers, Person, message_id, people, thread_id, time_of
from answerable.sources.mail.letter import Letter
from answerable.sources.mail.markup import text_of_markup
from answerable.sources.mail.outlook_file import OutlookFile, codec_of, time_from
from answerable.sources.mail.outlook_file import Path as Place
from answerable.sources.mail.parse import parse_message, raw_headers
from answerable.sources.mail.read import MOST_NESTED, Contained, read_contained
from answerable.sources.members import ReadMember

_CLASS, _SUBJECT, _BODY, _MARKUP, _HEADERS, _ID = 0x001A, 0x0037, 0x1000, 0x1013, 0x007D, 0x1035
_SENDER_NAMES, _SENDER_ADDRESSES = (0x0C1A, 0x0042), (0x5D01, 0x5D02, 0x0C1F, 0x0065)
_NAMES, _ADDRESSES, _KIND_OF_RECIPIENT = (0x3001,), (0x39FE, 0x3003), 0x0C15
_TO, _COPIED = 1, 2
_SENT, _RECEIVED = 0x0039, 0x0E06
_FILE_NAMES, _DATA, _CONTENT_ID = (0x3707, 0x3704, 0x3001), 0x3701, 0x3712
_MESSAGE_INSIDE = "__substg1.0_3701000D"
_ENCRYPTED = ("ipm.note.smime",)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".emz", ".wmz")


def read_outlook(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the message and its attachments, as `read_mail` does. Raise the errors of `read_mail`."""
    opened = OutlookFile(load(file, source, context.limits.max_file_size), source)
    return read_contained(_contained(opened, (), source, context), source, read_member, context)


def _contained(file: OutlookFile, at: Place, source: str, context: ReadContext) -> Iterator[Contained]:
    numbers = file.fixed(at)
    codec = codec_of(numbers)
    if file.text(at, _CLASS).lower() in _ENCRYPTED:
        raise EncryptedSource(
            f"{source} is an encrypted message: open it in Outlook, save it decrypted, then add that file"
        )
    attached = file.inside(at, "__attach_version1.0")
    messages = [each for each in attached if file.has((*each, _MESSAGE_INSIDE))]
    files = [(each, _file_name(file, each, number)) for number, each in enumerate(attached, 1) if each not in messages]
    files = [(each, name) for each, name in files if not _is_inline_picture(file, each, name)]
    letter = _letter(file, at, numbers, codec, [name for _, name in files])
    if document := letter.document(source):
        yield document, source
    if source.count("!/") >= MOST_NESTED:
        for name in [*(name for _, name in files), *(each[-1] for each in messages)]:
            context.skipped.count("nested too deeply", f"{source}!/{name}")
        return
    for each, name in files:
        yield Attachment(name, partial(file.binary, each, _DATA)), f"{source}!/{name}"
    for number, each in enumerate(messages, 1):
        inner = (*each, _MESSAGE_INSIDE)
        name = safe_name(file.text(inner, _SUBJECT)) or f"message {number}"
        yield from _contained(file, inner, f"{source}!/{name}.msg", context)


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
        # Outlook keeps the time in UTC; the headers have that of the sender's place.
        time=time_of(headers) or time_from(numbers.get(_SENT, 0) or numbers.get(_RECEIVED, 0)),
        text=text,
        attachments=attachments,
        id=own_id,
        thread=thread_id(headers) or own_id,
    )


def _headers(file: OutlookFile, at: Place, codec: str) -> Headers:
    """Return the headers with which a message arrived; one that was never sent has none."""
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
    """Return an address of the internet; Exchange has others of its own."""
    return next((text for name in names if "@" in (text := file.text(at, name).strip())), "")


def _file_name(file: OutlookFile, at: Place, number: int) -> str:
    return safe_name(" ".join(file.text(at, *_FILE_NAMES).split())) or f"attachment {number}.bin"


def _is_inline_picture(file: OutlookFile, at: Place, name: str) -> bool:
    return name.lower().endswith(_PICTURES) and bool(file.text(at, _CONTENT_ID))
