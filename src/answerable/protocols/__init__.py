"""The engine's interfaces. An implementation can be replaced without changing anything else."""

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
from answerable.protocols.stores import (
    CoreStore,
    Difference,
    DocumentStore,
    IndexedChunk,
    Issue,
    NextVectors,
    ReindexableStore,
    RepairableStore,
    SearchStore,
    Store,
    StoredDocument,
    SyncStore,
)

__all__ = [
    "Answerer",
    "ChatModel",
    "CoreStore",
    "Delta",
    "Difference",
    "DocumentStore",
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
    "ReindexableStore",
    "RepairableStore",
    "Reranker",
    "SearchStore",
    "Span",
    "Store",
    "StoredDocument",
    "SyncRecord",
    "SyncStore",
    "TextSplitter",
    "TokenEmbedder",
    "Visit",
    "Visited",
]
