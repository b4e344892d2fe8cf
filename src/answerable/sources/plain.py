"""Text files without a format of their own → Document: a chat exported from a phone, or plain text."""

from __future__ import annotations

from answerable.datatypes import Document
from answerable.sources.text import read_text
from answerable.sources.whatsapp.read import is_chat, read_chat


def read_plain(content: str, source: str) -> Document:
    """Return the document in a decoded text. Raise EmptySource."""
    return read_chat(content, source) if is_chat(content) else read_text(content, source)
