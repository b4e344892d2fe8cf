"""A mailbox (mbox, RFC 4155) → Documents: each message and its attachments.

A mailbox may be larger than the limit on a file, which applies to each message and to all that is read of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import IO

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EmptySource, SourceError, SourceTooLarge
from answerable.sources.context import ReadContext
from answerable.sources.formats import Format
from answerable.sources.mail.contents import safe_name
from answerable.sources.members import ReadMember
from answerable.text.characters import printable_line

_BLOCK = 16_000_000
# A line of a text may begin like this; then no time is in it, or no header below it.
_BETWEEN = re.compile(
    rb"\n\r?\n(?P<line>From (?:[^\n]{0,300}\d\d:\d\d[^\n]{0,100}|- ?)?\r?\n)(?=(?:>?From [^\n]*\n)?[!-9;-~]{1,70}:)"
)
_ESCAPED = re.compile(rb"^>(>*From )", re.MULTILINE)
_HEAD = 50_000
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_FIELD = re.compile(rb"^(message-id|references|in-reply-to):((?:[^\n]|\n[ \t])*)", re.IGNORECASE | re.MULTILINE)
_ID = re.compile(rb"<\s*([^<>\s]{1,300})")
_LONGEST_NAME = 200


def read_mailbox(file: Path | bytes, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the messages of a mailbox and their attachments; those that can't be read are added to `context.skipped`.

    The source of a message ends in its id; `mailbox` in its metadata is that of the mailbox. Raise DamagedSource for a
    file that is none.
    """
    documents: list[Document] = []
    names, threads = _Names(), _Threads()
    left = context.limits.max_file_size
    for data in _messages(file, source, context.limits.max_file_size):
        ids = _ids(data)
        own = next(iter(ids.get("message-id", ())), "")
        name = names.name(data, own)
        place = f"{source}!/{name or own}"
        if not name:
            context.skipped.count("already read under another name", place)
            continue
        metadata = {"mailbox": source, "thread": threads.root(ids, name)}
        try:
            read = read_member(_ESCAPED.sub(rb"\1", data), place, known=Format.MAIL, metadata=metadata)
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
    """Yield the bytes of each message, with the line above it. Raise SourceTooLarge for one over the limit."""
    with _opened(file, source) as stream:
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


def _opened(file: Path | bytes, source: str) -> IO[bytes]:
    if isinstance(file, bytes):
        return BytesIO(file)
    try:
        return file.open("rb")
    except OSError as error:
        raise SourceError(f"{source} can't be read ({error}): check the path and the disk, then try again") from error


def _ids(data: bytes) -> dict[str, list[str]]:
    """Return the ids in the headers that name this message and those before it, by header in lower case."""
    end = _END_OF_HEAD.search(data, 0, _HEAD)
    found = _FIELD.finditer(data, 0, end.start() if end else _HEAD)
    return {
        match[1].decode().lower(): [each.decode("ascii", "replace") for each in _ID.findall(match[2])]
        for match in found
    }


class _Names:
    """Names messages by their ids, which stay when others are deleted."""

    def __init__(self) -> None:
        self._seen: dict[str, set[bytes]] = {}

    def name(self, data: bytes, message_id: str) -> str:
        """Return a name that no other message has, or "" for a copy of another."""
        digest = sha256(data[data.find(b"\n") + 1 :].rstrip()).digest()
        name = safe_name(printable_line(message_id).replace("/", "_"))[:_LONGEST_NAME] or digest.hex()[:16]
        copies = self._seen.setdefault(name, set())
        if digest in copies:
            return ""
        copies.add(digest)
        return name if len(copies) == 1 else f"{name} ({len(copies)})"


class _Threads:
    """The id of each thread's first message, as far as messages name those before them."""

    def __init__(self) -> None:
        self._roots: dict[str, str] = {}

    def root(self, ids: Mapping[str, Sequence[str]], name: str) -> str:
        """Return the thread of a message."""
        own = next(iter(ids.get("message-id", ())), name)
        before = next((found[0] for key in ("references", "in-reply-to") if (found := ids.get(key))), own)
        return self._roots.setdefault(own, self._roots.get(before, before))
