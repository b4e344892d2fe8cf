"""Test filters: which of them are valid, what they match, and that nothing else can happen."""

from __future__ import annotations

import math
import tracemalloc
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.errors import FilterError
from answerable.filters import (
    DEPTH,
    AllOf,
    AnyOf,
    Between,
    Exists,
    Filter,
    Not,
    OneOf,
    matches,
    normalize,
    normalize_fields,
    parse_filter,
)


def test_parses() -> None:
    cases: list[tuple[Any, Filter | None]] = [
        (None, None),
        ({}, None),
        ({"type": "PDF"}, OneOf("type", ("pdf",))),
        ({"type": ["pdf", "Chát"]}, OneOf("type", ("pdf", "chat"))),
        ({"page": 3}, OneOf("page", (3,))),
        ({"done": True}, OneOf("done", (True,))),
        ({"page": {"gte": 2, "lt": 5}}, Between("page", gte=2.0, lt=5.0)),
        ({"date": {"gt": "2024-03-01T10:00"}}, Between("date", gt=datetime(2024, 3, 1, 10))),
        ({"date": {"gte": date(2024, 3, 1)}}, Between("date", gte=datetime(2024, 3, 1))),
        ({"sender": {"exists": True}}, Exists("sender")),
        ({"sender": {"exists": False}}, Not(Exists("sender"))),
        ({"a": 1, "b": 2}, AllOf((OneOf("a", (1,)), OneOf("b", (2,))))),
        ({"or": [{"a": 1}, {"b": 2}]}, AnyOf((OneOf("a", (1,)), OneOf("b", (2,))))),
        ({"not": {"a": 1}}, Not(OneOf("a", (1,)))),
    ]
    failed = [(where, got) for where, expected in cases if (got := parse_filter(where)) != expected]
    assert failed == []


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("type:pdf", "A filter is a mapping such as {'type': 'pdf'}, not str."),
        ([{"type": "pdf"}], "not list"),
        ({"and": []}, "'and' takes a list of at least one filter."),
        ({"or": "text"}, "'or' takes a list of at least one filter"),
        ({"or": {"a": 1}}, "'or' takes a list of at least one filter"),
        ({"or": [{}]}, "'or' contains an empty filter."),
        ({"not": {}}, "'not' contains an empty filter."),
        ({"type": None}, "'type' takes a value, a list of values, or a range such as {'gte': 3}."),
        ({"type": []}, "'type' takes a value"),
        ({"type": [["pdf"]]}, "'type' takes a value"),
        ({"size": math.nan}, "'size' takes a value"),
        (
            {"page": {}},
            "'page' has nothing; a condition takes gt, gte, lt, lte or exists, and any of several values is a "
            "list: {'page': \\[1, 2]}.",
        ),
        ({"page": {"$gt": 3}}, r"'page' has \$gt; a condition takes"),
        ({"page": {"gte": 1, "exists": True}}, "'page' has exists; a condition takes"),
        ({"page": {"exists": "no"}}, "'page' has exists: 'no'; it must be true or false."),
        ({"page": {"gte": "three"}}, "'page' is compared with 'three', which is neither a number nor a date like"),
        ({"page": {"gte": True}}, "'page' is compared with True"),
        ({"page": {"gte": None}}, "'page' is compared with None"),
        ({"page": {"gte": math.nan}}, "'page' is compared with nan"),
        ({"date": {"gte": "2024-02-30"}}, "neither a number nor a date"),
        ({"date": {"gte": 3, "lt": "2024-01-01"}}, "'date' is compared with both a number and a date."),
        ({"page": {"gt": 3, "gte": 4}}, "'page' has two bounds on one side."),
    ],
)
def test_says_what_is_wrong(where: Any, says: str) -> None:
    with pytest.raises(FilterError, match=says.replace("(", r"\(")):
        parse_filter(where)


