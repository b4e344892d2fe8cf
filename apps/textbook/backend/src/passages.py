"""A passage of the book, as it is stored, found and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import NAMESPACE_URL, uuid5

PLACE = ("source", "chapter", "section")
KEYS = ("text", *PLACE)

Place = tuple[str, str, str]
"""Source, chapter and section."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A text with the file that it stands in, that file's title, and the headings over it, joined by " › "."""

    text: str
    source: str
    chapter: str
    section: str

    @classmethod
    def of(cls, payload: Mapping[str, Any]) -> Passage:
        """The passage in a point's payload, or in what retrieval gave."""
        return cls(*(str(payload.get(key) or "") for key in KEYS))

    @property
    def place(self) -> Place:
        """What filters narrow by."""
        return self.source, self.chapter, self.section

    @property
    def label(self) -> str:
        """`<chapter title> › <section>`; the chapter alone without a section, the file without either."""
        return " › ".join(filter(None, (self.chapter, self.section))) or self.source

    @property
    def indexed(self) -> str:
        """What is embedded: the passage under its label."""
        return f"{self.label}\n{self.text}"

    def payload(self) -> dict[str, str]:
        """The four keys that retrieval gives out."""
        return {key: getattr(self, key) for key in KEYS}


@dataclass(frozen=True, slots=True)
class Row:
    """A passage that is to be stored, with what made its vector.

    `id` follows from all of it and from which of equal ones in the book it is; `hash` from what the vector depends on.
    """

    passage: Passage
    embedder: str
    hash: str
    id: str

    def payload(self) -> dict[str, str]:
        """What is stored beside the vector."""
        return {**self.passage.payload(), "embedder": self.embedder, "hash": self.hash}


def rows(passages: list[Passage], embedder: str) -> Iterator[Row]:
    """The passages of a book as they are to be stored, in order."""
    seen: dict[str, int] = {}
    for passage in passages:
        digest = sha256(f"{embedder}\0{passage.indexed}".encode("utf-8", "replace")).hexdigest()
        identity = f"{passage.source}\0{digest}"
        number = seen[identity] = seen.get(identity, -1) + 1
        yield Row(passage, embedder, digest, str(uuid5(NAMESPACE_URL, f"{identity}\0{number}")))
