"""What every store does, and that all of them rank alike."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, add, indexed_chunk, indexed_document, indexed_texts, make_document
from postgres_server import new_library
from qdrant_server import api_key as qdrant_key
from qdrant_server import new_library as new_qdrant_library
from third_party.small_store import SmallStore

from answerable.codec import to_json
from answerable.datatypes import Document, DocumentType, FloatArray, Location, Part, PartKind
from answerable.errors import LibraryError
from answerable.filters import Filter, matches, parse_filter
from answerable.left_out import LeftOut, LeftOutKind
from answerable.protocols import Fingerprint, IndexedChunk, Store, StoredDocument, SyncRecord
from answerable.stores.completed import Capability, capabilities, completed, require
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore
from answerable.text.terms import rarity, term_weights


@cache
def address_for(folder: Path, new: Callable[[], str]) -> str:
    """The address of a library on a server: of a folder always the same."""
    return new()


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda folder: MemoryStore(),
    "embedded": lambda folder: EmbeddedStore(folder / "library"),
    "indexed": lambda folder: EmbeddedStore(folder / "library", indexed_from=0),
    "postgres": lambda folder: PostgresStore(address_for(folder, new_library)),
    "qdrant": lambda folder: QdrantStore(address_for(folder, new_qdrant_library), key=qdrant_key()),
    "third party": lambda folder: completed(SmallStore()),
}
# What each can do beyond adding, searching, asking and removing.
CAPABILITIES = {name: frozenset() if name == "third party" else frozenset(Capability) for name in STORES}
# A store of your own, as `module:function`: the function takes a folder and returns the store in it, at first empty.
if own := os.environ.get("TEST_STORE"):
    module, _, function = own.partition(":")
    STORES["own"] = lambda folder: completed(getattr(import_module(module), function)(folder))
    with TemporaryDirectory() as empty:
        CAPABILITIES["own"] = capabilities(STORES["own"](Path(empty)))
# An index of its own differs in what is searched only, and its process takes most of a test's time.
UNINDEXED = [name for name in STORES if name != "indexed"]
SYNCING = [name for name, capable in CAPABILITIES.items() if Capability.SYNC in capable and name in UNINDEXED]
# These two end with their process.
SAVED = [name for name in UNINDEXED if name not in ("memory", "third party")]
PRINT = HashEmbedder(4).fingerprint
Scored = list[tuple[int, float]]
Corpus = dict[int, IndexedChunk]


@pytest.fixture(params=UNINDEXED)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store that takes vectors of four numbers."""
    yield from opened(request.param, tmp_path)