def test_nesting_has_a_bound() -> None:
    where: dict[str, Any] = {"a": 1}
    for _ in range(DEPTH - 1):
        where = {"not": where}
    assert matches(parse_filter(where), {"a": [1]}) is (DEPTH % 2 == 1)
    for deeper in (1, 100_000):
        for _ in range(deeper):
            where = {"not": where}
        with pytest.raises(FilterError, match=f"nested more than {DEPTH} deep"):
            parse_filter(where)


def test_normalizes() -> None:
    cases: list[tuple[Any, Any]] = [
        ("  Ação ", "acao"),
        ("STRAßE", "strasse"),
        ("ﬁn", "fin"),
        ("İstanbul", "istanbul"),
        ("Ωμέγα", "ωμεγα"),
        ("日本", "日本"),
        ("", ""),
        (True, True),
        (1.5, 1.5),
        (date(2024, 3, 5), "2024-03-05"),
        (datetime(2024, 3, 5, 21, 15), "2024-03-05t21:15:00"),
        (datetime(2024, 3, 5, 1, tzinfo=timezone(timedelta(hours=3))), "2024-03-04t22:00:00"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-3))), "9999-12-31t23:59:59.999999"),
    ]
    for value, normal in cases:
        assert normalize(value) == normal, value
        assert normalize(normal) == normal, value


def test_what_does_not_compare_is_left_out_of_fields() -> None:
    fields = {"a": None, "b": {"c": 1}, "d": ["X", None, "x", b"x"], "e": math.nan, "f": [], "g": False}
    assert normalize_fields(fields) == {"d": ["x"], "g": [False]}


def test_matches() -> None:
    cases: list[tuple[dict[str, Any], bool]] = [
        ({"date": "2024-03-05T21:15:00"}, True),
        ({"date": datetime(2024, 3, 5, 21, 15)}, True),
        ({"date": {"lte": "2024-03-05"}}, True),
        ({"date": {"lte": " 2024-03-05 "}}, True),
        ({"date": {"lte": date(2024, 3, 5)}}, True),
        ({"date": {"lte": "2024-03-05T00:00:00"}}, False),
        ({"date": {"lt": "2024-03-05"}}, False),
        ({"date": {"lt": "2024-03-06"}}, True),
        ({"date": {"gt": "2024-03-05"}}, False),
        ({"date": {"gt": "2024-03-04"}}, True),
        ({"date": {"gte": "2024-03-05"}}, True),
        ({"date": {"gte": "2024-03-05", "lte": "2024-03-05"}}, True),
        ({"date": {"lte": "9999-12-31"}}, True),
        ({"date": {"gt": "9999-12-31"}}, False),
        ({"date": {"gte": "2024-03-05T23:15:00+02:00", "lte": "2024-03-05T21:15:00Z"}}, True),
        ({"date": {"gt": 0}}, False),
        ({"page": {"gte": "2024-01-01"}}, False),
        ({"page": {"gt": 2, "lt": 4}}, True),
        ({"page": {"gt": 3}}, False),
        ({"page": {"lte": 10**400}}, True),
        ({"page": {"gte": -math.inf}}, True),
        ({"page": 3.0}, True),
        ({"page": True}, False),
        ({"page": "3"}, False),
        ({"flag": True}, True),
        ({"flag": 1}, False),
        ({"flag": {"gte": 0}}, False),
        ({"sender": "JOSE"}, True),
        ({"sender": ["nobody", "ana"]}, True),
        ({"and": [{"sender": "ana"}, {"sender": "josé"}]}, True),
        ({"not": {"sender": "ana"}}, False),
        ({"other": "x"}, False),
        ({"other": {"exists": False}}, True),
        ({"sender": {"exists": True}}, True),
        ({"sender": {"gte": "2024-01-01"}}, False),
    ]
    for where, found in cases:
        fields = {"date": datetime(2024, 3, 5, 21, 15), "page": 3, "flag": True, "sender": ["José", "Ana"]}
        assert matches(parse_filter(where), normalize_fields(fields)) is found, where


