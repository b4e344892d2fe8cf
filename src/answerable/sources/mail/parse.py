"""Bytes of a message → its tree of parts, in time that grows with their number only."""

from __future__ import annotations

import re
from collections.abc import Callable
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import EmailPolicy
from functools import lru_cache
from typing import Any

from answerable.errors import DamagedSource

# Digests of mailing lists and their bounces have some dozens.
MOST_PARTS = 1_000
# Each line is compared with the boundaries of all parts around it.
_MOST_MULTIPARTS = 100
_MULTIPART = re.compile(rb"multipart/", re.IGNORECASE)
_LONGEST_HEADER = 20_000
# Of these headers the parser reads each parameter.
_LONGEST_TYPE = 2_000
_MOST_HEADERS_LOOKED_AT = 1_000
_MAILBOX_LINE = re.compile(rb"From [^\n]*\n")
_LENGTH_LINE = re.compile(rb"(\d{1,12})[ \t]*\r?\n")


class _Tolerant(EmailPolicy):
    """The modern policy, for headers of any length and shape."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, Any]:
        """Cut a header that takes the parser of its value too long."""
        name, value = super().header_source_parse(sourcelines)
        return name, value[: _LONGEST_TYPE if name.lower().startswith("content-") else _LONGEST_HEADER]

    def header_fetch_parse(self, name: str, value: Any) -> Any:
        """Parse a header's value; one that breaks the parser stays as it is."""
        try:
            return _header(name.lower(), value)
        except Exception:
            # Depending on Python's version any error, for what is not what the standard allows.
            return " ".join(str(value).split())


_POLICY = _Tolerant()


@lru_cache(maxsize=500)
def _header(name: str, value: Any) -> Any:
    """Parse a header that many parts have alike: the parser asks for the type of each several times."""
    return EmailPolicy.header_fetch_parse(_POLICY, name, value)


def parse_message(data: bytes, source: str) -> EmailMessage:
    """Return a message, also one from a mailbox or of Apple Mail. Raise DamagedSource for one made to take long."""
    if length := _LENGTH_LINE.match(data):
        # Apple Mail writes the length of the message above it, and a list of its marks below.
        data = data[length.end() : length.end() + int(length[1])]
    elif line := _MAILBOX_LINE.match(data):
        data = data[line.end() :]
    if len(_MULTIPART.findall(data)) > _MOST_MULTIPARTS:
        raise _too_many_parts(source)
    try:
        message = BytesParser(_counted(source), policy=_POLICY).parsebytes(data)
    except RecursionError:
        raise _too_many_parts(source) from None
    assert isinstance(message, EmailMessage)
    return message


def _counted(source: str) -> Callable[..., EmailMessage]:
    made = 0

    def part(policy: EmailPolicy) -> EmailMessage:
        nonlocal made
        made += 1
        if made > MOST_PARTS:
            raise _too_many_parts(source)
        return EmailMessage(policy)

    return part


def _too_many_parts(source: str) -> DamagedSource:
    return DamagedSource(
        f"{source} has too many parts for a message: leave it out, or save its text and attachments as files and add "
        "those"
    )


def raw_headers(message: EmailMessage) -> dict[str, list[str]]:
    """Return the values of the first headers by name in lower case, as they are written."""
    found: dict[str, list[str]] = {}
    for number, (name, value) in enumerate(message.raw_items()):
        if number == _MOST_HEADERS_LOOKED_AT:
            break
        found.setdefault(name.lower(), []).append(str(value))
    return found
