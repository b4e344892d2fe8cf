"""Texts that stand in many places: every store counts them, and a search finds each text once."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, add, indexed_texts, make_document
from test_contract import PRINT, STORES
from test_federated import join

from answerable.datatypes import Document, RetrievalResult
from answerable.filters import parse_filter
from answerable.protocols import Store
from answerable.retrieval.retriever import SearchRequest, analyze_question, retrieve, word_weights
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.text.indexed_text import TEXT_HASH, count_places, text_hash

LICENCE = "Permission is granted to copy this garden licence without any charge."
OTHERS = ("The garden gate opens at nine.", "A garden licence costs ten euros.", "The charge is granted by vote.")
QUESTION = "garden licence permission granted"
COPIES = 60
EMBEDDER = HashEmbedder(PRINT.dimension)


def documents(copies: int = COPIES) -> list[Document]:
    """The licence in many documents, every third in a folder of its own, and a few other texts."""
    return [
        *(
            make_document(LICENCE, f"copy{n}", source=f"/copy{n}.txt", language="en", folder="abc"[n % 3], number=n)
            for n in range(copies)
        ),
        *(
            make_document(text, f"other{n}", source=f"/other{n}.txt", language="en", folder="a")
            for n, text in enumerate(OTHERS)
        ),
    ]


def search(store: Store, where: Mapping[str, Any] | None = None, k: int = 10) -> list[RetrievalResult]:
    question = analyze_question(QUESTION, ["en"])
    chunks = store.count()[1]
    weights = word_weights(store, question, chunks)
    request = SearchRequest(question, EMBEDDER.embed_query(QUESTION), weights, chunks, parse_filter(where))
    return [result for result, _ in retrieve(store, request, k)]


def places(found: list[RetrievalResult]) -> dict[str, int]:
    """Of each text found the number of other places."""
    assert len({result.chunk.content for result in found}) == len(found)
    for result in found:
        chunk = result.chunk
        assert result.document.content[chunk.start : chunk.end] == chunk.content
    return {result.chunk.content: result.other_places for result in found}


@pytest.fixture(scope="module", params=STORES)
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of each kind with all documents."""
    store = STORES[request.param](tmp_path_factory.mktemp("places"))
    store.bind_embedder(PRINT)
    add(store, *documents(), embedder=EMBEDDER)
    store.refresh()
    yield store
    store.close()


def test_each_text_is_found_once_and_says_in_how_many_other_places_it_stands(filled: Store) -> None:
    assert places(search(filled)) == {LICENCE: COPIES - 1, **dict.fromkeys(OTHERS, 0)}


@pytest.mark.parametrize(
    ("where", "admitted"),
    [
        ({"folder": "b"}, {n for n in range(COPIES) if n % 3 == 1}),
        ({"number": {"gte": 50}}, set(range(50, COPIES))),
        ({"not": {"number": {"lt": 59}}, "number": {"exists": True}}, {59}),
        ({"and": [{"folder": "c"}, {"source": "/copy5.txt"}]}, {5}),
        ({"and": [{"folder": "a"}, {"source": "/copy5.txt"}]}, set()),
    ],
)
def test_a_filter_finds_a_text_by_the_places_that_it_admits(
    filled: Store, where: dict[str, Any], admitted: set[int]
) -> None:
    found = [result for result in search(filled, where) if result.chunk.content == LICENCE]
    assert len(found) == bool(admitted)
    for result in found:
        assert result.other_places == len(admitted) - 1
        assert result.document.id == f"copy{min(admitted)}"


def test_places_are_counted_by_the_hash_of_their_text(filled: Store) -> None:
    (chunk,), (other,) = filled.chunks("copy7"), filled.chunks("other1")
    hashes = [text_hash(chunk), text_hash(other), "0" * 16]
    assert count_places(filled, hashes, None) == dict(zip(hashes, (COPIES, 1, 0), strict=True))
    assert count_places(filled, hashes, parse_filter({"folder": "a"})) == dict(zip(hashes, (20, 1, 0), strict=True))
    assert count_places(filled, [], None) == {}


@pytest.mark.parametrize("name", STORES)
def test_removing_and_changing_documents_leaves_the_other_places(tmp_path: Path, name: str) -> None:
    store = STORES[name](tmp_path)
    store.bind_embedder(PRINT)
    with closing(store):
        add(store, *documents(4), embedder=EMBEDDER)
        assert places(search(store))[LICENCE] == 3
        store.remove("copy0")
        assert places(search(store))[LICENCE] == 2
        add(store, make_document("Now about bees.", source="/copy1.txt", language="en"), embedder=EMBEDDER)
        found = {result.chunk.content: result for result in search(store)}
        assert (found[LICENCE].document.id, found[LICENCE].other_places) == ("copy2", 1)
        store.remove("copy2")
        assert places(search(store))[LICENCE] == 0
        store.remove("copy3")
        assert LICENCE not in places(search(store))
        assert audit(store) == []


def test_several_libraries_count_the_places_of_all(tmp_path: Path) -> None:
    stores = {name: STORES[name](tmp_path / name.replace(" ", "")) for name in ("memory", "embedded", "third party")}
    for number, store in enumerate(stores.values()):
        store.bind_embedder(PRINT)
        add(store, *documents(3 + number), embedder=EMBEDDER)
    with closing(join(**{name.replace(" ", "_"): store for name, store in stores.items()})) as joined:
        assert places(search(joined)) == {LICENCE: 3 + 4 + 5 - 1, **dict.fromkeys(OTHERS, 2)}
        assert places(search(joined, {"folder": "b"})) == {LICENCE: 1 + 1 + 2 - 1}


