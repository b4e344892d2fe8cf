"""The seams of the engine. What stands behind one can be replaced without touching anything else."""

from answerable.datatypes import Span
from answerable.protocols.answering import Answerer, ChatModel, Delta, Evidence, Message, Reranker
from answerable.protocols.passages import (
    Embedder,
    Fingerprint,
    Passage,
    PassageVectors,
    TextSplitter,
    TokenEmbedder,
)
from answerable.protocols.sources import Reader, SyncRecord, Visit, Visited
from answerable.protocols.stores import Difference, IndexedChunk, Issue, NextVectors, Store, StoredDocument

__all__ = [
    "Answerer",
    "ChatModel",
    "Delta",
    "Difference",
    "Embedder",
    "Evidence",
    "Fingerprint",
    "IndexedChunk",
    "Issue",
    "Message",
    "NextVectors",
    "Passage",
    "PassageVectors",
    "Reader",
    "Reranker",
    "Span",
    "Store",
    "StoredDocument",
    "SyncRecord",
    "TextSplitter",
    "TokenEmbedder",
    "Visit",
    "Visited",
]
