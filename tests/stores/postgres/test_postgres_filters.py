"""Filters in SQL mean what `filters.matches` says, whatever the fields and values."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest
from helpers import indexed_texts
from hypothesis import given
from hypothesis import strategies as st
from postgres_server import new_library
from property_settings import examples

from answerable.filters import (
    AllOf,
    AnyOf,
    Between,
    Exists,
    Filter,
    Not,
    OneOf,
    comparable,
    matches,
    normalize,
    normalize_fields,
)
from answerable.protocols import Fingerprint
from answerable.stores.postgres.filters import condition
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.postgres.values import decode, encode, fields_from_json, fields_to_json, key

NAMES = ["page", "date", "a.b", "", "k\"'\\", "x\0y", "\1", "日本", "%s", "$1"]
ANYWHERE = np.array([1, 0], np.float32)

texts = st.one_of(st.text(max_size=6), st.sampled_from(["Ana", "ANA", "1", "true", "\0", "\1inf", "inf", "{}", "%s"]))
moments = st.one_of(
    st.datetimes(),
    st.dates(),
    st.datetimes(timezones=st.sampled_from([timezone.utc, timezone(timedelta(hours=5, minutes=30))])),
    st.sampled_from(["2024-03-05", "2024-03-05T10:00:00Z", "9999-12-31", "0001-01-01T00:00:00+14:00", "20240305"]),
)
numbers = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([0.5, -0.0, 1.0, 1e300, 10**300, 2**53 + 1, float(2**53), 5e-324, math.inf, -math.inf, 10**400]),
    st.floats(allow_nan=False),
    st.integers(),
)
values = st.one_of(texts, numbers, st.booleans(), moments)
fields = st.dictionaries(st.sampled_from(NAMES), st.one_of(values, st.lists(values, max_size=4)), max_size=5)


@pytest.fixture(scope="module")
def store() -> Iterator[PostgresStore]:
    """A library of its own; what examples leave there is of no matter to others."""
    made = PostgresStore(new_library())
    made.bind_embedder(Fingerprint("hash", "words", 2))
    yield made
    made.close()


@st.composite
def leaves(draw: st.DrawFn, known: list[Any]) -> Filter:
    """A condition on one field, with values that the chunks have as often as not."""
    field = draw(st.sampled_from(NAMES))
    value = st.one_of(st.sampled_from(known), values) if known else values
    kind = draw(st.sampled_from(["one of", "between", "exists"]))
    if kind == "exists":
        return Exists(field)
    if kind == "one of":
        return OneOf(field, tuple(map(normalize, draw(st.lists(value, max_size=3)))))
    bounds = [
        bound for bound in map(comparable, map(normalize, draw(st.lists(value, max_size=2)))) if bound is not None
    ]
    lower = {draw(st.sampled_from(["gt", "gte"])): bound for bound in bounds[:1]}
    upper = {draw(st.sampled_from(["lt", "lte"])): bound for bound in bounds[1:]}
    return Between(field, **lower, **upper)


def filters_over(known: list[Any]) -> st.SearchStrategy[Filter]:
    """Filters of any shape."""
    return st.recursive(
        leaves(known),
        lambda inner: st.one_of(
            st.builds(Not, inner),
            st.builds(AllOf, st.lists(inner, max_size=3).map(tuple)),
            st.builds(AnyOf, st.lists(inner, max_size=3).map(tuple)),
        ),
        max_leaves=6,
    )


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
    assert fields_from_json(json.loads(fields_to_json(normal))) == normal


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
