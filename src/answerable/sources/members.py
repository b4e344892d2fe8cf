"""Files within files: the members of an archive, the messages of a mailbox, the attachments of a message."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from answerable.datatypes import Document
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import Format


class ReadMember(Protocol):
    """Reads one member of a file: its bytes, or the document that was already made of it."""

    def __call__(
        self,
        data: bytes | Document,
        source: str,
        *,
        known: Format | None = None,
        metadata: Mapping[str, Any] | None = None,
        beside: Beside | None = None,
    ) -> list[Document]:
        """Return the member's documents, with this metadata added. Raise SourceError.

        `known` is the member's format, if its name and first bytes don't tell it; `beside` returns the files beside a
        chat.
        """


ReadArchive = Callable[[Path | bytes, str, ReadMember, ReadContext], list[Document]]
"""Returns the documents of all members of a file, given its source. Those that can't be read are added to
`context.skipped`."""
