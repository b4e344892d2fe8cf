"""A library on a Qdrant server: addresses, names, indexes, long documents, imports."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from helpers import HashEmbedder, indexed_texts
from qdrant_client import QdrantClient
from qdrant_libraries import ANYWHERE, client, ids, opened, write
from qdrant_server import api_key, new_library

from answerable.datatypes import Part, PartKind
from answerable.errors import (
    LibraryError,
    LibraryNotFound,
    SettingsError,
)
from answerable.filters import parse_filter
from answerable.stores.addresses import parse_qdrant
from answerable.stores.hashed import equality_key
from answerable.stores.qdrant.points import MOST_INDEXES, PIECE
from answerable.stores.qdrant.store import QdrantStore
from answerable.wiring.build import build_store, without_password


@pytest.fixture
def address() -> str:
    """Where no library is yet."""
    return new_library()


@pytest.mark.parametrize(
    ("address", "url", "name"),
    [
        ("qdrant+http://localhost", "http://localhost:6333", "answerable"),
        ("qdrant+https://host.example:443/my-docs.2/", "https://host.example:443", "my-docs.2"),
        ("qdrant+http://[::1]:7000/x?timeout=5", "http://[::1]:7000", "x"),
    ],
)
def test_addresses(address: str, url: str, name: str) -> None:
    parsed = parse_qdrant(address)
    assert (parsed.url, parsed.name) == (url, name)
    assert without_password(address) == parsed.shown == f"qdrant+{url}/{name}"


@pytest.mark.parametrize(
    "address",
    [
        "qdrant+http://s3cret-key@host/x",
        "qdrant+http://user:s3cret-key@host/x",
        "qdrant+http://host/x?api-key=s3cret-key",
        "qdrant+http://host/x#s3cret-key",
        "qdrant+http://host/s3cret-key/x",
        "qdrant+http://host:s3cret-key/x",
        "qdrant+http://ho st/x",
        "qdrant+http:///x",
        "qdrant+http://host/..",
        "qdrant+http://host/x%2Fy",
        f"qdrant+http://host/{'x' * 101}",
        "qdrant+http://host/x?timeout=soon",
        "qdrant+http://host/x?timeout=0",
    ],
)
def test_addresses_that_make_no_sense(address: str) -> None:
    for work in (build_store, without_password):
        with pytest.raises(SettingsError) as raised:
            work(address)
        assert "s3cret" not in str(raised.value)


def test_a_library_that_is_not_there(address: str) -> None:
    for _ in range(2):
        with pytest.raises(LibraryNotFound, match="answerable add"):
            QdrantStore(address, create=False, key=api_key())
    QdrantStore(address, key=api_key()).close()
    QdrantStore(address, create=False, key=api_key()).close()


def test_libraries_of_one_server_are_apart() -> None:
    stores = [opened(new_library()) for _ in range(3)]
    for number, store in enumerate(stores):
        write(store, f"d{number}")
    assert [ids(store) for store in stores] == [["d0"], ["d1"], ["d2"]]
    assert [[number for number, _ in store.search_vectors(ANYWHERE, 5, None)] for store in stores] == [[1]] * 3
    for store in stores:
        store.close()


def test_vectors_of_another_length(address: str) -> None:
    store = opened(address)
    write(store, "a")
    for work in (
        lambda: store.put(*indexed_texts("b", ["x"], [[1, 0, 0]])),
        lambda: store.search_vectors(np.array([1, 0], np.float32), 5, None),
    ):
        with pytest.raises(LibraryError, match="have 4 numbers"):
            work()
    assert ids(store) == ["a"]
    store.close()
    unbound = QdrantStore(new_library(), key=api_key())
    with pytest.raises(LibraryError, match="Bind one"):
        unbound.put(*indexed_texts("b", ["x"], [[1, 0, 0]]))
    assert unbound.count() == (0, 0)
    unbound.close()


def test_every_field_has_an_index(address: str) -> None:
    store = opened(address)
    write(store, "a", colour="red", size=3)
    write(store, "b", colour="blue", **{f"k{number}": number for number in range(3)})
    with closing(client(address)) as other:
        indexes = other.get_collection(f"{parse_qdrant(address).name}.1.chunks").payload_schema
    for field in ("source", "type", "language", "date", "sender", "page", "colour", "size", "k0", "k2"):
        assert equality_key(field) in indexes, field
    assert {"generation", "terms"} <= set(indexes)
    assert len(indexes) < MOST_INDEXES
    found = store.search_terms(["uno", "dos", "tres"], 5, parse_filter({"colour": "RED"}))
    assert [number for number, _ in found] == [1]
    store.close()


def test_a_long_document_in_pieces(address: str) -> None:
    store = opened(address)
    text = "ñandú \0 😀\n" * (PIECE // 4)
    parts = (Part(0, 5, PartKind.PAGE, page=1), Part(6, len(text), PartKind.PAGE, page=2))
    document, chunks = indexed_texts("long", ["a"], [[1, 0, 0, 0]], source="/long")
    long = type(document)(id="long", content=text, source="/long", parts=parts)
    store.put(long, chunks)
    assert store.document("long") == long
    assert [stored.characters for stored in store.documents()] == [len(text)]
    assert store.fetch([1])[1][1].content == text
    assert store.remove("long")
    with closing(client(address)) as other:
        # What remains is the state.
        assert other.count(parse_qdrant(address).name).count == 1
        assert other.count(f"{parse_qdrant(address).name}.1.chunks").count == 0
    store.close()


def test_made_by_many_at_once(address: str) -> None:
    with ThreadPoolExecutor(6) as threads:
        stores = list(threads.map(lambda _: opened(address), range(6)))
        list(threads.map(lambda pair: write(pair[1], f"d{pair[0]}"), enumerate(stores)))
    assert sorted(ids(stores[0])) == sorted(f"d{number}" for number in range(6))
    assert stores[0].count() == (6, 6)
    assert sorted(number for number, _ in stores[1].search_vectors(ANYWHERE, 9, None)) == list(range(1, 7))
    for store in stores:
        store.close()


def test_without_the_package() -> None:
    code = (
        "import sys; sys.modules['qdrant_client'] = None\n"
        "import answerable\n"
        "try: answerable.open('qdrant+http://nowhere/x')\n"
        "except answerable.errors.MissingPackage as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install '.[qdrant]'" in done.stdout


def test_importing_the_package_loads_no_adapter() -> None:
    code = "import sys, answerable.wiring.build; print([name for name in sys.modules if 'qdrant_client' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_library_is_laid_out_as_its_address_says(monkeypatch: pytest.MonkeyPatch) -> None:
    made: dict[str, dict[str, Any]] = {}
    create = QdrantClient.create_collection

    def watched(client: QdrantClient, collection_name: str, **parameters: Any) -> bool:
        # The stand-in for a server has a client of its own, which it calls next.
        made.setdefault(collection_name, parameters)
        return create(client, collection_name, **parameters)

    monkeypatch.setattr(QdrantClient, "create_collection", watched)
    address = f"{new_library()}?shards=3&replicas=2&write_consistency=2&on_disk=true&quantized=true"
    with closing(QdrantStore(address, key=api_key())) as store:
        store.bind_embedder(HashEmbedder(4).fingerprint)
        store.put(*indexed_texts("d", ["uno"], [[1, 0, 0, 0]]))
        assert store.search_vectors(np.array([1, 0, 0, 0], np.float32), 5, None) == [(1, 1.0)]
    assert len(made) == 2
    for parameters in made.values():
        spread = [parameters[name] for name in ("shard_number", "replication_factor", "write_consistency_factor")]
        assert spread == [3, 2, 2]
    [chunks] = [parameters for parameters in made.values() if parameters["vectors_config"]]
    assert chunks["vectors_config"]["dense"].on_disk
    assert chunks["quantization_config"].scalar.type == "int8"


@pytest.mark.parametrize("layout", ["shards=0", "replicas=many", "on_disk=yes", "quantized=8", "shard=3"])
def test_a_layout_that_is_none(layout: str) -> None:
    with pytest.raises(SettingsError, match=r"in the library's address|address can't be read"):
        QdrantStore(f"{new_library()}?{layout}", key=api_key())
