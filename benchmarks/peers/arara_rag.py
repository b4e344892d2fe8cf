"""arara-rag: its fixed windows, its index on disk, its BM25 and reciprocal ranks, hybrid as by default.

Its default splitter fetches a model from a hub; fixed windows are what its own benchmarks are measured with.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from arara_rag import Arara

from peers.interface import DIMENSION, Embedder, FloatArray, Found, Text


def build(folder: Path, language: str, embedder: Embedder) -> AraraRag:
    """An empty index in the folder."""
    return AraraRag(folder, language, embedder)


class AraraRag:
    """The index, in one process: what forked workers spend couldn't be told from what their embedding costs."""

    def __init__(self, folder: Path, language: str, embedder: Embedder) -> None:
        self._arara = Arara(path=folder, lang=language, chunk_mode="window", encoder=_Encoder(embedder), workers=1)

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """All at once; one that is there is replaced."""
        self._arara.add_documents({document.id: document.whole for document in documents})
        self._arara.finalize()

    def search(self, question: str, k: int) -> list[Found]:
        """The best passage of each of k documents."""
        return [Found(hit.doc_id, hit.text, hit.start, hit.end) for hit in self._arara.search(question, top_k=k)]

    def delete(self, document: str) -> None:
        """By its id."""
        self._arara.delete_document(document)
        self._arara.finalize()


class _Encoder:
    dim = DIMENSION
    batch_size = 64

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def encode(self, texts: Sequence[str], **settings: object) -> FloatArray:
        return self._embedder.passages(texts)

    def encode_query(self, texts: Sequence[str], **settings: object) -> FloatArray:
        return self._embedder.question(texts[0])[None]
