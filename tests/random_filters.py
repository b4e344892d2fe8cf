"""Generate fields and filters of any shape, with values that are hard to compare."""

from __future__ import annotations

import math
from datetime import timedelta, timezone
from typing import Any

from hypothesis import strategies as st

from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, comparable, normalize

NAMES = ["page", "date", "a.b", "", "k\"'\\", "x\0y", "\1", "日本", "%s", "$1"]

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
