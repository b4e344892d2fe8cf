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
    "copy_store",
]

if TYPE_CHECKING:
    from answerable.stores.copying import copy_store
    from answerable.stores.embedded import EmbeddedStore
    from answerable.stores.exact import ExactIndex
    from answerable.stores.keywords import KeywordIndex
    from answerable.stores.memory import MemoryStore
    from answerable.stores.postgres import PostgresStore
    from answerable.stores.qdrant import QdrantStore
else:
    __getattr__, __dir__ = exported_from(
        __name__,
        {
            "EmbeddedStore": "embedded",
            "ExactIndex": "exact",
            "KeywordIndex": "keywords",
            "MemoryStore": "memory",
            "PostgresStore": "postgres",
            "QdrantStore": "qdrant",
            "copy_store": "copying",
        },
    )
