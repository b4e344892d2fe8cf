"""What the store on a Qdrant server rests on, as Qdrant's own engine does it: Qdrant Edge, in process, no server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
import qdrant_edge as edge
from helpers import indexed_texts
from qdrant_engine import EdgeEngine
from qdrant_libraries import ANYWHERE, opened
from qdrant_server import StandIn

from answerable.filters import parse_filter
from answerable.stores.audit import audit
from answerable.stores.qdrant.store import QdrantStore

STATE = 1


@pytest.fixture
def shard(tmp_path: Path) -> Iterator[Any]:
    """An empty collection with the indexes that the store asks for."""
    dense = edge.EdgeVectorParams(size=2, distance=edge.Distance.Dot)
    made = edge.EdgeShard.create(str(tmp_path), edge.EdgeConfig(vectors={"dense": dense}))
    for key in ("generation", "version"):
        made.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Integer))
    yield made
    made.close()


def only(version: int) -> Any:
    return edge.Filter(must=[edge.FieldCondition(key="version", match=edge.MatchValue(version))])


def write(shard: Any, version: int, by: str, expected: int) -> dict[str, Any]:
    """A write on condition that the point has the expected version; gives what the point is then."""
    point = edge.Point(STATE, {"dense": [0.0, 0.0]}, {"version": version, "by": by})
    shard.update(edge.UpdateOperation.upsert_points([point], condition=only(expected)))
    return dict(shard.retrieve([STATE], True, False)[0].payload)


def test_a_conditional_write_changes_only_the_expected_version(shard: Any) -> None:
    assert write(shard, 0, "first", expected=-1) == {"version": 0, "by": "first"}
    assert write(shard, 0, "second", expected=-1) == {"version": 0, "by": "first"}
    assert write(shard, 1, "first", expected=0) == {"version": 1, "by": "first"}
    assert write(shard, 1, "late", expected=0) == {"version": 1, "by": "first"}
    assert write(shard, 2, "next", expected=1) == {"version": 2, "by": "next"}


def test_inner_products_leave_vectors_as_they_are(shard: Any) -> None:
    vector = [0.6000000238418579, 0.7999999523162842]
    shard.update(edge.UpdateOperation.upsert_points([edge.Point(7, {"dense": vector}, {})]))
    (found,) = shard.retrieve([7], False, True)
    assert found.vector == {"dense": vector}
    request = edge.QueryRequest(limit=5, query=edge.Query.Nearest([1.0, 0.0], using="dense"))
    assert [(point.id, point.score) for point in shard.query(request)] == [(7, pytest.approx(0.6))]


def test_generations_that_count(shard: Any) -> None:
    points = [edge.Point(number, {"dense": [1.0, 0.0]}, {"generation": number}) for number in range(1, 9)]
    shard.update(edge.UpdateOperation.upsert_points(points))
    given = edge.FieldCondition(key="generation", range=edge.RangeFloat(lte=7))
    hidden = [
        edge.FieldCondition(key="generation", range=edge.RangeFloat(gte=2, lte=3)),
        edge.FieldCondition(key="generation", match=edge.MatchAny([5])),
    ]
    counting = edge.Filter(must=[given], must_not=hidden)
    request = edge.QueryRequest(limit=9, query=edge.Query.Nearest([1.0, 0.0], using="dense"), filter=counting)
    assert sorted(point.id for point in shard.query(request)) == [1, 4, 6, 7]
    assert shard.count(edge.CountRequest(exact=True, filter=counting)) == 4
    shard.update(edge.UpdateOperation.delete_points_by_filter(edge.Filter(should=hidden)))
    assert shard.count(edge.CountRequest(exact=True)) == 5


FILTERS: list[Mapping[str, Any]] = [
    {},
    {"year": {"gt": 2003}},
    {"year": {"gte": 2001, "lt": 2004}, "colour": ["red", "blue"]},
    {"colour": ["red", "blue"]},
    {"not": {"colour": "red"}},
    {"or": [{"document_id": ["d1", "d6"]}, {"colour": {"exists": False}}]},
]


def fill(store: QdrantStore) -> None:
    """Writes a small library of which something is replaced and something removed."""
    for number in range(8):
        texts = [f"Uno dos palabra{number}.", "Tres cuatro." * number][: number + 1]
        vectors: Sequence[Sequence[float]] = [[1, number, 0, 0], [number, 1, 1, 0]][: number + 1]
        colour = {"colour": [["red", "blue"][number % 2]]} if number % 3 else {}
        fields = {"year": [2000 + number], "document_id": [f"d{number}"], **colour}
        language = "es" if number % 2 else "pt"
        store.put(*indexed_texts(f"d{number}", texts, vectors, [fields] * 2, language=language))
    store.put(*indexed_texts("d3", ["Uno nuevo."], [[0, 0, 1, 0]], [{"year": [2003]}], language="en"), ["d3"])
    store.remove("d5")


def assert_alike(one: QdrantStore, other: QdrantStore) -> None:
    """Everything that can be asked of the two is the same, scores but for their last digits."""
    for where in map(parse_filter, FILTERS):
        expected = dict(one.search_vectors(ANYWHERE, 20, where)), dict(one.search_terms(["uno", "tres"], 20, where))
        assert all(expected)
        assert dict(other.search_vectors(ANYWHERE, 20, where)) == pytest.approx(expected[0])
        assert dict(other.search_terms(["uno", "tres"], 20, where)) == pytest.approx(expected[1])
    asked: list[Callable[[QdrantStore], Any]] = [
        lambda store: store.languages(),
        lambda store: store.document_frequency(["uno", "dos", "nuevo", "nada"]),
        lambda store: store.count(),
        lambda store: {number: (found.chunk, owner) for number, (found, owner) in store.fetch(range(20)).items()},
        lambda store: [found.vector.tolist() for found in store.indexed_chunks("d4")],
        lambda store: list(store.documents()),
        lambda store: audit(store),
    ]
    for ask in asked:
        assert ask(one) == ask(other)


def test_the_stand_in_gives_the_same_on_either_engine() -> None:
    """In front of Qdrant Edge, as large libraries need it, and of the client's in-process mode."""
    with ExitStack() as entered:
        servers = [entered.enter_context(closing(StandIn(engine=engine))) for engine in (None, EdgeEngine())]
        one, other = [entered.enter_context(closing(opened(server.address()))) for server in servers]
        for store in (one, other):
            fill(store)
        assert one.count() == (7, 12)
        assert_alike(one, other)
