"""A span that can be quoted, in a passage that was found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from answerable.datatypes import RetrievalResult


@dataclass(frozen=True)
class Excerpt:
    """A span of a document that can be quoted, in a passage that was found."""

    result: RetrievalResult
    start: int
    end: int

    @cached_property
    def text(self) -> str:
        """Its verbatim text."""
        return self.result.document.content[self.start : self.end]
