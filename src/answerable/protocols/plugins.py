"""What plug-ins offer: functions or classes that make a part of the library. See docs/extending.md."""

from __future__ import annotations

from typing import Protocol

from answerable.protocols.answering import Answerer, ChatModel
from answerable.protocols.passages import Embedder, TextSplitter
from answerable.protocols.stores import CoreStore


class SplitterFactory(Protocol):
    """Makes the splitter of a format or document type: the entry point's name."""

    def __call__(self, chunk_size: int, chunk_overlap: int) -> TextSplitter:
        """Return a splitter; the sizes are in characters."""


class EmbedderFactory(Protocol):
    """Makes the embedder of the setting `embedder`: NAME or NAME:MODEL, NAME being the entry point's name."""

    def __call__(self, model: str) -> Embedder:
        """Return the embedder with this model, "" for its default. Raise SettingsError."""


class StoreFactory(Protocol):
    """Makes the store at a library's address SCHEME://…, SCHEME being the entry point's name."""

    def __call__(self, address: str, create: bool) -> CoreStore:
        """Return the store at the whole address. Raise LibraryNotFound if there is none and it isn't to be created."""


class AnswererFactory(Protocol):
    """Makes what answers with the setting `model`: NAME or NAME:MODEL, NAME being the entry point's name."""

    def __call__(self, model: str) -> Answerer | ChatModel:
        """Return an answerer, or a chat model whose drafts are checked like those of the others."""
