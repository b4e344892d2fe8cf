"""Reading a store over HTTP: each call of a store's method is a JSON object, and so is what the method returns.

Both sides take what they get for untrusted: whatever isn't a call or a result is a ValueError.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np

from answerable.codec import from_json, made, named, to_line
from answerable.datatypes import Chunk, FloatArray
from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf
from answerable.protocols import IndexedChunk, Store
from answerable.text.places import count_places

Scored: TypeAlias = "list[tuple[int, float]]"

MOST = 10_000
"""How many chunks, terms or results one call may be about."""


def answer(store: Store, method: str, arguments: Mapping[str, Any]) -> bytes:
    """Make a call of a store that is open here; return its result. Raise ValueError for what isn't a call."""
    if method not in _METHODS:
        raise ValueError(f"there is no method {method!r}; there are {', '.join(_METHODS)}")
    try:
        return to_line({"result": _METHODS[method](store, arguments)})
    except (KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"the arguments of {method} aren't right ({error})") from error


def result(body: bytes) -> Any:
    """Return the result in a response."""
    found = from_json(body)
    if "result" not in found:
        raise ValueError("it has no result")
    return found["result"]


def vector_to_text(vector: FloatArray) -> str:
    """Return a vector, or rows of vectors, as text."""
    return base64.b64encode(np.ascontiguousarray(vector, "<f4").tobytes()).decode("ascii")


def vector_from_text(text: Any, dimension: int = 0) -> FloatArray:
    """Return the vector that a text holds, or with a `dimension` the rows."""
    try:
        found = np.frombuffer(base64.b64decode(text, validate=True), "<f4").astype(np.float32)
        return found.reshape(-1, dimension) if dimension else found
    except (TypeError, binascii.Error) as error:
        raise ValueError(f"it isn't a vector ({error})") from error


def filter_to_plain(filter: Filter | None) -> Any:
    """Return a filter as JSON values: an object whose only key is the name of its class."""
    match filter:
        case None:
            return None
        case AllOf(filters) | AnyOf(filters):
            content: Any = [filter_to_plain(inner) for inner in filters]
        case Not(inner):
            content = filter_to_plain(inner)
        case Between():
            content = {
                name: {"time": bound.isoformat()} if isinstance(bound, datetime) else bound
                for name, bound in named(filter).items()
            }
        case _:
            content = named(filter)
    return {type(filter).__name__: content}


def filter_from_plain(value: Any) -> Filter | None:
    """Return the filter that JSON values stand for."""
    return None if value is None else _filter(value)


def scored_from_plain(value: Any) -> Scored:
    """Return numbers of chunks with their scores."""
    return [(_whole(number), float(score)) for number, score in _list(value)]


def chunks_from_plain(value: Any) -> list[Chunk]:
    """Return chunks."""
    return [made(Chunk, each) for each in _list(value)]


def indexed_from_plain(value: Any) -> IndexedChunk:
    """Return an indexed chunk."""
    vector = vector_from_text(value["vector"])
    return IndexedChunk(
        made(Chunk, value["chunk"]),
        vector,
        {str(term): _whole(count) for term, count in value["terms"].items()},
        dict(value["fields"]),
        tuple((_whole(start), _whole(end)) for start, end in value["sentences"]),
        vector_from_text(value["sentence_vectors"], len(vector)),
    )


def _vectors(store: Store, call: Mapping[str, Any]) -> Any:
    return store.search_vectors(_asked(store, call), _most(call["k"]), filter_from_plain(call["where"]))


def _terms(store: Store, call: Mapping[str, Any]) -> Any:
    given = call["rarities"]
    rarities = None if given is None else {str(term): float(rare) for term, rare in given.items()}
    terms = _texts(call["terms"])
    if rarities is not None and not rarities.keys() >= set(terms):
        raise ValueError("a term has no rarity")
    return store.search_terms(terms, _most(call["k"]), filter_from_plain(call["where"]), rarities)


def _cosines(store: Store, call: Mapping[str, Any]) -> Any:
    return store.cosines(_asked(store, call), _numbers(call))


