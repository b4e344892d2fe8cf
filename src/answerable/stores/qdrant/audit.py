"""Looking through the points of a library on a Qdrant server for what searches take on trust, and mending them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from answerable.protocols import Difference, Issue
from answerable.stores.qdrant import rows
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.qdrant.state import Root, State, matches
from answerable.stores.records import sync_record_from_row

_UNREADABLE = (ValueError, LookupError, TypeError, AttributeError)
_BATCH = 256
# All of a chunk's payload but this is looked at.
_LONG = models.PayloadSelectorExclude(exclude=["context", "location", "parts", "sentences", "sentence_vectors"])


@dataclass(slots=True)
class _Look:
    """What counts: documents by generation, and how many chunks; and points by what is wrong with them."""

    documents: set[int] = field(default_factory=set)
    chunks: int = 0
    orphans: set[int] = field(default_factory=set)
    unreadable: list[Any] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)


def issues(connection: Connection, state: State) -> list[Issue]:
    """What is wrong in a state of the library."""
    look = _look(connection, state)
    found = []
    for point in look.unreadable:
        what = "what was remembered of it" if point.payload["kind"] == "record" else "its metadata"
        found.append(
            Issue(Difference.DAMAGED, str(point.payload["source"] or point.payload.get("id")), f"{what} can't be read")
        )
    if look.orphans:
        where = f"collection {state.chunk_collection}"
        found.append(Issue(Difference.ORPHANED, where, f"{len(look.orphans):,} writes left what is of no document"))
    said, there = (state.documents, state.chunks), (len(look.documents), look.chunks)
    if said != there:
        texts = [f"{documents:,} documents and {chunks:,} passages" for documents, chunks in (said, there)]
        found.append(Issue(Difference.COUNTS, "state", f"it says {texts[0]}, there are {texts[1]}"))
    if look.wrong:
        what = f"{len(look.wrong):,} passages aren't searched by what they hold"
        found.append(Issue(Difference.COUNTS, f"collection {state.chunk_collection}", what))
    return found


def repair(connection: Connection, root: Root) -> None:
    """Repair what `issues` finds."""
    state = root.read()
    look = root.consistent(lambda now: _look(connection, now))
    if look.orphans:
        of_none = models.FieldCondition(key="generation", match=models.MatchAny(any=sorted(look.orphans)))
        connection.delete(state.chunk_collection, models.Filter(must=[of_none]))
        connection.delete(state.collection, models.Filter(must=[of_none]))
    lost = [point.id for point in look.unreadable if point.payload["kind"] == "record"]
    if lost:
        connection.delete(state.collection, models.Filter(must=[models.HasIdCondition(has_id=lost)]))
    for point in look.unreadable:
        if point.id not in lost:
            found = connection.call(lambda client, one=point.id: client.retrieve(state.collection, [one]))  # type: ignore[misc]
            payloads = [{**(document.payload or {}), "metadata": "{}"} for document in found]
            connection.upsert(
                state.collection, [models.PointStruct(id=point.id, vector={}, payload=payload) for payload in payloads]
            )
    for start in range(0, len(look.wrong), _BATCH):
        _derive(connection, state, look.wrong[start : start + _BATCH])
    root.change(lambda now: _counted(connection, now))


def _look(connection: Connection, state: State) -> _Look:
    look = _Look()
    listed = (*rows.STORED, *rows.RECORD, "generation", "kind")
    # As of one moment: what comes later doesn't count in this state.
    for point in connection.records(state.collection, state.counting(_of_kinds("document", "record")), listed):
        payload: dict[str, Any] = point.payload or {}
        if payload["kind"] == "document":
            look.documents.add(payload["generation"])
        try:
            if payload["kind"] == "document":
                dict(rows.stored_document(payload).metadata)
            else:
                sync_record_from_row(payload)
        except _UNREADABLE:
            look.unreadable.append(point)
    pieces = connection.records(state.collection, state.counting(_of_kinds("piece")), ("generation",))
    look.orphans.update(_generation(piece) for piece in pieces)
    for chunk in _chunks(connection, state):
        look.chunks += 1
        look.orphans.add(_generation(chunk))
        if not _agrees(chunk):
            look.wrong.append(int(chunk.id))
    look.orphans -= look.documents
    return look


def _chunks(connection: Connection, state: State) -> Iterator[Any]:
    if state.fingerprint is not None:
        yield from connection.records(state.chunk_collection, state.counting(), _LONG, _BATCH, [rows.SPARSE])


def _generation(point: Any) -> int:
    return int(point.payload["generation"])


def _of_kinds(*kinds: str) -> models.Condition:
    return models.Filter(should=[matches("kind", kind) for kind in kinds])


def _agrees(point: Any) -> bool:
    """Whether a chunk is searched by what it holds. One that can't be read is left to whoever reads the document."""
    try:
        counts, fields = json.loads(point.payload["counts"]), json.loads(point.payload["fields"])
        expected = rows.searched(counts, fields)
        terms = dict(zip(*_entries(rows.sparse(counts)), strict=True))
    except _UNREADABLE:
        return True
    found = dict(zip(*_entries((point.vector or {}).get(rows.SPARSE)), strict=True))
    kept = {"generation", *rows.INDEXED}
    searched = {name: value for name, value in point.payload.items() if name not in kept}
    same_terms = found.keys() == terms.keys() and all(
        math.isclose(found[term], weight, rel_tol=1e-5) for term, weight in terms.items()
    )
    return same_terms and searched == expected


def _entries(vector: models.SparseVector | None) -> tuple[Sequence[int], Sequence[float]]:
    return (vector.indices, vector.values) if vector else ((), ())


def _derive(connection: Connection, state: State, numbers: Sequence[int]) -> None:
    """Writes chunks again as their own terms and fields say."""
    found = connection.call(lambda client: client.retrieve(state.chunk_collection, numbers, with_vectors=[rows.DENSE]))
    points = []
    for record in found:
        payload: dict[str, Any] = record.payload or {}
        counts, fields = json.loads(payload["counts"]), json.loads(payload["fields"])
        vectors: dict[str, Any] = dict(record.vector) if isinstance(record.vector, dict) else {}
        if counts:
            vectors[rows.SPARSE] = rows.sparse(counts)
        kept = {name: payload[name] for name in ("generation", *rows.INDEXED)}
        points.append(
            models.PointStruct(id=record.id, vector=vectors, payload={**kept, **rows.searched(counts, fields)})
        )
    connection.upsert(state.chunk_collection, points)


def _counted(connection: Connection, state: State) -> State | None:
    look = _look(connection, state)
    documents, chunks = len(look.documents), look.chunks
    if (state.documents, state.chunks) == (documents, chunks):
        return None
    return replace(state, documents=documents, chunks=chunks)
