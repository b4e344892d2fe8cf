"""The vector store on both of its indexes, FAISS and numpy, by one suite."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples
from whatsapp_program import run

from rag._indexes import FaissIndex, NumpyIndex
from rag.vector_store import InMemoryFAISS, l2_normalize


class FaissStore(InMemoryFAISS):
    """The store as it is where FAISS is installed."""

    _index_type = FaissIndex


class NumpyStore(InMemoryFAISS):
    """The store as it is where FAISS isn't installed."""

    _index_type = NumpyIndex


@pytest.fixture(params=[FaissStore, NumpyStore])
def kind(request: pytest.FixtureRequest) -> type[InMemoryFAISS]:
    """One of the two."""
    found: type[InMemoryFAISS] = request.param
    return found


def filled(kind: type[InMemoryFAISS], vectors: Any) -> InMemoryFAISS:
    """A store with these vectors under the ids 0, 1, …, each with its id as metadata."""
    rows = np.asarray(vectors)
    store = kind(rows.shape[1])
    store.add([str(row) for row in range(len(rows))], rows, [{"id": row} for row in range(len(rows))])
    return store


def ids(found: list[dict[str, Any]]) -> list[int]:
    return [metadata["id"] for metadata in found]


def test_the_signatures_are_the_specified_ones() -> None:
    assert list(inspect.signature(InMemoryFAISS).parameters) == ["dim"]
    assert list(inspect.signature(InMemoryFAISS.add).parameters) == ["self", "ids", "embeddings", "metadatas"]
    search = inspect.signature(InMemoryFAISS.search).parameters
    assert list(search) == ["self", "query_embeddings", "top_k"]
    assert search["top_k"].default == 5


def test_the_best_come_first_with_their_cosines(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, [[1, 0], [0, 1], [3, 4], [-1, 0]])
    scores, found = store.search(np.array([[10.0, 0.0]]), top_k=3)
    assert scores.shape == (1, 3)
    assert scores.dtype == np.float32
    assert scores[0].tolist() == pytest.approx([1, 0.6, 0], abs=1e-6)
    assert ids(found[0]) == [0, 2, 1]


def test_each_query_gets_its_own(kind: type[InMemoryFAISS]) -> None:
    scores, found = filled(kind, np.eye(4)).search(np.eye(4)[[2, 0]], top_k=2)
    assert scores.shape == (2, 2)
    assert [ids(each) for each in found] == [[2, 0], [0, 1]]


def test_no_more_columns_than_vectors(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, np.eye(3))
    assert store.size() == 3
    scores, found = store.search(np.eye(3))
    assert scores.shape == (3, 3)
    assert [len(each) for each in found] == [3, 3, 3]
    assert store.search(np.eye(3), top_k=0)[0].shape == (3, 0)
    assert store.search(np.zeros((0, 3)))[0].shape == (0, 3)


def test_an_empty_store_finds_nothing(kind: type[InMemoryFAISS]) -> None:
    store = kind(2)
    store.add([], np.zeros((0, 2)), [])
    scores, found = store.search(np.ones((3, 2)), top_k=4)
    assert store.size() == 0
    assert scores.shape == (3, 0)
    assert found == [[], [], []]


def test_ties_go_to_what_was_added_first(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, [[0, 1]] * 50 + [[1, 0]] * 50)
    scores, found = store.search(np.array([[1.0, 0.0]]), top_k=60)
    assert ids(found[0]) == [*range(50, 100), *range(10)]
    assert scores[0].tolist() == [1.0] * 50 + [0.0] * 10


def test_an_id_that_is_there_is_replaced(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, np.eye(3))
    assert ids(store.search(np.eye(3)[:1], 1)[1][0]) == [0]
    store.add(["0", "9"], np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), [{"id": "new"}, {"id": 9}])
    assert store.size() == 4
    assert store.search(np.eye(3), 1)[1] == [[{"id": 9}], [{"id": 1}], [{"id": "new"}]]


def test_a_zero_vector_is_like_nothing(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, [[0, 0], [1, 1]])
    scores, found = store.search(np.array([[1, 1], [0, 0]]), 2)
    assert ids(found[0]) == [1, 0]
    assert scores.tolist() == [[pytest.approx(1), 0], [0, 0]]


@pytest.mark.parametrize(
    ("ids", "embeddings", "metadatas", "message"),
    [
        (["x"], np.ones((1, 4)), [{}], r"shape \(1, 4\).*\(vectors, 3\)"),
        (["x"], np.ones(3), [{}], r"shape \(3,\)"),
        (["x"], np.ones((2, 3)), [{}, {}], "1 ids, 2 embeddings"),
        (["x", "y"], np.ones((2, 3)), [{}], "1 metadatas"),
        (["x", "y"], np.array([[1, 0, 0], [0, np.nan, 0]]), [{}, {}], "finite"),
        (["x"], np.array([[np.inf, 0, 0]]), [{}], "finite"),
        (["x"], np.array([["a", "b", "c"]]), [{}], "finite"),
    ],
)
def test_what_does_not_fit_is_refused_as_a_whole(
    kind: type[InMemoryFAISS], ids: list[str], embeddings: np.ndarray, metadatas: list[dict[str, Any]], message: str
) -> None:
    store = filled(kind, np.eye(3))
    with pytest.raises(ValueError, match=message):
        store.add(ids, embeddings, metadatas)
    assert store.size() == 3
    assert store.search(np.eye(3)[:1], 5)[1][0] == [{"id": 0}, {"id": 1}, {"id": 2}]


