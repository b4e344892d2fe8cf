"""The in-memory store beside a dictionary that is searched by the definition."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from toolkit_parts import cosine, made_chunk

from answerable.errors import FilterError
from codomyrmex.llm.rag import InMemoryVectorStore

VECTORS = st.lists(st.integers(-3, 3).map(float), min_size=3, max_size=3)
IDS = st.sampled_from("abcdefgh")
DOCUMENTS = st.sampled_from(["d1", "d2", "d3"])


class StoreMachine(RuleBasedStateMachine):
    """Adds, replaces and deletes in both; every search must find the same."""

    def __init__(self) -> None:
        super().__init__()
        self.store = InMemoryVectorStore()
        self.model: dict[str, tuple[list[float], str, int]] = {}

    @rule(added=st.lists(st.tuples(IDS, VECTORS, DOCUMENTS, st.integers(0, 2)), max_size=5))
    def add(self, added: list[tuple[str, list[float], str, int]]) -> None:
        self.store.add([made_chunk(name, vector, document, year=year) for name, vector, document, year in added])
        self.model.update({name: (vector, document, year) for name, vector, document, year in added})

    @rule(names=st.lists(IDS, max_size=3))
    def delete(self, names: list[str]) -> None:
        assert self.store.delete(names) == len({name for name in names if self.model.pop(name, None)})

    @rule(document=DOCUMENTS)
    def delete_document(self, document: str) -> None:
        gone = [name for name, (_, owner, _) in self.model.items() if owner == document]
        assert self.store.delete_document(document) == len(gone)
        for name in gone:
            del self.model[name]

    @rule(query=VECTORS, k=st.integers(0, 10), year=st.none() | st.integers(0, 2))
    def search(self, query: list[float], k: int, year: int | None) -> None:
        passing = {name: kept for name, kept in self.model.items() if year is None or kept[2] == year}
        expected = sorted((cosine(query, kept[0]) for kept in passing.values()), reverse=True)[:k]
        found = self.store.search(query, k, None if year is None else {"year": year})
        assert [result.score for result in found] == pytest.approx(expected, abs=1e-5)
        assert len({result.chunk.id for result in found}) == len(found)
        for result in found:
            vector, document, kept_year = passing[result.chunk.id]
            assert result.score == pytest.approx(cosine(query, vector), abs=1e-5)
            assert result.chunk.embedding == pytest.approx(vector, abs=1e-5)
            assert (result.chunk.document_id, result.chunk.metadata) == (document, {"year": kept_year})

    @rule(vector=VECTORS)
    def ties_come_in_the_order_in_which_they_were_added(self, vector: list[float]) -> None:
        same = [name for name, kept in self.model.items() if kept[0] == vector]
        found = [result.chunk.id for result in self.store.search(vector, len(self.model))]
        assert [name for name in found if name in same] == same

    @invariant()
    def as_many(self) -> None:
        assert len(self.store) == len(self.model)


TestStoreMachine = StoreMachine.TestCase


def test_the_nearest_comes_first_and_scores_are_cosines() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("far", [0.0, 2.0]), made_chunk("near", [3.0, 0.0]), made_chunk("between", [1.0, 1.0])])
    found = store.search([10.0, 0.0], k=2)
    assert [result.chunk.id for result in found] == ["near", "between"]
    assert [result.score for result in found] == pytest.approx([1.0, math.sqrt(0.5)])


def test_many_equal_vectors_come_in_the_order_in_which_they_were_added() -> None:
    store = InMemoryVectorStore()
    vector = [math.sin(place) for place in range(384)]
    store.add([made_chunk(str(number), vector) for number in range(1001)])
    store.delete([str(number) for number in range(0, 500, 2)])
    expected = [str(number) for number in range(1001) if number % 2 or number >= 500]
    for k in (7, 400, 1001):
        assert [result.chunk.id for result in store.search(vector, k)] == expected[:k]


def test_a_filter_finds_what_few_pass() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk(f"c{number}", [1.0, number / 1000], year=number) for number in range(1000)])
    assert [result.chunk.id for result in store.search([1.0, 0.0], 5, {"year": {"gte": 998}})] == ["c998", "c999"]
    assert [result.chunk.id for result in store.search([1.0, 0.0], 1, {"id": "c500"})] == ["c500"]
    with pytest.raises(FilterError):
        store.search([1.0, 0.0], 1, {"year": {"about": 3}})


def test_zeros_are_like_nothing() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("zero", [0.0, 0.0]), made_chunk("one", [1.0, 0.0]), made_chunk("against", [-1.0, 0.0])])
    scores = {result.chunk.id: result.score for result in store.search([2.0, 0.0])}
    assert scores == {"one": 1.0, "zero": 0.0, "against": -1.0}
    assert [result.score for result in store.search([0.0, 0.0])] == [0.0, 0.0, 0.0]


def test_large_and_small_numbers_keep_their_direction() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("large", [3e200, 4e200]), made_chunk("small", [3e-200, -4e-200])])
    found = store.search([3e-300, 4e-300])
    assert [(result.chunk.id, result.score) for result in found] == [
        ("large", pytest.approx(1.0)),
        ("small", pytest.approx(-0.28)),
    ]
    assert found[0].chunk.embedding == pytest.approx([3e200, 4e200])


@pytest.mark.parametrize(
    ("embedding", "message"),
    [
        (None, "the chunk 'new' has no embedding"),
        ([1.0, 2.0, 3.0], "an embedding has 3 numbers, those in the store 2"),
        ([1.0, math.nan], "must be finite"),
        ([1.0, math.inf], "must be finite"),
        ([], "at least one number"),
        (["a", "b"], "must be lists of numbers"),
    ],
)
def test_an_embedding_that_makes_no_sense_changes_nothing(embedding: Any, message: str) -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("old", [1.0, 0.0])])
    with pytest.raises(ValueError, match=message):
        store.add([made_chunk("old", [0.0, 1.0]), made_chunk("new", embedding)][-1:])
    assert [(result.chunk.id, result.score) for result in store.search([1.0, 0.0])] == [("old", 1.0)]


def test_a_query_that_makes_no_sense_is_refused() -> None:
    store = InMemoryVectorStore()
    assert store.search([1.0, 0.0, 0.0]) == []
    store.add([made_chunk("old", [1.0, 0.0])])
    for query, message in (([1.0], "has 1 numbers"), ([math.nan, 0.0], "finite"), ([], "at least one")):
        with pytest.raises(ValueError, match=message):
            store.search(query)
    with pytest.raises(ValueError, match="k is -1"):
        store.search([1.0, 0.0], -1)


def test_ragged_embeddings_are_refused_together() -> None:
    store = InMemoryVectorStore()
    with pytest.raises(ValueError, match="all of one length"):
        store.add([made_chunk("a", [1.0]), made_chunk("b", [1.0, 2.0])])
    assert len(store) == 0


def test_an_empty_store_takes_vectors_of_another_model() -> None:
    store = InMemoryVectorStore()
    store.add([made_chunk("a", [1.0])])
    assert store.delete("a") == 1
    store.add([made_chunk("b", [1.0, 2.0])])
    assert len(store.search([1.0, 0.0])) == 1


def test_what_callers_change_stays_outside() -> None:
    store = InMemoryVectorStore()
    chunk = made_chunk("a", [1.0, 0.0], year=1)
    store.add([chunk])
    chunk.content, chunk.embedding, chunk.metadata["year"] = "other", [0.0, 1.0], 2
    store.search([1.0, 0.0])[0].chunk.metadata["year"] = 3
    (found,) = store.search([1.0, 0.0], where={"year": 1})
    assert (found.chunk.content, found.score, found.chunk.metadata) == ("a", 1.0, {"year": 1})
