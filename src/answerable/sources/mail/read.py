"""A message (RFC 5322) or a mailbox (mbox, RFC 4155) → Documents: each message, and each file attached to it.

A mailbox may exceed the limit on file size, which applies to each message, and to the text of all messages together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from email.message import Message
from email.parser import BytesHeaderParser, BytesParser
from email.policy import Compat32
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import count, pairwise
from pathlib import Path, PurePosixPath

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, SourceTooLarge
from answerable.formats.built_in import MAIL
from answerable.left_out import LeftOut, LeftOutKind
from answerable.sources.archives.members import ReadMember
from answerable.sources.context import Ocr, ReadContext
from answerable.sources.dispatch import load
from answerable.sources.formats import SAMPLE, recognise, why_unread
from answerable.sources.mail.contents import Attachment, contents_of, payload, safe_name
from answerable.sources.mail.letter import Letter, Person, decoded_words, message_id, people, thread_id, time_of

# Parts of a message: digests of mailing lists, and bounces of digests, have some dozens.
MOST_PARTS = 1_000
# Multipart types in a message: the parser compares each line with the boundaries of all parts around it.
_MOST_MULTIPARTS = 100
_MULTIPART = re.compile(rb"multipart/", re.IGNORECASE)
_LONGEST_HEADER = 20_000  # characters; a round number, not measured
# Maximum characters of a header with parameters, such as Content-Type: the parser reads every parameter.
_LONGEST_TYPE = 2_000
_MOST_HEADERS_LOOKED_AT = 1_000  # headers of one message; a round number, not measured
_LENGTH_LINE = re.compile(rb"(\d{1,12})[ \t]*\r?\n")
_MOST_NESTED = 5  # levels of messages inside messages
_MEMBER = "!/"
_ENCRYPTED_TEXT = "-----BEGIN PGP MESSAGE-----"
Contained = tuple[Document | Attachment, str]
"""A document or a file in a message, and its source."""


def read_mail(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the message and its attachments, which have the message's source as `message` in their metadata.

    Attachments that can't be read are added to `context.skipped`. Raise EncryptedSource; EmptySource if the message is
    empty; DamagedSource if it has too many parts to parse quickly.
    """
    message = parse_message(load(file, source, context.limits.max_file_size), source)
    return read_contained(_contained(message, source, context), source, read_member, context)


def read_contained(
    contained: Iterable[Contained], source: str, read_member: ReadMember, context: ReadContext
) -> list[Document]:
    """Read the documents and files in a message. Raise EmptySource if there are none."""
    documents: list[Document] = []
    names: dict[str, int] = {}
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
            if reason := _reason_to_skip(data, name, context.ocr):
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


def _contained(message: Message, source: str, context: ReadContext) -> Iterator[Contained]:
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
        subject=decoded_words(headers.get("subject", [""])[0]),
        time=time_of(headers, message.get_unixfrom() or ""),
        text=text,
        attachments=[each.name for each in contents.attachments],
        id=message_id(headers),
        thread=thread_id(headers),
    )
    inside = [(name, partial(_contained, inner)) for name, inner in contents.messages]
    return in_order(letter, contents.attachments, inside, source, context)


def in_order(
    letter: Letter,
    attachments: Sequence[Attachment],
    inside: Sequence[tuple[str, Callable[[str, ReadContext], Iterator[Contained]]]],
    source: str,
    context: ReadContext,
) -> Iterator[Contained]:
    """Yield a message's text, then its attachments, then the contents of each message inside it."""
    is_deep = source.count(_MEMBER) >= _MOST_NESTED
    if document := letter.document(source):
        unread = (each.name for each in attachments if is_deep or _reason_to_skip(each.data(), each.name, context.ocr))
        yield replace(document, left_out=tuple(LeftOut.named(LeftOutKind.ATTACHMENT, unread))), source
    if is_deep:
        for name in [*(each.name for each in attachments), *(name for name, _ in inside)]:
            context.skipped.count("nested too deeply", f"{source}{_MEMBER}{name}")
        return
    for attachment in attachments:
        yield attachment, f"{source}{_MEMBER}{attachment.name}"
    for name, contents in inside:
        yield from contents(f"{source}{_MEMBER}{name}", context)


def _reason_to_skip(data: bytes, name: str, ocr: Ocr | None) -> str:
    """Return why an attachment is skipped, or ""."""
    if not data:
        return "empty"
    reason = why_unread(data[:SAMPLE], name, ocr)
    return reason or ("archive in a message" if recognise(data[:SAMPLE], name).is_archive else "")


def _unused(place: str, names: dict[str, int]) -> str:
    """Return a source that no other attachment of the message has, `photo (2).jpg`; `names` has the last numbers."""
    name, suffix = place, PurePosixPath(place).suffix
    while name in names:
        names[place] += 1
        name = f"{place.removesuffix(suffix)} ({names[place]}){suffix}"
    names[name] = 1
    return name


class _Tolerant(Compat32):
    """Python's lenient policy, which accepts headers of any shape, changed to cut those that take it too long."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[: _LONGEST_TYPE if name.lower().startswith("content-") else _LONGEST_HEADER]

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the header as written: bytes beyond ASCII are decoded later, with its encoded words."""
        return value