def _fetched(store: Store, call: Mapping[str, Any]) -> Any:
    """Chunks by number and, by id, the hash of the text of each document: most are known to the other side."""
    found = store.fetch(_numbers(call))
    ids = dict.fromkeys(indexed.chunk.document_id for indexed, _ in found.values())
    hashes = {stored.id: stored.content_hash for each in ids for stored in store.lookup(each, "")}
    return {
        "chunks": [[number, _indexed(indexed)] for number, (indexed, _) in found.items()],
        "documents": {each: hashes.get(each, "") for each in ids},
    }


def _indexed(indexed: IndexedChunk) -> Any:
    return {
        **{each.name: getattr(indexed, each.name) for each in fields(indexed)},
        "vector": vector_to_text(indexed.vector),
        "sentence_vectors": vector_to_text(indexed.sentence_vectors),
    }


_METHODS: Mapping[str, Callable[[Store, Mapping[str, Any]], Any]] = {
    "fingerprint": lambda store, call: store.fingerprint,
    "count": lambda store, call: store.count(),
    "languages": lambda store, call: store.languages(),
    "documents": lambda store, call: list(store.documents(_text(call["type"]))),
    "lookup": lambda store, call: store.lookup(_text(call["document_id"]), _text(call["source"])),
    "document": lambda store, call: store.document(_text(call["document_id"])),
    "chunks": lambda store, call: store.chunks(_text(call["document_id"])),
    "indexed_chunks": lambda store, call: [_indexed(each) for each in store.indexed_chunks(_text(call["document_id"]))],
    "count_places": lambda store, call: count_places(store, _texts(call["hashes"]), filter_from_plain(call["where"])),
    "document_frequency": lambda store, call: store.document_frequency(_texts(call["terms"])),
    "search_vectors": _vectors,
    "search_terms": _terms,
    "cosines": _cosines,
    "fetch": _fetched,
}


def _asked(store: Store, call: Mapping[str, Any]) -> FloatArray:
    vector, made_by = vector_from_text(call["vector"]), store.fingerprint
    if (made_by is not None and len(vector) != made_by.dimension) or not np.isfinite(vector).all():
        raise ValueError("the vector isn't one of the library's embedder")
    return vector


def _numbers(call: Mapping[str, Any]) -> list[int]:
    numbers = [_whole(each) for each in _list(call["numbers"])]
    if not all(abs(number) < 2**63 for number in numbers):
        raise ValueError("a number is too large")
    return numbers


def _most(value: Any) -> int:
    if not 0 < _whole(value) <= MOST:
        raise ValueError(f"k is not from 1 to {MOST:,}")
    return int(value)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError("a number isn't a whole number")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text isn't a text")
    return value


def _texts(value: Any) -> list[str]:
    return [_text(each) for each in _list(value)]


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError("a list isn't a list")
    return value


def _filter(value: Any) -> Filter:
    if not isinstance(value, dict) or len(value) != 1:
        raise ValueError("a filter isn't a filter")
    [(name, content)] = value.items()
    if name in ("AllOf", "AnyOf"):
        inner = tuple(_filter(each) for each in _list(content))
        return AllOf(inner) if name == "AllOf" else AnyOf(inner)
    if name == "Not":
        return Not(_filter(content))
    if name == "Exists":
        return Exists(_text(content["field"]))
    if name == "OneOf":
        return OneOf(_text(content["field"]), tuple(_scalar(each) for each in _list(content["values"])))
    if name == "Between":
        bounds = {key: _bound(bound) for key, bound in content.items() if key != "field"}
        return Between(_text(content["field"]), **bounds)
    raise ValueError("a filter isn't a filter")


def _scalar(value: Any) -> str | int | float | bool:
    if not isinstance(value, (str, int, float, bool)):
        raise ValueError("a value of a filter isn't one")
    return value


def _bound(value: Any) -> float | datetime:
    return datetime.fromisoformat(_text(value["time"])) if isinstance(value, dict) else float(value)