@pytest.fixture(params=STORES)
def searched(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store, also one with an index."""
    yield from opened(request.param, tmp_path)


@pytest.fixture(params=SYNCING)
def syncing_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store that keeps sync records."""
    yield from opened(request.param, tmp_path)


def opened(name: str, folder: Path) -> Iterator[Store]:
    made = STORES[name](folder)
    made.bind_embedder(PRINT)
    yield made
    made.close()


@pytest.mark.parametrize("name", STORES)
def test_capabilities(tmp_path: Path, name: str) -> None:
    store = STORES[name](tmp_path)
    assert capabilities(store) == CAPABILITIES[name]
    for capability in Capability:
        with nullcontext() if capability in CAPABILITIES[name] else pytest.raises(LibraryError, match=capability.value):
            require(store, capability)
    store.close()


def put(store: Store, document_id: str, *texts: str, **document: Any) -> list[IndexedChunk]:
    """A document with a chunk per text; the vectors don't matter."""
    made, chunks = indexed_texts(document_id, texts, [[1, 0, 0, number] for number in range(len(texts))], **document)
    store.put(made, chunks)
    return chunks


def contents(store: Store) -> Corpus:
    """Every chunk by number."""
    count = store.count()[1]
    numbers = [number for number, _ in store.search_vectors(np.array([1, 0, 0, 0], np.float32), count, None)]
    return {number: chunk for number, (chunk, _) in store.fetch(numbers).items()} if count else {}


def by_cosine(corpus: Corpus, vector: FloatArray, where: Filter | None) -> Scored:
    """All chunks that pass, by cosine, computed one by one in double precision."""
    scores = {
        number: float(np.dot(chunk.vector.astype(np.float64), vector.astype(np.float64)))
        for number, chunk in corpus.items()
        if matches(where, chunk.fields)
    }
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def by_terms(corpus: Corpus, terms: Sequence[str], where: Filter | None) -> Scored:
    """All chunks that pass and have one of the terms, by BM25."""
    scores = {}
    for number, chunk in corpus.items():
        weights = term_weights(chunk.terms)
        score = sum(
            weights[term] * rarity(len(corpus), sum(term in other.terms for other in corpus.values()))
            for term in set(terms)
            if term in weights
        )
        if score > 0 and matches(where, chunk.fields):
            scores[number] = score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


def assert_ranked(found: Scored, expected: Scored, k: int) -> None:
    """The k best of the expected in their order; what differs only by rounding may change places."""
    assert len(found) == min(k, len(expected))
    reference = dict(expected)
    for (number, score), (_, at_this_place) in zip(found, expected, strict=False):
        assert score == pytest.approx(reference[number], abs=1e-4)
        assert score == pytest.approx(at_this_place, abs=1e-5, rel=1e-5)
    assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
    assert len(dict(found)) == len(found)


def test_an_empty_store_has_nothing(searched: Store) -> None:
    query = np.array([1, 0, 0, 0], np.float32)
    assert searched.is_writable
    assert searched.count() == (0, 0)
    assert list(searched.documents()) == []
    assert searched.languages() == []
    assert searched.document("x") is None
    assert searched.chunks("x") == []
    assert searched.lookup("x", "y") == []
    assert searched.remove("x") is False
    assert searched.fetch([1, 2]) == {}
    assert searched.search_vectors(query, 10, None) == []
    assert searched.search_terms(["x"], 10, parse_filter({"a": 1})) == []
    assert searched.document_frequency(["x"]) == {"x": 0}
    searched.refresh()


@pytest.mark.parametrize("name", STORES)
def test_the_first_claim_stays(tmp_path: Path, name: str) -> None:
    made = STORES[name](tmp_path)
    assert made.fingerprint is None
    made.bind_embedder(PRINT)
    made.bind_embedder(Fingerprint("other", "model", 8, "2"))
    assert made.fingerprint == PRINT
    made.close()


def descriptions(store: Store) -> list[StoredDocument]:
    """The descriptions of all documents, with metadata as it is saved."""
    return [replace(each, metadata=json.loads(to_json(dict(each.metadata)))) for each in store.documents()]


@pytest.mark.parametrize("name", SAVED)
def test_what_is_opened_again_is_as_it_was(tmp_path: Path, name: str) -> None:
    dated = make_document("uno dos", "a", source="/a.txt", day=date(2024, 1, 31), tags=("x", "y"))
    with closing(STORES[name](tmp_path)) as made:
        made.bind_embedder(PRINT)
        add(made, dated, embedder=HashEmbedder(4))
        put(made, "last", "tres")
        given = set(contents(made))
        made.remove("last")
        before, chunks, (kept,) = descriptions(made), made.chunks("a"), contents(made)
        assert before[0].content_hash == dated.content_hash
    with closing(STORES[name](tmp_path)) as again:
        assert again.fingerprint == PRINT
        # A document that is stored already isn't stored anew, under another number.
        add(again, dated, embedder=HashEmbedder(4))
        assert (descriptions(again), again.chunks("a"), list(contents(again))) == (before, chunks, [kept])
        document = again.document("a")
        assert document is not None
        assert document.content == dated.content
        of_the_day = parse_filter({"day": {"gte": "2024-01-31", "lt": "2024-02-01"}})
        assert [number for number, _ in again.search_vectors(np.full(4, 0.5, np.float32), 9, of_the_day)] == [kept]
        put(again, "new", "cuatro")
        assert not given & (set(contents(again)) - {kept})


def test_a_document_comes_back_as_it_was(store: Store) -> None:
    content = "Guía\n\nPrimera página, con la lluvia.\fSegunda página, con el sol."
    cut = content.index("\f")
    document = Document(
        id="guide",
        content=content,
        source="/tmp/guía.pdf",
        title="Guía",
        type=DocumentType.PDF,
        language="es",
        metadata={"year": 2024, "tags": ["a", "b"], "nested": {"x": None}, "rate": 0.5, "draft": False},
        parts=(
            Part(0, cut, PartKind.PAGE, page=1, headings=("Guía", "Lluvia"), anchor="rain"),
            Part(cut + 1, len(content), PartKind.MESSAGE, 2, time=datetime(2024, 3, 5, 21, 15), sender="Ana", body=40),
        ),
        left_out=(LeftOut(LeftOutKind.PAGE, 2, ("3", "7")), LeftOut(LeftOutKind.PICTURE, 4)),
        added=1_700_000_000.5,
    )
    stored, chunks = indexed_document(document, HashEmbedder(4), chunk_size=40)
    assert len(chunks) > 1
    store.put(stored, chunks)
    assert store.document("guide") == document
    assert store.chunks("guide") == [chunk.chunk for chunk in chunks]
    (described,) = store.documents()
    assert (described.id, described.source, described.title) == ("guide", "/tmp/guía.pdf", "Guía")
    assert (described.type, described.language, described.chunks) == ("pdf", "es", len(chunks))
    assert (described.characters, described.content_hash) == (len(content), document.content_hash)
    assert (described.metadata, described.left_out) == (document.metadata, document.left_out)
    assert described.added == store.document("guide").added == document.added
    found = store.fetch(list(contents(store)))
    assert len(found) == len(chunks)
    for (indexed, owner), expected in zip((found[number] for number in sorted(found)), chunks, strict=True):
        assert owner == Document(**{**_as_dict(document), "parts": ()})
        assert indexed.chunk == expected.chunk
        assert np.array_equal(indexed.vector, expected.vector)
        assert indexed.vector.dtype == np.float32
        assert dict(indexed.terms) == dict(expected.terms)
        assert indexed.fields == expected.fields
        assert indexed.sentences == expected.sentences
        assert indexed.sentence_vectors.shape == expected.sentence_vectors.shape
        assert np.allclose(indexed.sentence_vectors, expected.sentence_vectors, atol=0.005)


def _as_dict(document: Document) -> dict[str, Any]:
    return {name: getattr(document, name) for name in Document.__slots__}


def test_a_chunk_without_terms_fields_or_sentences(store: Store) -> None:
    bare = indexed_chunk("—", [0, 1, 0, 0])
    assert not bare.terms
    empty = IndexedChunk(bare.chunk, bare.vector, {}, {}, (), np.zeros((0, 4), np.float32))
    store.put(make_document("—", "document"), [empty])
    (number,) = contents(store)
    found, _ = store.fetch([number])[number]
    assert found.sentences == ()
    assert found.sentence_vectors.shape == (0, 4)
    assert found.chunk.location == Location((1, 1))


def test_putting_replaces_in_one_step(store: Store) -> None:
    put(store, "a", "uno dos", source="s")
    put(store, "b", "tres", source="s")
    put(store, "c", "cuatro")
    put(store, "a", "cinco", "seis", source="t")
    assert store.count() == (3, 4)
    document, chunks = indexed_texts("d", ["siete"], [[0, 1, 0, 0]], source="s")
    store.put(document, chunks, replaces=["b", "c", "unknown"])
    assert [stored.id for stored in store.documents()] == ["d", "a"]
    assert store.count() == (2, 3)
    assert store.document("b") is None
    assert store.chunks("c") == []
    words = ["uno", "dos", "tres", "cuatro", "cinco", "seis", "siete"]
    assert store.document_frequency(words) == dict(zip(words, (0, 0, 0, 0, 1, 1, 1), strict=True))


def test_lookup_by_id_or_source(store: Store) -> None:
    put(store, "b", "x", source="one")
    put(store, "a", "x", source="one")
    put(store, "c", "x", source="two")
    put(store, "d", "x")
    assert [stored.id for stored in store.lookup("", "one")] == ["a", "b"]
    assert [stored.id for stored in store.lookup("a", "two")] == ["a", "c"]
    assert [stored.id for stored in store.lookup("d", "")] == ["d"]
    assert store.lookup("nothing", "") == []
    store.remove("a")
    assert [stored.id for stored in store.lookup("a", "one")] == ["b"]


def test_documents_are_in_order_of_source_and_id(store: Store) -> None:
    sources = {"4": "é", "3": "z", "2": "Z", "9": "", "1": "", "5": "日", "6": "\U0001f600", "7": "\uffee", "8": "a/b"}
    for document_id, source in sources.items():
        put(store, document_id, "x", source=source)
    expected = sorted(sources, key=lambda document_id: (sources[document_id], document_id))
    assert [stored.id for stored in store.documents()] == expected


def test_documents_of_a_type(store: Store) -> None:
    for document_id, type in {"a": "chat", "b": "pdf", "c": "chat"}.items():
        put(store, document_id, "x", type=type, source=document_id)
    assert [stored.id for stored in store.documents("chat")] == ["a", "c"]
    assert [stored.id for stored in store.documents("code")] == []


def test_languages_each_once(store: Store) -> None:
    for number, language in enumerate(["pt", "es", "es", "pt", "en"]):
        put(store, str(number), "x", language=language)
    assert sorted(store.languages()) == ["en", "es", "pt"]
    store.remove("4")
    assert sorted(store.languages()) == ["es", "pt"]


def test_fetch_leaves_out_what_it_does_not_know(store: Store) -> None:
    put(store, "a", "uno", "dos")
    one, two = contents(store)
    assert list(store.fetch([two, 0, -1, 10**9, one, two])) == [two, one]
    assert store.fetch([]) == {}
    assert len(store.fetch(range(-2000, 2000))) == 2


def test_document_frequency_counts_chunks(store: Store) -> None:
    put(store, "a", "sol sol luna", "sol mar")
    put(store, "b", "mar")
    assert store.document_frequency(["sol", "luna", "mar", "rio"]) == {"sol": 2, "luna": 1, "mar": 2, "rio": 0}
    assert store.remove("a") is True
    assert store.document_frequency({"sol", "luna", "mar"}) == {"sol": 0, "luna": 0, "mar": 1}
    assert store.document_frequency([]) == {}
    # A server is asked for each; elsewhere they are asked for in statements of some hundreds.
    many = 60 if isinstance(store, QdrantStore) else 3000
    assert len(store.document_frequency(str(number) for number in range(many))) == many  # type: ignore[arg-type]


def test_numbers_are_never_given_again(store: Store) -> None:
    seen: set[int] = set()
    for round in range(4):
        put(store, "a", "uno", "dos")
        put(store, f"b{round}", "tres")
        numbers = set(contents(store))
        assert len(numbers) == 3
        assert not numbers & seen
        seen |= numbers
        assert store.remove("a")
        assert store.remove(f"b{round}")
        assert store.count() == (0, 0)


def test_vectors_rank_by_cosine_and_ties_by_number(searched: Store) -> None:
    vectors = [[1, 0, 0, 0], [0, 1, 0, 0], [1, 1, 0, 0], [-1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]]
    document, chunks = indexed_texts("a", [f"w{number}" for number in range(6)], vectors)
    searched.put(document, chunks)
    found = searched.search_vectors(np.array([1, 0, 0, 0], np.float32), 10, None)
    assert [number for number, _ in found] == [1, 5, 6, 3, 2, 4]
    assert [score for _, score in found] == pytest.approx([1, 1, 1, math.sqrt(0.5), 0, -1], abs=1e-4)
    assert [number for number, _ in searched.search_vectors(np.array([1, 0, 0, 0], np.float32), 2, None)] == [1, 5]
    asked = searched.cosines(np.array([1, 0, 0, 0], np.float32), [4, 6, 99, 3, 5])
    assert [number for number, _ in asked] == [5, 6, 3, 4]
    assert [score for _, score in asked] == pytest.approx([1, 1, math.sqrt(0.5), -1], abs=1e-4)
    assert searched.cosines(np.array([1, 0, 0, 0], np.float32), []) == []


def test_terms_rank_by_bm25(searched: Store) -> None:
    texts = ["sol", "sol sol", "sol luna", "luna", "mar mar mar mar", "sol luna mar rio"]
    document, chunks = indexed_texts("a", texts, [[1, 0, 0, 0]] * 6)
    searched.put(document, chunks)
    corpus = dict(enumerate(chunks, 1))
    for terms in (["sol"], ["sol", "luna"], ["rio", "mar", "nada"], ["sol", "sol", "luna"]):
        found = searched.search_terms(terms, 10, None)
        expected = by_terms(corpus, terms, None)
        assert [number for number, _ in found] == [number for number, _ in expected]
        assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)
    assert searched.search_terms([], 10, None) == []
    assert searched.search_terms(["nada"], 10, None) == []


