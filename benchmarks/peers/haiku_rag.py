"""haiku.rag: LanceDB in a folder, its hybrid search, documents imported with a passage each.

Its own chunker and converter need models from a hub; `import_documents` is what its guide shows for documents that
were processed elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from docling_core.types.doc.document import DoclingDocument
from docling_core.types.doc.labels import DocItemLabel
from haiku.rag.client import HaikuRAG
from haiku.rag.client.documents import DocumentImport
from haiku.rag.config import AppConfig
from haiku.rag.embeddings import EmbedderWrapper
from haiku.rag.store.models.chunk import Chunk

from peers.interface import DIMENSION, Embedder, Found, Text


def build(folder: Path, language: str, embedder: Embedder) -> HaikuRag:
    """An empty database in the folder."""
    return HaikuRag(folder, embedder)


class HaikuRag:
    """The database, with an event loop of its own."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        config = AppConfig.model_validate(
            {
                "embeddings": {
                    "model": {
                        "provider": "openai",
                        "name": "multilingual-e5-small",
                        "vector_dim": DIMENSION,
                        # Never asked: the embedder is replaced below by one whose own cost can be told.
                        "base_url": "http://127.0.0.1:9/v1",
                        "api_key": "none",
                    }
                }
            }
        )
        self._runner = asyncio.Runner()
        self._client = HaikuRAG(folder, config=config, create=True)
        self._runner.run(self._client.__aenter__())
        self._client.store.embedder = self._client.chunk_repository.embedder = _Embedder(embedder)

    def content(self, document: Text) -> str:
        """The title over the text."""
        return document.whole

    def add(self, documents: Sequence[Text]) -> None:
        """All in one import."""
        self._runner.run(self._client.import_documents([_imported(document) for document in documents]))

    def search(self, question: str, k: int) -> list[Found]:
        """Passages with the document that they are of; where in it they stand isn't said."""
        results = self._runner.run(self._client.search(question, limit=k))
        return [Found(str(result.document_uri), result.content) for result in results]

    def delete(self, document: str) -> None:
        """By the id that its address has."""
        self._runner.run(self._delete(document))

    async def _delete(self, uri: str) -> None:
        found = await self._client.get_document_by_uri(uri)
        if found is not None and found.id is not None:
            await self._client.delete_document(found.id)


def _imported(document: Text) -> DocumentImport:
    converted = DoclingDocument(name=document.id)
    item = converted.add_text(DocItemLabel.PARAGRAPH, document.whole)
    chunk = Chunk(content=document.whole, metadata={"doc_item_refs": [item.self_ref], "labels": ["paragraph"]})
    return DocumentImport(docling_document=converted, chunks=[chunk], uri=document.id, title=document.title or None)


class _Embedder(EmbedderWrapper):
    def __init__(self, embedder: Embedder) -> None:
        super().__init__(None, DIMENSION)
        self._remote = embedder

    async def _embed_query(self, text: str) -> list[float]:
        return self._remote.question(text).tolist()

    async def _embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._remote.passages(texts).tolist()
