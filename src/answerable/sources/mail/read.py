"""A message (RFC 5322) → Documents: the message, and each file attached to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from email.message import EmailMessage
from pathlib import Path, PurePosixPath

from answerable.datatypes import Document
from answerable.errors import EmptySource, EncryptedSource, SourceError
from answerable.sources.context import ReadContext
from answerable.sources.dispatch import load
from answerable.sources.formats import SAMPLE, Format, recognise, why_unread
from answerable.sources.mail.contents import Attachment, contents_of
from answerable.sources.mail.headers import Person, message_id, people, text_of, thread_id, time_of
from answerable.sources.mail.letter import Letter
from answerable.sources.mail.parse import parse_message, raw_headers
from answerable.sources.members import ReadMember

MOST_NESTED = 5
"""How deep messages in messages are followed."""
_MEMBER = "!/"
_ENCRYPTED_TEXT = "-----BEGIN PGP MESSAGE-----"

Contained = tuple[Document | Attachment, str]
"""A document or a file in a message, and its source."""


def read_mail(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the message and its attachments; these have its source as `message` in their metadata.

    Attachments that can't be read are added to `context.skipped`. Raise EncryptedSource; EmptySource if there is
    nothing in it; DamagedSource if it is made to take long.
    """
    message = parse_message(load(file, source, context.limits.max_file_size), source)
    return read_contained(_contained(message, source, context), source, read_member, context)


def read_contained(
    contained: Iterable[Contained], source: str, read_member: ReadMember, context: ReadContext
) -> list[Document]:
    """Read what a message contains. Raise EmptySource if that is nothing."""
    documents: list[Document] = []
    names: set[str] = set()
    is_empty = True
    for each, place in contained:
        is_empty = False
        try:
            if isinstance(each, Document):
                inside = {"message": place.rpartition(_MEMBER)[0]} if place != source else {}
                documents += read_member(each, place, metadata=inside)
                continue
            name = _unused(place, names)
            data = each.data()
            if reason := _reason_to_skip(data, name):
                context.skipped.count(reason, name)
            else:
                documents += read_member(data, name, metadata={"message": place.rpartition(_MEMBER)[0]})
        except EmptySource:
            context.skipped.count("empty", place)
        except SourceError as error:
            context.skipped.errors.append(error)
    if is_empty:
        raise EmptySource(f"{source} is a message without text and attachments: leave it out")
    return documents


def _contained(message: EmailMessage, source: str, context: ReadContext) -> Iterator[Contained]:
    """Yield what is in a message, and in the messages in it: first its text, with what is attached to it."""
    headers, contents = raw_headers(message), contents_of(message)
    text = contents.text
    if (contents.is_encrypted and not text) or text.lstrip().startswith(_ENCRYPTED_TEXT):
        raise EncryptedSource(
            f"{source} is an encrypted message: open it in your mail program, save it decrypted, then add that file"
        )
    letter = Letter(
        sender=next(iter(people(headers, "from") or people(headers, "sender")), Person()),
        to=people(headers, "to"),
        copied=people(headers, "cc"),
        subject=text_of(headers, "subject"),
        time=time_of(headers),
        text=text,
        attachments=[each.name for each in contents.attachments],
        id=message_id(headers),
        thread=thread_id(headers),
    )
    if document := letter.document(source):
        yield document, source
    inside = [*(each.name for each in contents.attachments), *(name for name, _ in contents.messages)]
    if source.count(_MEMBER) >= MOST_NESTED:
        for name in inside:
            context.skipped.count("nested too deeply", f"{source}{_MEMBER}{name}")
        return
    for attachment in contents.attachments:
        yield attachment, f"{source}{_MEMBER}{attachment.name}"
    for name, inner in contents.messages:
        yield from _contained(inner, f"{source}{_MEMBER}{name}", context)


def _reason_to_skip(data: bytes, name: str) -> str:
    """Return why an attachment is skipped, or ""."""
    if not data:
        return "empty"
    if reason := why_unread(data[:SAMPLE], name):
        return reason
    return "archive in a message" if recognise(data[:SAMPLE], name) is Format.ZIP else ""


def _unused(place: str, names: set[str]) -> str:
    """Return a source that no other attachment of the message has: `photo (2).jpg`."""
    name, number = place, 1
    while name in names:
        number += 1
        path = PurePosixPath(place)
        name = f"{place.removesuffix(path.suffix)} ({number}){path.suffix}"
    names.add(name)
    return name