def test_of_many_equal_ones_the_first_are_given(searched: Store) -> None:
    for number in range(60):
        put(searched, f"{number:02}", "igual texto")
    for k in (1, 3, 20):
        wanted = list(range(1, k + 1))
        assert [number for number, _ in searched.search_vectors(np.array([1, 0, 0, 0], np.float32), k, None)] == wanted
        assert [number for number, _ in searched.search_terms(["igual"], k, None)] == wanted


FIELDS: dict[str, Mapping[str, Any]] = {
    "guide": {"type": "pdf", "page": [1, 2], "title": "Guía", "date": date(2024, 1, 31), "draft": True, "stars": 4.5},
    "chat": {
        "type": "chat",
        "sender": ["José", "Ana María"],
        "date": [datetime(2024, 1, 31, 23, 59, 59), datetime(2024, 2, 1, 8)],
    },
    "report": {"type": "pdf", "page": 3, "date": "2024-03-01T12:00:00+05:00", "draft": False, "stars": 1, "n": 1},
    "note": {"type": "text", "stars": True, "n": "1", "year": 2024, "big": 2**62 + 1},
    "odd": {
        "a.b": 1, 'a"b': 1, "a[0]": 1, "a[]": 1, "a'b": 1, "a\\b": 1, "": 1, " ": 1, "日本": "語", "$ne": "x",
        "a\nb": 'x"y', "a\0b": "\0", "x; DROP TABLE chunks": "'; --", "*": "*", "😀": "👩‍👩‍👧",
        "zero": -0.0, "inf": math.inf,
    },
    "plain": {},
}  # fmt: skip


