"""The in-memory index of fields passes what `filters.matches` passes, whatever was added and removed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples
from random_filters import fields, filters_over

from answerable.filters import matches, normalize_fields
from answerable.stores.exact import FieldIndex


@examples(300)
@given(st.data(), st.lists(fields, max_size=6), st.sets(st.integers(0, 5)))
def test_the_same_chunks_pass(data: st.DataObject, rows: list[Mapping[str, Any]], removed: set[int]) -> None:
    index = FieldIndex()
    kept = {number: normalize_fields(row) for number, row in enumerate(rows)}
    for number, row in kept.items():
        index.add(number, row)
    for number in removed & kept.keys():
        index.remove(number, kept.pop(number))
    known = [value for row in kept.values() for several in row.values() for value in several]
    for where in data.draw(st.lists(filters_over(known), min_size=1, max_size=5)):
        assert set(index.passing(where)) == {number for number, row in kept.items() if matches(where, row)}
