"""The embedded library where it is large enough for vectors to be quantised, which is done early here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from helpers import indexed_texts
from processes import indexed_store

from answerable.datatypes import FloatArray
from answerable.filters import AllOf, Exists, Filter, Not, OneOf
from answerable.protocols import Fingerprint
from answerable.stores.audit import audit
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.embedded.writing import WritableDatabase
from answerable.stores.exact import ExactIndex

DIMENSION = 64
TOPICS = 40
COPIES = 150
PER_DOCUMENT = 100
EARLY = 500
K = 10


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def _vectors(chance: np.random.Generator) -> FloatArray:
    """Topics of 40 texts each, and in each topic one text that is there 150 times."""
    centres = chance.standard_normal((TOPICS, DIMENSION))
    texts = np.repeat(centres, 40, axis=0) + 0.7 * chance.standard_normal((40 * TOPICS, DIMENSION))
    copies = np.repeat(centres[:8] + 0.7 * chance.standard_normal((8, DIMENSION)), COPIES, axis=0)
    return _unit(chance.permutation(np.concatenate([texts, copies])).astype(np.float32))


@pytest.fixture(scope="module")
def vectors() -> FloatArray:
    return _vectors(np.random.default_rng(1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, vectors: FloatArray) -> Path:
    """A library with these vectors; of its chunks every second, tenth, 300th has the shelf, box, drawer 0."""
    made = tmp_path_factory.mktemp("quantized") / "library"
    store = indexed_store(made, quantized_from=EARLY)
    store.bind_embedder(Fingerprint("test", "clusters", DIMENSION))
    for first in range(0, len(vectors), PER_DOCUMENT):
        numbers = range(first, min(first + PER_DOCUMENT, len(vectors)))
        fields = [{"shelf": n % 2, "box": n % 10, "drawer": n % 300, **({"mark": n} if n % 7 else {})} for n in numbers]
        document, chunks = indexed_texts(
            f"d{first}", [f"text {n}" for n in numbers], list(vectors[numbers.start : numbers.stop]), fields
        )
        store.put(document, chunks)
    store.refresh()
    store.close()
    return made


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[EmbeddedStore]:
    opened = indexed_store(folder, quantized_from=EARLY)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def exact(folder: Path) -> ExactIndex:
    """The same chunks, all of which are looked at."""
    index = ExactIndex()
    database = WritableDatabase(folder / "library.db", create=False)
    with database.changes(0, 0) as (_, entries, _):
        for entry in entries:
            index.add(entry.number, entry.vector, entry.terms, entry.fields)
    database.close()
    return index


def _quantized(folder: Path) -> list[Path]:
    return list((folder / "index").rglob("quantized.data"))


def _questions() -> Sequence[FloatArray]:
    chance = np.random.default_rng(1)
    centres = chance.standard_normal((TOPICS, DIMENSION))
    return list(_unit((centres + 0.5 * np.random.default_rng(2).standard_normal(centres.shape)).astype(np.float32)))


def test_vectors_are_quantized(folder: Path) -> None:
    assert _quantized(folder)


@pytest.mark.parametrize(
    "where",
    [
        None,
        OneOf("shelf", (0,)),
        OneOf("box", (0,)),
        OneOf("drawer", (0,)),
        Not(OneOf("box", (0,))),
        Exists("mark"),
        AllOf((OneOf("shelf", (0,)), OneOf("box", (4,)), Exists("mark"))),
    ],
)
def test_it_finds_what_a_search_of_all_finds(store: EmbeddedStore, exact: ExactIndex, where: Filter | None) -> None:
    shares = []
    for question in _questions():
        expected = exact.search_vectors(question, K, where)
        found = store.search_vectors(question, K, where)
        assert len(found) == len(expected)
        assert found == sorted(found, key=lambda pair: (-pair[1], pair[0]))
        # Of copies any is as good as another.
        shares.append(sum(cosine >= expected[-1][1] - 1e-5 for _, cosine in found) / len(expected))
    assert min(shares) == 1


def test_scores_are_those_of_the_whole_vectors(store: EmbeddedStore, vectors: FloatArray) -> None:
    for question in _questions()[:5]:
        for number, cosine in store.search_vectors(question, K, None):
            assert cosine == pytest.approx(float(vectors[number - 1] @ question), abs=1e-5)


def test_every_field_is_filtered_by_an_index(folder: Path) -> None:
    fields = json.loads((folder / "index" / "state.json").read_text("utf-8"))["fields"]
    database = WritableDatabase(folder / "library.db", create=False)
    with database.changes(0, 0) as (_, entries, _):
        names = {name for entry in entries for name in entry.fields}
    database.close()
    assert {"shelf", "box", "drawer", "mark"} <= names
    # One for its values; numbers have one for their size beside it.
    assert len(fields) >= 2 * len(names)


def test_what_comes_and_goes_later_is_found_or_not(folder: Path) -> None:
    store = indexed_store(folder, quantized_from=EARLY)
    try:
        (question,) = _unit(np.random.default_rng(3).standard_normal((1, DIMENSION)).astype(np.float32))
        store.put(*indexed_texts("late", ["late"], [question], [{"shelf": 0}]))
        ((number, cosine),) = store.search_vectors(question, 1, None)
        assert cosine == pytest.approx(1, abs=1e-5)
        assert not audit(store)
        assert store.remove("late")
        assert number not in {found for found, _ in store.search_vectors(question, K, None)}
    finally:
        store.close()


def test_quantized_from_another_size_is_another_index(tmp_path: Path) -> None:
    store = indexed_store(tmp_path)
    store.bind_embedder(Fingerprint("test", "clusters", DIMENSION))
    rows = _unit(np.random.default_rng(4).standard_normal((600, DIMENSION)).astype(np.float32))
    store.put(*indexed_texts("d", [f"text {n}" for n in range(600)], list(rows)))
    whole = store.search_vectors(rows[0], K, None)
    store.close()
    assert not _quantized(tmp_path)
    early = indexed_store(tmp_path, quantized_from=EARLY)
    assert [number for number, _ in early.search_vectors(rows[0], K, None)] == [number for number, _ in whole]
    early.close()
    assert _quantized(tmp_path)