# Few names and values, so that examples meet each other.
scalars = st.one_of(
    st.sampled_from(
        ["Ana", "ana", "é", "e", "", "2024-03-05", "2024-03-05T10:00:00", "9999-12-31", "0001-01-01T00:00+14:00"]
    ),
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 1.0, 2.5, math.inf, 10**400]),
    st.booleans(),
    st.dates(),
    st.datetimes(timezones=st.none() | st.timezones()),
)
names = st.sampled_from(["a", "b", "date"])
ranges = st.dictionaries(
    st.sampled_from(["gt", "lte"]), st.integers(-3, 3) | st.floats(allow_nan=False), min_size=1
) | st.dictionaries(st.sampled_from(["gte", "lt"]), st.dates().map(str) | st.datetimes(), min_size=1)
conditions = st.dictionaries(
    names,
    scalars | st.lists(scalars, min_size=1, max_size=3) | ranges | st.fixed_dictionaries({"exists": st.booleans()}),
    min_size=1,
    max_size=2,
)
wheres = st.recursive(
    conditions,
    lambda inner: (
        st.fixed_dictionaries({"not": inner})
        | st.dictionaries(st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3), min_size=1)
    ),
    max_leaves=6,
)
some_fields = st.dictionaries(names, scalars | st.lists(scalars, max_size=3)).map(normalize_fields)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3) | st.sampled_from(["and", "or", "not", "gt", "gte", "lt", "lte", "exists"]), inner
        )
    ),
    max_leaves=12,
)


@given(wheres, some_fields)
def test_logic_holds(where: dict[str, Any], fields: dict[str, Any]) -> None:
    filter = parse_filter(where)
    assert filter is not None
    found = matches(filter, fields)
    assert matches(Not(filter), fields) is not found
    assert matches(parse_filter({"not": where}), fields) is not found
    assert matches(parse_filter({"and": [where, where]}), fields) is found
    assert matches(parse_filter({"or": [where, {"not": where}]}), fields) is True


def test_long_values_are_not_kept() -> None:
    long = "9" * 1_000_000
    tracemalloc.start()
    try:
        for number in range(20):
            assert not matches(parse_filter({"title": f"{number}{long}"}), {"title": ["x"]})
            with pytest.raises(FilterError):
                parse_filter({"date": {"gte": f"{number}{long}"}})
        assert tracemalloc.get_traced_memory()[0] < 5_000_000
    finally:
        tracemalloc.stop()


@given(names, scalars)
def test_a_value_is_found_by_itself(name: str, value: Any) -> None:
    fields = normalize_fields({name: value})
    assert matches(parse_filter({name: value}), fields)
    assert matches(parse_filter({name: fields[name]}), fields)
    assert matches(parse_filter({name: {"exists": True}}), fields)
    assert normalize_fields(fields) == fields


@given(st.text())
def test_normalizing_twice_changes_nothing(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)
    assert normalize(text.strip()) == normalize(text)


@given(st.datetimes(), st.dates())
def test_an_upper_bound_that_is_a_day_includes_the_day(moment: datetime, day: date) -> None:
    fields = normalize_fields({"date": moment})
    for bound in (day, day.isoformat()):
        assert matches(parse_filter({"date": {"lte": bound}}), fields) is (moment.date() <= day)
        assert matches(parse_filter({"date": {"lt": bound}}), fields) is (moment.date() < day)
        assert matches(parse_filter({"date": {"gt": bound}}), fields) is (moment.date() > day)
        assert matches(parse_filter({"date": {"gte": bound}}), fields) is (moment.date() >= day)


@given(anything)
def test_anything_parses_or_is_a_filter_error(where: Any) -> None:
    try:
        filter = parse_filter(where)
    except FilterError:
        return
    assert matches(filter, {"a": [1, "x", True]}) in (True, False)
