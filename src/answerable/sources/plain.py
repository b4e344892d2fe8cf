"""Text files without a format of their own → Documents: the export of a chat, or plain text."""

from __future__ import annotations

from answerable.datatypes import Document
from answerable.sources.chats.read import chat_in_text, chats_in_json
from answerable.sources.text import read_text
from answerable.sources.whatsapp.read import is_chat, read_chat


def read_plain(content: str, source: str) -> Document | list[Document]:
    """Return the documents in a decoded text. Raise EmptySource, and DamagedSource for a damaged export."""
    if found := chat_in_text(content, source) or chats_in_json(content, source):
        return found
    return read_chat(content, source) if is_chat(content) else read_text(content, source)
