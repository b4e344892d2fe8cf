"""A source as somebody else would write it: one function, from the path of a mailbox to its messages."""

from __future__ import annotations

import mailbox
import os
from collections.abc import Iterator
from email.message import Message

from answerable import Document
from answerable.errors import SourceNotFound


def read_mail(path: str) -> Iterator[Document]:
    """Yield each message of an mbox file."""
    if not os.path.isfile(path):
        raise SourceNotFound(f"There is no mailbox at {path}: check the path.")
    for message in mailbox.mbox(path, create=False):
        yield Document.from_text(
            _text(message),
            source=f"{os.path.abspath(path)}!/{message['Message-ID']}",
            title=str(message["Subject"] or ""),
            sender=str(message["From"] or ""),
        )


def _text(message: Message) -> str:
    for part in message.walk():
        if part.get_content_type() == "text/plain":
            payload = part.get_payload(decode=True)
            assert isinstance(payload, bytes)
            return payload.decode(part.get_content_charset("utf-8"), "replace").replace("\r\n", "\n")
    return ""
