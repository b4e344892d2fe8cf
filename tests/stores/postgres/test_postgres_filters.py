"""Filters in SQL mean what `filters.matches` says, whatever the fields and values."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
from helpers import indexed_texts
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import new_library
from property_settings import examples
from random_filters import fields, filters_over

from answerable.filters import (
    AllOf,
    Between,
    Exists,
    Not,
    OneOf,
    matches,
    normalize_fields,
)
from answerable.protocols import Fingerprint
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.postgres.values import (
    condition,
    decode,
    encode,
    fields_from_json,
    fields_to_json,
    key,
    numbers_to_text,
    vector_from_bytes,
    vector_to_bytes,
)

ANYWHERE = np.array([1, 0], np.float32)


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """A library of its own; what examples leave there is of no matter to others."""
    made = PostgresStore(new_library())
    made.bind_embedder(Fingerprint("hash", "words", 2))
    yield made
    made.close()


@examples(150)
@given(st.data(), st.lists(fields, min_size=1, max_size=5))
def test_sql_passes_what_matches_passes(
    store: PostgresStore, data: st.DataObject, rows: list[Mapping[str, Any]]
) -> None:
    normal = [normalize_fields(row) for row in rows]
    vectors = [[1.0, 0.1 * number] for number in range(len(rows))]
    document, chunks = indexed_texts("d", [f"palabra{number}" for number in range(len(rows))], vectors, normal)
    store.put(document, chunks)
    first = min(number for number, _ in store.search_vectors(ANYWHERE, len(rows), None))
    known = [value for row in normal for several in row.values() for value in several]
    for where in data.draw(st.lists(filters_over(known), min_size=5, max_size=10)):
        found = {number - first for number, _ in store.search_vectors(ANYWHERE, len(rows), where)}
        expected = {number for number, row in enumerate(normal) if matches(where, row)}
        assert found == expected, where
    stored = store.fetch(range(first, first + len(rows)))
    assert [stored[first + number][0].fields for number in range(len(rows))] == normal


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\0\1\ud800\udfff0f")), max_size=8))
def test_every_text_comes_back(text: str) -> None:
    stored = encode(text)
    assert decode(stored) == text
    assert "\0" not in stored
    stored.encode("utf-8")


@given(st.text(max_size=4), st.text(max_size=4))
def test_different_texts_stay_different_and_in_order(one: str, other: str) -> None:
    assert (encode(one) < encode(other)) == (one < other)
    assert (key(one) == key(other)) == (one == other)


def test_keys_fit_an_index() -> None:
    long = ["x" * 100_000, "x" * 100_001, "日" * 501]
    assert len({key(text) for text in long}) == 3
    assert all(len(key(text).encode()) <= 2000 for text in [*long, "日" * 500])


@given(fields)
def test_fields_come_back_from_json(row: Mapping[str, Any]) -> None:
    normal = normalize_fields(row)
    assert fields_from_json(fields_to_json(normal)) == normal


def test_vectors_and_numbers_are_sent_exactly(store: PostgresStore) -> None:
    vector = np.random.default_rng(1).normal(size=384).astype(np.float32)
    assert np.array_equal(vector_from_bytes(vector_to_bytes(vector)), vector)
    numbers = [0.1, 1e-300, -2.5e17, 1 / 3]
    sent = store._connections.run(
        lambda connection: connection.execute(
            "SELECT vector_send(%s::vector) AS vector, %s::float8[] AS numbers", (vector, numbers_to_text(numbers))
        ).fetchall()
    )
    assert np.array_equal(vector_from_bytes(sent[0]["vector"]), vector)
    assert sent[0]["numbers"] == numbers


def test_names_and_values_are_parameters() -> None:
    nasty = "'; DROP TABLE chunks; --"
    bounds = Between(nasty, gte=datetime(2024, 1, 1), lte=datetime(2024, 2, 1))
    text, parameters = condition(AllOf((OneOf(nasty, (nasty,)), bounds, Not(Exists(nasty)))))
    assert "DROP" not in text
    assert text.count("%s") == len(parameters) == 5


def test_days_and_days_of_chats(store: PostgresStore) -> None:
    name = uuid.uuid4().hex
    rows = [normalize_fields({"date": [date(2024, 1, 1), date(2024, 3, 1)]}), normalize_fields({"date": "2024-02-01"})]
    document, chunks = indexed_texts(name, ["uno", "dos"], [[1, 0], [1, 0]], rows)
    store.put(document, chunks)
    # One moment has to lie between both bounds: not one above the lower and another below the upper.
    february = Between("date", gte=datetime(2024, 1, 15), lt=datetime(2024, 2, 15))
    found = store.search_vectors(ANYWHERE, 10, february)
    assert [store.fetch([number])[number][0].chunk.content for number, _ in found] == ["dos"]