def test_a_short_text_under_another_title_is_another_text() -> None:
    store = MemoryStore()
    long = "The appliance may only be opened by a workshop. " * 5
    for number, (text, title) in enumerate(
        [("Thirty days.", "Kettle"), ("thirty\n days.", "Kettle"), ("Thirty days.", "Toaster")]
    ):
        add(store, make_document(text, f"short{number}", title=title, language="en"))
        add(store, make_document(long, f"long{number}", title=f"{title} {number}", language="en"), chunk_size=400)
    short = [text_hash(store.chunks(f"short{number}")[0]) for number in range(3)]
    assert short[0] == short[1] != short[2]
    assert count_places(store, short, None) == {short[0]: 2, short[2]: 1}
    (same,) = {text_hash(store.chunks(f"long{number}")[0]) for number in range(3)}
    assert count_places(store, [same], None) == {same: 3}


def test_texts_that_stand_everywhere_leave_room_for_others() -> None:
    """Also where there are several such texts, and where titles differ, so that no two vectors are the same."""
    store = MemoryStore()
    store.bind_embedder(PRINT)
    rules = ("Permission is granted. " + LICENCE + " ") * 3, ("Garden permission. " + LICENCE + " ") * 3
    for number in range(400):
        text = rules[number % 2]
        made = make_document(text, f"rule{number}", source=f"/{number}", title=f"Garden {number}", language="en")
        add(store, made, embedder=EMBEDDER, chunk_size=600)
    assert len(search(store)) == 2
    add(store, *documents(0), embedder=EMBEDDER)
    found = places(search(store))
    assert sorted(found.values()) == [0, 0, 0, 199, 199]


def test_rare_texts_are_counted_beside_a_text_that_stands_everywhere(tmp_path: Path) -> None:
    """Where a filter admits so many, the engine of the index would look at a sample only."""
    rare, everywhere = [f"{number:016x}" for number in range(1_500)], "f" * 16
    row = np.ones(PRINT.dimension, np.float32)
    with closing(EmbeddedStore(tmp_path, indexed_from=0)) as store:
        store.bind_embedder(PRINT)
        for name, hashes in enumerate([[everywhere] * 3_000, rare, [*rare[:100], everywhere]]):
            fields = [{TEXT_HASH: [text], "name": [name]} for text in hashes]
            store.put(*indexed_texts(f"d{name}", ["text"] * len(hashes), [row] * len(hashes), fields))
        asked = [*rare[95:105], everywhere, "e" * 16]
        assert list(count_places(store, asked, None).values()) == [*[2] * 5, *[1] * 5, 3_001, 0]
        lately = parse_filter({"name": {"gte": 1}})
        assert list(count_places(store, asked, lately).values()) == [*[2] * 5, *[1] * 5, 1, 0]
        store.remove("d2")
        assert list(count_places(store, asked, None).values()) == [*[1] * 10, 3_000, 0]


@pytest.mark.parametrize("indexed_from", [0, 3000])
def test_a_library_without_hashes_is_counted_too(tmp_path: Path, indexed_from: int) -> None:
    """Earlier versions stored none; nothing is written to such a library but its index."""
    with closing(EmbeddedStore(tmp_path)) as store:
        store.bind_embedder(PRINT)
        add(store, *documents(5), embedder=EMBEDDER)
    with closing(sqlite3.connect(tmp_path / "library.db")) as connection, connection:
        for number, fields in connection.execute("SELECT number, fields FROM chunks").fetchall():
            known = json.loads(fields)
            assert known.pop(TEXT_HASH)
            connection.execute("UPDATE chunks SET fields = ? WHERE number = ?", (json.dumps(known), number))
    with closing(EmbeddedStore(tmp_path, indexed_from=indexed_from)) as store:
        assert places(search(store)) == {LICENCE: 4, **dict.fromkeys(OTHERS, 0)}
        add(store, make_document(LICENCE, "new", source="/new.txt", language="en"), embedder=EMBEDDER)
        assert places(search(store))[LICENCE] == 5
        assert audit(store) == []


def test_an_index_of_an_earlier_version_is_built_again(tmp_path: Path) -> None:
    with closing(EmbeddedStore(tmp_path, indexed_from=0)) as store:
        store.bind_embedder(PRINT)
        add(store, *documents(5), embedder=EMBEDDER)
        store.refresh()
    state = tmp_path / "index" / "state.json"
    state.write_text(json.dumps({**json.loads(state.read_text("utf-8")), "format": 3}), "utf-8")
    with closing(EmbeddedStore(tmp_path, indexed_from=0)) as store:
        assert places(search(store))[LICENCE] == 4
        assert audit(store) == []


def test_a_library_that_can_only_be_read_is_counted(tmp_path: Path) -> None:
    with closing(EmbeddedStore(tmp_path / "library")) as store:
        store.bind_embedder(PRINT)
        add(store, *documents(5), embedder=EMBEDDER)
    shutil.copytree(tmp_path / "library", tmp_path / "copy")
    with closing(EmbeddedStore(tmp_path / "copy", create=False)) as store:
        store.is_writable = False
        assert places(search(store)) == {LICENCE: 4, **dict.fromkeys(OTHERS, 0)}


def test_erasing_leaves_the_other_places(tmp_path: Path) -> None:
    with closing(EmbeddedStore(tmp_path, indexed_from=0)) as store:
        store.bind_embedder(PRINT)
        add(store, *documents(5), embedder=EMBEDDER)
        store.remove("copy0", "other0")
        store.erase()
        assert store.unerased().passages == 0
        assert places(search(store)) == {LICENCE: 3, OTHERS[1]: 0, OTHERS[2]: 0}
        assert audit(store) == []
