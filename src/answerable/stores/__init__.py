"""Chunks and vectors, kept in memory or in a folder, and found again."""

from typing import TYPE_CHECKING

from answerable.exports import exported_from

__all__ = [
    "EmbeddedStore",
    "ExactIndex",
    "KeywordIndex",
    "MemoryStore",
    "PostgresStore",
    "QdrantStore",
]

if TYPE_CHECKING:
    from answerable.stores.embedded.store import EmbeddedStore
    from answerable.stores.memory.exact import ExactIndex
    from answerable.stores.memory.keywords import KeywordIndex
    from answerable.stores.memory.store import MemoryStore
    from answerable.stores.postgres.store import PostgresStore
    from answerable.stores.qdrant.store import QdrantStore
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "EmbeddedStore": "embedded.store",
            "ExactIndex": "memory.exact",
            "KeywordIndex": "memory.keywords",
            "MemoryStore": "memory.store",
            "PostgresStore": "postgres.store",
            "QdrantStore": "qdrant.store",
        },
    )
