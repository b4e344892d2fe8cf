"""Headers of a message → its subject, people, time and thread.

The values are read as they are written rather than by the standard's grammar: half of the mail in old mailboxes breaks
it in some way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.errors import MessageError
from email.header import decode_header
from email.utils import parsedate_to_datetime

from answerable.sources.mail.charsets import decoded
from answerable.text.characters import printable_line

Headers = Mapping[str, Sequence[str]]

_MOST_PEOPLE = 500
_LONGEST_ID = 300
# Bounded, or the time for marks that aren't closed grows with the square of their number.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.){0,500}"|<[^<>]{0,500}>|\([^()]{0,500}\)|[,;]|[^",;<(]+|["<(]')
_ESCAPED = re.compile(r"\\(.)")
_ADDRESS = re.compile(r"[^\s<>@]+@[^\s<>@]+")
_ID = re.compile(r"<\s*([^<>\s]+)\s*>")


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody in a header: a name, an address, or both."""

    name: str = ""
    address: str = ""

    def __str__(self) -> str:
        """Return the name and the address as mail programs show them."""
        return f"{self.name} <{self.address}>" if self.name and self.address else self.shown

    @property
    def shown(self) -> str:
        """The name, or the address of somebody without."""
        return self.name or self.address


def text_of(headers: Headers, name: str) -> str:
    """Return the text of a header on one line, or ""."""
    values = headers.get(name) or [""]
    return decoded_words(values[0])


def decoded_words(value: str) -> str:
    """Return a header's value on one line, with its encoded words decoded."""
    value = re.sub(r"\r?\n[ \t]*", " ", value)
    if "=?" in value:
        with suppress(MessageError, ValueError):
            value = "".join(_piece(piece, charset) for piece, charset in decode_header(value))
    return printable_line(_without_surrogates(value))


def _piece(piece: bytes | str, charset: str | None) -> str:
    return piece if isinstance(piece, str) else decoded(piece, charset or "")


def _without_surrogates(value: str) -> str:
    """Decode the bytes beyond ASCII that the parser kept as lone surrogates."""
    return value if value.isascii() else decoded(value.encode("utf-8", "surrogateescape"), "")


def people(headers: Headers, name: str) -> list[Person]:
    """Return the people in a header, without groups that hide them ("undisclosed-recipients:;")."""
    found = (person for value in headers.get(name, ()) for person in _people(value))
    return [person for person, _ in zip(found, range(_MOST_PEOPLE), strict=False)]


def _people(value: str) -> Iterator[Person]:
    words: list[str] = []
    address = comment = ""
    for token in [*_TOKEN.findall(value), ","]:
        if token in (",", ";"):
            if person := _person(words, address, comment):
                yield person
            words, address, comment = [], "", ""
        elif token.startswith("<") and len(token) > 1:
            address = token[1:-1].strip()
        elif token.startswith("(") and len(token) > 1:
            comment = token[1:-1]
        elif token.startswith('"') and len(token) > 1:
            words.append(_ESCAPED.sub(r"\1", token[1:-1]))
        else:
            # A group begins with its name and a colon.
            words.append(token.rpartition(":")[2] if ":" in token and "=?" not in token else token)


def _person(words: Sequence[str], address: str, comment: str) -> Person | None:
    name = decoded_words(" ".join(words)).strip(" '\"")
    address = _line(address)
    if not address and (bare := _ADDRESS.search(name)):
        address, name = bare[0], decoded_words(comment)
    if name.casefold() == address.casefold():
        name = ""
    return Person(name, address) if name or address else None


def _line(text: str) -> str:
    return printable_line(_without_surrogates(text))


def time_of(headers: Headers) -> datetime | None:
    """Return when a message was sent, in local time of its sender; without a date, when it was received."""
    dates = [value[:200] for value in headers.get("date", ())]
    received = [value[-200:].rpartition(";")[2] for value in headers.get("received", ())[:1]]
    for value in (*dates, *received):
        with suppress(TypeError, ValueError, IndexError, OverflowError):
            return parsedate_to_datetime(" ".join(value.split())).replace(tzinfo=None, microsecond=0)
    return None


def message_id(headers: Headers) -> str:
    """Return the id of a message, or ""."""
    return next(iter(_ids(headers, "message-id")), "")


def thread_id(headers: Headers) -> str:
    """Return the id of the message that began the thread, as far as this one tells, or ""."""
    roots = (_ids(headers, name) for name in ("references", "in-reply-to", "message-id"))
    return next((ids[0] for ids in roots if ids), "")


def _ids(headers: Headers, name: str) -> list[str]:
    value = " ".join(headers.get(name, ())[:1])
    found = _ID.findall(value) or value.split()[:1]
    return [_line(each)[:_LONGEST_ID] for each in found[:1]]