@pytest.fixture(scope="module", params=STORES)
def filtered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store with a chunk for each of FIELDS."""
    made = STORES[request.param](tmp_path_factory.mktemp("filtered"))
    made.bind_embedder(PRINT)
    for number, (name, fields) in enumerate(FIELDS.items()):
        document, chunks = indexed_texts(name, [f"palabra {name}"], [[1, number, 0, 0]], [{**fields, "name": name}])
        made.put(document, chunks)
    yield made
    made.close()


@pytest.mark.parametrize(
    ("where", "names"),
    [
        (None, "guide chat report note odd plain"),
        ({"type": "PDF"}, "guide report"),
        ({"type": ["chat", "text", "nothing"]}, "chat note"),
        ({"sender": "jose"}, "chat"),
        ({"sender": "ANA MARIA"}, "chat"),
        ({"sender": "Ana"}, ""),
        ({"title": "GUIA"}, "guide"),
        ({"page": 2}, "guide"),
        ({"page": 3.0}, "report"),
        ({"page": {"gte": 2}}, "guide report"),
        ({"page": {"gt": 2, "lte": 3}}, "report"),
        ({"page": {"gt": 1, "lt": 2}}, ""),
        ({"stars": {"gte": 1}}, "guide report"),
        ({"stars": {"lt": 4.5}}, "report"),
        ({"stars": {"lte": 10**400}}, "guide report"),
        ({"stars": 10**400}, ""),
        ({"not": {"stars": -(10**400)}}, "guide chat report note odd plain"),
        ({"stars": True}, "note"),
        ({"stars": 1}, "report"),
        ({"draft": True}, "guide"),
        ({"draft": False}, "report"),
        ({"draft": 0}, ""),
        ({"n": 1}, "report"),
        ({"n": "1"}, "note"),
        ({"date": {"lte": "2024-01-31"}}, "guide chat"),
        ({"date": {"lt": "2024-01-31"}}, ""),
        ({"date": {"gt": "2024-01-31"}}, "chat report"),
        ({"date": {"gte": "2024-02-01", "lt": "2024-02-02"}}, "chat"),
        ({"date": {"gte": "2024-03-01T07:00:00", "lte": "2024-03-01T07:00:00"}}, "report"),
        ({"date": {"gte": "2024-03-01T10:00:00+03:00", "lte": "2024-03-01T07:00:00Z"}}, "report"),
        ({"date": {"lte": "9999-12-31"}}, "guide chat report"),
        ({"date": {"gte": "0001-01-01"}}, "guide chat report"),
        ({"date": {"gte": 0}}, ""),
        ({"date": "2024-02-01T08:00:00"}, "chat"),
        ({"date": datetime(2024, 2, 1, 8)}, "chat"),
        ({"year": {"gte": "1970-01-01"}}, ""),
        ({"year": {"gte": 2024, "lt": 2025}}, "note"),
        ({"big": 2**62 + 1}, "note"),
        ({"big": 2**62}, ""),
        ({"page": {"exists": True}}, "guide report"),
        ({"page": {"exists": False}}, "chat note odd plain"),
        ({"not": {"type": ["pdf", "chat"]}}, "note odd plain"),
        ({"type": "pdf", "page": 3}, "report"),
        ({"and": [{"type": "pdf"}, {"not": {"draft": False}}]}, "guide"),
        ({"or": [{"type": "chat"}, {"stars": {"gt": 4}}]}, "guide chat"),
        ({"not": {"or": [{"type": {"exists": True}}, {"zero": 0}]}}, "plain"),
        ({"not": {"not": {"and": [{"or": [{"n": 1}, {"n": "1"}]}, {"stars": True}]}}}, "note"),
        ({"a.b": 1}, "odd"),
        ({'a"b': 1}, "odd"),
        ({"a[0]": 1}, "odd"),
        ({"a[]": 1}, "odd"),
        ({"a'b": 1}, "odd"),
        ({"a\\b": 1}, "odd"),
        ({"": 1}, "odd"),
        ({" ": 1}, "odd"),
        ({"a": {"exists": True}}, ""),
        ({"b": 1}, ""),
        ({"日本": "語"}, "odd"),
        ({"$ne": "x"}, "odd"),
        ({"a\nb": 'X"Y'}, "odd"),
        ({"a\0b": "\0"}, "odd"),
        ({"x; DROP TABLE chunks": "'; --"}, "odd"),
        ({"*": "*"}, "odd"),
        ({"😀": "👩‍👩‍👧"}, "odd"),
        ({"zero": 0}, "odd"),
        ({"zero": {"gte": 0}}, "odd"),
        ({"inf": math.inf}, "odd"),
        ({"inf": {"gt": 1e300}}, "odd"),
        ({"name": ["odd", "plain"], "$ne": {"exists": False}}, "plain"),
        ({"name": [str(number) for number in range(2000)]}, ""),
    ],
)  # fmt: skip
def test_filters(filtered: Store, where: dict[str, Any] | None, names: str) -> None:
    filter = parse_filter(where)
    order = {name: number for number, name in enumerate(FIELDS, 1)}
    wanted = [order[name] for name in names.split()]
    assert [number for number, _ in filtered.search_vectors(np.array([1, 0, 0, 0], np.float32), 50, filter)] == wanted
    assert sorted(number for number, _ in filtered.search_terms(["palabra"], 50, filter)) == wanted


def test_what_was_removed_is_never_found(searched: Store) -> None:
    put(searched, "a", "sol uno", "sol dos")
    put(searched, "b", "sol tres")
    query = np.array([1, 0, 0, 0], np.float32)
    before = {number for number, _ in searched.search_vectors(query, 10, None)}
    gone = {number for number, (_, owner) in searched.fetch(sorted(before)).items() if owner.id == "a"}
    assert searched.remove("a") is True
    assert searched.remove("a") is False
    assert searched.document("a") is None
    assert searched.chunks("a") == []
    assert searched.fetch(sorted(gone)) == {}
    assert {number for number, _ in searched.search_vectors(query, 10, None)} == before - gone
    assert {number for number, _ in searched.search_terms(["sol"], 10, None)} == before - gone
    assert searched.search_terms(["uno"], 10, None) == []
    assert searched.count() == (1, 1)


UNICODE = {
    "emoji": "👩‍👩‍👧‍👦 familia 🏳️‍🌈 ok",
    "combining": "a\u0301rbol e\u0301xito Z\u0351\u036b\u0343",
    "chinese": "我们在北京见面，明天下午三点。",
    "arabic": "مرحبا بالعالم \u202etxet\u202c",
    "hindi": "नमस्ते दुनिया",
    "null": "antes\0después",
    "separators": "uno\u2028dos\u2029tres\x85cuatro\x0bcinco\x0cseis",
    "edges": "\ufeffinicio \U0010ffff \ue000 \ufffe fin",
    "greek": "ΣΊΣΥΦΟΣ Σίσυφος",
    "turkish": "İstanbul ıspanak",
}


def test_unicode_of_every_kind(searched: Store) -> None:
    for text in UNICODE.values():
        assert_kept_and_found(searched, text)


def assert_kept_and_found(store: Store, text: str) -> None:
    """The store is as empty afterwards as before."""
    document = make_document(text, f"id {text}", source=f"/{text}/x", title=text, key=text, **{f"k {text}": [text]})
    add(store, document, embedder=HashEmbedder(4))
    stored = store.document(document.id)
    assert stored is not None
    assert (stored.content, stored.source, stored.title, stored.metadata) == (
        document.content, document.source, document.title, document.metadata
    )  # fmt: skip
    assert [found.id for found in store.lookup("", f"/{text}/x")] == [document.id]
    for chunk in store.chunks(document.id):
        assert document.content[chunk.start : chunk.end] == chunk.content
    (indexed, *_) = contents(store).values()
    assert indexed.terms
    assert store.document_frequency(indexed.terms) == dict.fromkeys(indexed.terms, store.count()[1])
    for where in ({"key": text}, {f"k {text}": f" {text}"}, {"title": text}, {"source": f"/{text}/x"}):
        assert store.search_terms(list(indexed.terms), 5, parse_filter(where)), where
    assert store.remove(document.id)
    assert store.document_frequency(indexed.terms) == dict.fromkeys(indexed.terms, 0)


def test_closing_twice_is_fine(searched: Store) -> None:
    put(searched, "a", "uno")
    searched.search_vectors(np.array([1, 0, 0, 0], np.float32), 1, None)
    searched.close()
    searched.close()


WORDS = [f"w{number}" for number in range(25)]


def random_chunks(chance: random.Random, document_id: str) -> tuple[Document, list[IndexedChunk]]:
    """A document of some chunks; some vectors and texts come again and again, so that there are ties."""
    count = chance.randint(1, 5)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(1, 12))) for _ in range(count)]
    vectors = [
        [chance.choice((-1, 1)) if chance.random() < 0.3 else chance.gauss(0, 1) for _ in range(4)]
        for _ in range(count)
    ]
    fields = [
        {
            "type": chance.choice(["pdf", "chat"]),
            "page": chance.randint(1, 4),
            "date": datetime(2024, 1, chance.randint(1, 28), chance.randint(0, 23)),
            "tag": chance.sample(["x", "Y", 1, True, 2.5], k=chance.randint(0, 3)),
        }
        for _ in range(count)
    ]
    return indexed_texts(document_id, texts, vectors, fields)


def random_filter(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    if depth and chance.random() < 0.5:
        inner = [random_filter(chance, depth - 1) for _ in range(chance.randint(1, 3))]
        return {"not": inner[0]} if chance.random() < 0.4 else {chance.choice(["and", "or"]): inner}
    return chance.choice(
        [
            {"type": chance.choice(["PDF", "chat"])},
            {"page": {"gte": chance.randint(1, 4)}},
            {"page": [chance.randint(1, 4), chance.randint(1, 4)]},
            {"date": {chance.choice(["lt", "lte", "gt", "gte"]): f"2024-01-{chance.randint(1, 28):02}"}},
            {"tag": {"exists": chance.random() < 0.5}},
            {"tag": chance.choice(["x", "y", 1, True, 2.5, [1, "x"]])},
        ]
    )


def record(source: str, origin: str = "https://example.org/", **values: Any) -> SyncRecord:
    """What would be remembered of a page."""
    seen = datetime(2026, 3, 5, 12, 30, 1, 5, tzinfo=timezone(timedelta(hours=-3)))
    return SyncRecord(origin, source, seen, **values)


def test_records_come_back_as_they_were_written(syncing_store: Store) -> None:
    long = record("https://example.org/" + "á" * 5000, "https://example.org/" + "x" * 5000)
    odd = record("a'; DROP TABLE records; --\0", documents=("d1", "d2"), validators={"etag": 'W/"ü\0"'}, hash="ab")
    other = record("b", "file:///a")
    syncing_store.remember([odd, long, other])
    assert syncing_store.records() == sorted([odd, long, other], key=lambda each: (each.origin, each.source))
    assert syncing_store.records(odd.origin) == [odd]
    assert syncing_store.records("https://example.org") == []
    syncing_store.remember([replace(odd, hash="cd", documents=())])
    assert syncing_store.records(odd.origin) == [replace(odd, hash="cd", documents=())]
    syncing_store.forget(odd.origin, [odd.source, "unknown"])
    syncing_store.forget("unknown", [other.source])
    assert syncing_store.records() == sorted([long, other], key=lambda each: (each.origin, each.source))
    syncing_store.remember([])
    syncing_store.forget(other.origin, [])
    assert len(syncing_store.records()) == 2


def test_several_documents_are_removed_in_one_step(store: Store) -> None:
    for name in ("a", "b", "c"):
        put(store, name, "uno", "dos")
    assert store.remove("a", "nothing", "c") is True
    assert [stored.id for stored in store.documents()] == ["b"]
    assert (store.count(), store.document_frequency(["uno"])) == ((1, 2), {"uno": 1})
    assert store.remove("a", "c") is False
    assert store.remove() is False


def test_a_record_without_an_origin_is_one_as_any_other(syncing_store: Store) -> None:
    kept, followed = record("", "one"), record("one", "")
    syncing_store.remember([kept, followed])
    assert syncing_store.records("one") == [kept]
    assert syncing_store.records() == [followed, kept]
    syncing_store.forget("", ["one"])
    assert syncing_store.records() == [kept]


def test_a_record_is_written_with_its_document_and_outlives_it(syncing_store: Store) -> None:
    document, chunks = indexed_texts("d", ["a", "b"], [[1, 0, 0, 0], [0, 1, 0, 0]])
    followed = record("page", documents=("d",))
    syncing_store.put(document, chunks, (), followed)
    assert syncing_store.records() == [followed]
    syncing_store.put(document, chunks)
    assert syncing_store.records() == [followed]
    assert syncing_store.remove("d")
    assert syncing_store.records() == [followed]


@pytest.mark.parametrize("name", STORES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in (1, 2, 3))])
def test_all_stores_rank_alike(tmp_path: Path, seed: int, name: str) -> None:
    chance = random.Random(seed)
    # The store in memory says which chunk has which number: in every store the same.
    stores = [MemoryStore(), STORES[name](tmp_path)]
    corpus: dict[str, list[IndexedChunk]] = {}
    for store in stores:
        store.bind_embedder(PRINT)
    for _ in range(4):
        for _ in range(12):
            document, chunks = random_chunks(chance, f"d{chance.randint(0, 30)}")
            corpus[document.id] = chunks
            for store in stores:
                store.put(document, chunks)
        for document_id in chance.sample(sorted(corpus), k=4):
            del corpus[document_id]
            assert [store.remove(document_id) for store in stores] == [True] * len(stores)
        known = {chunk.chunk.id: chunk for chunks in corpus.values() for chunk in chunks}
        numbered = {number: known[chunk.chunk.id] for number, chunk in contents(stores[0]).items()}
        assert len(numbered) == len(known)
        for _ in range(6):
            where = parse_filter(random_filter(chance)) if chance.random() < 0.7 else None
            k = chance.choice([1, 5, 100])
            vector = np.array([chance.gauss(0, 1) for _ in range(4)], np.float32)
            vector /= np.linalg.norm(vector)
            terms = chance.sample(WORDS, k=chance.randint(1, 5))
            for store in stores:
                assert_ranked(store.search_vectors(vector, k, where), by_cosine(numbered, vector, where), k)
                assert_ranked(store.search_terms(terms, k, where), by_terms(numbered, terms, where), k)
                some = chance.sample(sorted(numbered), k=min(k, len(numbered)))
                asked = store.cosines(vector, [*some, max(numbered) + 1])
                assert_ranked(asked, by_cosine({number: numbered[number] for number in some}, vector, None), k)
    for store in stores:
        store.close()
