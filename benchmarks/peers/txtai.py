"""txtai: an embeddings database with content, hybrid search, and vectors from outside."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from txtai import Embeddings

from peers.interface import Embedder, FloatArray, Found, Text

# txtai's own setting marks which is which: its external vectors aren't told otherwise.
QUERY, PASSAGE = "query: ", "passage: "


def build(folder: Path, language: str, embedder: Embedder) -> Txtai:
    """An empty database, which txtai keeps in memory until it is saved."""
    return Txtai(embedder)


class Txtai:
    """The database."""

    def __init__(self, embedder: Embedder) -> None:
        def transform(texts: Sequence[str]) -> FloatArray:
            if texts[0].startswith(QUERY):
                return np.stack([embedder.question(text.removeprefix(QUERY)) for text in texts])
            return embedder.passages([text.removeprefix(PASSAGE) for text in texts])

        self._embeddings = Embeddings(
            method="external",
            transform=transform,
            instructions={"query": QUERY, "data": PASSAGE},
            hybrid=True,
            content=True,
        )

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """By `upsert`: one of the same id is replaced."""
        self._embeddings.upsert([(document.id, document.whole, None) for document in documents])

    def search(self, question: str, k: int) -> list[Found]:
        """Whole documents; where in them something was found isn't said."""
        return [Found(found["id"], found["text"]) for found in self._embeddings.search(question, k)]

    def delete(self, document: str) -> None:
        """By its id."""
        self._embeddings.delete([document])
