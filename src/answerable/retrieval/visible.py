"""Which documents, and which passages of a document, a filter lets a caller see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from answerable.datatypes import Chunk, Document, Part, PartKind, RetrievalResult
from answerable.filters import AllOf, AnyOf, Filter, Not, OneOf, matches, normalize, normalize_fields
from answerable.protocols import Store, StoredDocument
from answerable.text.indexed_text import TEXT_HASH

PROBED = 200
"""Documents at most that are searched for a passage that passes a filter on passages. A guess, not measured."""
_OF_PASSAGES = frozenset({"date", "sender", "page", "heading", TEXT_HASH})


def is_of_passages(filter: Filter) -> bool:
    """Return whether a filter may pass some passages of a document and not others."""
    match filter:
        case AllOf(filters) | AnyOf(filters):
            return any(map(is_of_passages, filters))
        case Not(inner):
            return is_of_passages(inner)
        case _:
            return filter.field in _OF_PASSAGES


def passes(document: StoredDocument | Document, where: Filter | None, message: Mapping[str, Any] | None = None) -> bool:
    """Return whether a document, or a message of it with this sender and date, passes a filter."""
    return where is None or matches(where, normalize_fields({**fields_of(document), **(message or {})}))


def hidden_messages(result: RetrievalResult, where: Filter | None) -> list[Part]:
    """Return the messages of a passage of a chat that a filter doesn't pass: its window has others beside those."""
    if where is None:
        return []
    return [
        part
        for part in result.chunk.parts
        if part.kind is PartKind.MESSAGE
        and not passes(result.document, where, {"sender": part.sender, "date": part.time})
    ]


def fields_of(document: StoredDocument | Document) -> dict[str, Any]:
    """Return the fields of a document that are those of each of its passages."""
    own = {"source": document.source, "type": document.type, "language": document.language, "title": document.title}
    metadata: Mapping[str, Any] = document.metadata
    return {**metadata, **own, "document_id": document.id}


def visible_documents(
    store: Store, documents: Iterable[StoredDocument], where: Filter | None
) -> Iterator[StoredDocument]:
    """Yield the documents with a passage that passes; for a filter on passages, of the first `PROBED` documents."""
    if where is None or not is_of_passages(where):
        yield from (each for each in documents if passes(each, where))
        return
    made_by = store.fingerprint
    anywhere = np.ones(made_by.dimension if made_by else 1, np.float32)
    for each in islice(documents, PROBED):
        if store.search_vectors(anywhere, 1, AllOf((where, OneOf("document_id", (normalize(each.id),))))):
            yield each


def visible_chunks(store: Store, document_id: str, where: Filter | None) -> list[Chunk]:
    """Return a document's passages that pass a filter, in order."""
    if where is None:
        return store.chunks(document_id)
    return [each.chunk for each in store.indexed_chunks(document_id) if matches(where, each.fields)]