def test_queries_that_do_not_fit_are_refused(kind: type[InMemoryFAISS]) -> None:
    store = filled(kind, np.eye(3))
    for query in (np.ones((1, 2)), np.ones(3), np.array([[np.nan, 0, 0]])):
        with pytest.raises(ValueError, match="embeddings"):
            store.search(query)
    with pytest.raises(ValueError, match="top_k is -1"):
        store.search(np.eye(3), -1)
    with pytest.raises(ValueError, match="dim is 0"):
        kind(0)


def test_a_caller_cannot_change_what_is_stored(kind: type[InMemoryFAISS]) -> None:
    store = kind(2)
    vectors = np.array([[1.0, 0.0]], np.float32)
    metadata = {"participants": ["Ana"]}
    store.add(["x"], vectors, [metadata])
    metadata["participants"].append("Juan")
    vectors[0] = [0.0, 1.0]
    store.search(np.array([[1.0, 0.0]]))[1][0][0]["participants"].clear()
    scores, found = store.search(np.array([[1.0, 0.0]]))
    assert found == [[{"participants": ["Ana"]}]]
    assert scores.tolist() == [[1.0]]


@examples(60)
@given(st.data())
def test_both_indexes_find_the_same(data: st.DataObject) -> None:
    dim, rows = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 40))
    # Few different numbers: many ties, at the last place too.
    numbers = st.integers(-2, 2)
    vectors = np.array(data.draw(st.lists(st.lists(numbers, min_size=dim, max_size=dim), min_size=rows, max_size=rows)))
    k = data.draw(st.integers(0, rows + 2))
    one, other = (filled(kind, vectors).search(vectors[:3], k) for kind in (FaissStore, NumpyStore))
    assert one[1] == other[1]
    assert one[0].tolist() == other[0].tolist()


def test_both_indexes_find_the_same_in_a_large_store() -> None:
    random = np.random.default_rng(7)
    vectors = random.standard_normal((5000, 384)).astype(np.float32)
    vectors[1000:1100] = vectors[:100]
    one, other = (filled(kind, vectors).search(vectors[:50], 20) for kind in (FaissStore, NumpyStore))
    assert one[1] == other[1]
    assert np.abs(one[0] - other[0]).max() <= 1e-5
    expected = (l2_normalize(vectors[:50]).astype(np.float64) @ l2_normalize(vectors).astype(np.float64).T).max(axis=1)
    assert np.abs(one[0][:, 0] - expected).max() <= 1e-6


def test_vectors_may_come_one_by_one(kind: type[InMemoryFAISS]) -> None:
    store = kind(8)
    for number in range(2000):
        store.add([str(number)], np.eye(8)[number % 8][None], [{"id": number}])
    assert ids(store.search(np.eye(8)[[3]], 2)[1][0]) == [3, 11]


def test_without_faiss_numpy_searches() -> None:
    code = (
        "import sys, numpy as np; sys.modules.update({m: None for m in sys.argv[1:]})\n"
        "from rag.vector_store import InMemoryFAISS\n"
        "store = InMemoryFAISS(2); store.add(['a', 'b'], np.eye(2), [{'id': 'a'}, {'id': 'b'}])\n"
        "print(InMemoryFAISS._index_type.__name__, store.search(np.eye(2)[1:], 1)[1])"
    )
    for missing, name in ((["faiss"], "NumpyIndex"), ([], "FaissIndex")):
        assert run(code, *missing).strip() == f"{name} [[{{'id': 'b'}}]]"


@pytest.mark.parametrize(
    "vectors",
    [
        np.array([[3.0, 4.0]]),
        np.array([3.0, 4.0]),
        np.array([[3, 4]]),
        np.array([[3e300, 4e300]]),
        np.array([[3e-320, 4e-320]]),
        np.array([[[3e38, 4e38]]], np.float64),
    ],
)
def test_normalized_vectors_have_length_one(vectors: npt.NDArray[Any]) -> None:
    normalized = l2_normalize(vectors)
    assert normalized.shape == vectors.shape
    assert normalized.dtype == np.float32
    assert normalized.ravel().tolist() == pytest.approx([0.6, 0.8], rel=1e-3)


def test_zero_vectors_stay_zero() -> None:
    assert l2_normalize(np.zeros((2, 3))).tolist() == [[0, 0, 0]] * 2
    assert l2_normalize(np.zeros((0, 3))).shape == (0, 3)
    given = np.array([[3.0, 4.0]])
    l2_normalize(given)
    assert given.tolist() == [[3.0, 4.0]]
