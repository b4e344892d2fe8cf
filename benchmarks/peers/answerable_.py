"""Answerable: a library in a folder with the default settings."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from answerable import Document, Library
from answerable.datatypes import FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.settings import Settings
from answerable.wiring.build import build_answerer, build_reader, build_splitter, build_store
from peers.interface import Embedder, Found, Text


def build(folder: Path, language: str, embedder: Embedder) -> Answerable:
    """An empty library in the folder."""
    return Answerable(folder, embedder)


class Answerable:
    """The library."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        settings = Settings()
        remote = _Embedder(embedder)
        self._library = Library(
            build_store(str(folder)),
            remote,
            build_splitter(settings),
            build_reader(settings),
            build_answerer(settings, remote.fingerprint),
        )

    def content(self, document: Text) -> str:
        """The text; the title goes where titles go."""
        return document.body

    def add(self, documents: Sequence[Text]) -> None:
        """All at once; one that is there unchanged is left alone."""
        report = self._library.add_documents(
            [Document.from_text(document.body, doc_id=document.id, title=document.title) for document in documents]
        )
        if report.failures:
            raise report.failures[0].error

    def search(self, question: str, k: int) -> list[Found]:
        """As `Library.search`."""
        return [
            Found(result.document.id, result.chunk.content, result.chunk.start, result.chunk.end)
            for result in self._library.search(question, k)
        ]

    def delete(self, document: str) -> None:
        """As `Library.remove`."""
        self._library.remove(document)


class _Embedder:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        # It counts tokens and says whose vectors these are; the model itself isn't loaded.
        self._local = LocalEmbedder()

    @property
    def fingerprint(self) -> Fingerprint:
        return self._local.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        spans = [passage.spans for passage in passages]
        rows = self._embedder.passages([passage.text for passage in passages], spans)
        starts = np.cumsum([0, *(len(some) + 1 for some in spans)])
        return [PassageVectors(rows[start], rows[start + 1 : end]) for start, end in itertools.pairwise(starts)]

    def embed_query(self, text: str) -> FloatArray:
        return self._embedder.question(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._local.count_tokens(texts)

    def cost(self, tokens: int) -> float:
        return 0.0
