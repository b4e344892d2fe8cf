"""What people call a document, where its source is what programs know it by."""

from __future__ import annotations

from typing import Protocol

from answerable.datatypes import DocumentType


class Named(Protocol):
    """A document, its description, or a quote of it."""

    @property
    def source(self) -> str:
        """Its path, `archive.zip!/member` or URL."""

    @property
    def title(self) -> str:
        """Its title; of a message, the subject."""

    @property
    def type(self) -> str:
        """Its `DocumentType`."""


def shown_name(found: Named) -> str:
    """Return a message's subject, a page's title, or the name of any other file."""
    has_file_name = found.source and "://" not in found.source and found.type != DocumentType.MAIL
    return found.source.rpartition("/")[2] if has_file_name else found.title or found.source or "untitled"


def shown_source(found: Named) -> str:
    """Return the source; of a message in a mailbox only the mailbox, since the rest is the message's id."""
    return found.source.partition("!/")[0] if found.type == DocumentType.MAIL else found.source