def parse_message(data: bytes, source: str) -> Message:
    """Parse a message, also from a mailbox or from Apple Mail. Raise DamagedSource if it has too many parts."""
    if length := _LENGTH_LINE.match(data):
        # Apple Mail writes the length of the message above it, and a list of the message's flags below it.
        data = data[length.end() : length.end() + int(length[1])]
    if len(_MULTIPART.findall(data)) > _MOST_MULTIPARTS:
        raise _too_many_parts(source)
    try:
        return BytesParser(_part_factory(source), policy=_Tolerant()).parsebytes(data)
    except RecursionError:
        raise _too_many_parts(source) from None


def _part_factory(source: str) -> Callable[..., Message]:
    made = count(1)

    def part(policy: Compat32) -> Message:
        if next(made) > MOST_PARTS:
            raise _too_many_parts(source)
        return Message(policy)

    return part


def _too_many_parts(source: str) -> DamagedSource:
    return DamagedSource(
        f"{source} has too many parts for a message: leave it out, or save its text and attachments as files and add "
        "those"
    )


def raw_headers(message: Message) -> dict[str, list[str]]:
    """Return the values of the first headers as written, by the header's name in lower case."""
    found: dict[str, list[str]] = {}
    for number, (name, value) in enumerate(message.raw_items()):
        if number == _MOST_HEADERS_LOOKED_AT:
            break
        found.setdefault(name.lower(), []).append(str(value))
    return found


_BLOCK = 16_000_000  # bytes of a mailbox in memory at a time
# Not all programs write an empty line between messages, and a line of text may also begin with "From ": but then it
# has no time and year, or no headers of a message below it.
_BETWEEN = re.compile(
    rb"\n(?P<line>From (?:-? ?|[^\s@]{1,300}@\S{1,300}"
    rb"|(?=[^\n]{0,400}\b[12]\d{3}\b)[^\n]{0,300}\d:\d\d[^\n]{0,100})\r?\n)"
    rb"(?=(?:>?From [^\n]*\n)?(?![ \t])(?:(?:[!-9;-~]{1,70}:|[ \t])[^\n]*\n){0,1000}?"
    rb"(?i:from|sender|date|subject|received|message-id):)"
)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEAD = 50_000  # first bytes of a message, in which its ids are looked for


def read_mailbox(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the messages of a mailbox and their attachments. What can't be read is added to `context.skipped`.

    The source of a message ends in its id; `mailbox` in its metadata is the mailbox's source. Raise DamagedSource for a
    file that isn't a mailbox.
    """
    documents: list[Document] = []
    copies: dict[str, set[bytes]] = {}
    threads: dict[str, str] = {}
    left = context.limits.max_file_size
    for data in _messages(file, source, context.limits.max_file_size):
        digest = sha256(data[data.find(b"\n") + 1 :].rstrip()).digest()
        data = _ESCAPED.sub(rb"\1", data)
        headers = raw_headers(BytesHeaderParser(policy=_Tolerant()).parsebytes(data[:_HEAD]))
        # Messages are named by their ids, which stay the same if other messages are deleted.
        name = safe_name(message_id(headers).replace("/", "_"))[:200] or digest.hex()[:16]
        known = copies.setdefault(name, set())
        if digest in known:
            context.skipped.count("already read under another name", f"{source}!/{name}")
            continue
        known.add(digest)
        name = name if len(known) == 1 else f"{name} ({len(known)})"
        place = f"{source}!/{name}"
        own = message_id(headers) or name
        before = thread_id(headers) or own
        metadata = {"mailbox": source, "thread": threads.setdefault(own, threads.get(before, before))}
        try:
            read = read_member(data, place, known=MAIL, metadata=metadata)
        except EmptySource:
            context.skipped.count("empty", place)
            continue
        except SourceError as error:
            context.skipped.errors.append(error)
            continue
        left -= sum(len(each.content) for each in read)
        if left < 0:
            raise SourceTooLarge(
                f"{source} holds over {context.limits.max_file_size:,} characters of text: split it, or raise the "
                "setting max_file_size"
            )
        documents += read
    return documents


def _messages(file: Path | bytes, source: str, limit: int) -> Iterator[bytes]:
    """Yield the bytes of each message, with its "From " line. Raise SourceTooLarge for a message over the limit."""
    with BytesIO(file) if isinstance(file, bytes) else file.open("rb") as stream:
        buffer = stream.read(_BLOCK)
        if not buffer.startswith(b"From "):
            raise DamagedSource(f"{source} doesn't begin as a mailbox does: export it again from your mail program")
        while True:
            starts = [0, *(match.start("line") for match in _BETWEEN.finditer(buffer))]
            yield from (buffer[start:end] for start, end in pairwise(starts))
            last, block = buffer[starts[-1] :], stream.read(_BLOCK)
            if not block:
                yield last
                return
            if len(last) > limit:
                raise SourceTooLarge(
                    f"{source} has a message of over {limit:,} bytes: split it, or raise the setting max_file_size"
                )
            buffer = last + block


def read_mhtml(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the document in a page saved with its parts as one file (RFC 2557). Raise as `read_html` does."""
    from answerable.sources.html.read import read_html
    from answerable.sources.html.web_address import is_site

    message = parse_message(data, source)
    kinds = ("text/html", "application/xhtml+xml")
    page = next((part for part in message.walk() if part.get_content_type() in kinds), None)
    if page is None:
        raise EmptySource(f"{source} holds no page: save the page again from the browser, then add that file")
    address = page.get("content-location") or message.get("snapshot-content-location") or ""
    return read_html(payload(page), source, str(address) if is_site(str(address)) else "")
