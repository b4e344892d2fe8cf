"""Text without the characters that encoders, tokenizers and servers can't take. It stays as long, so spans hold."""

from __future__ import annotations


def encodable(text: str) -> str:
    """The text with a question mark for each lone surrogate, which UTF-8 can't hold."""
    return text.encode("utf-8", "replace").decode("utf-8")


def sendable(text: str) -> str:
    """The text with a question mark for each lone surrogate, and a space for each NUL."""
    return encodable(text).replace("\0", " ")
