"""Computing with tables: aggregates, groups, units; always as a plain computation has it."""

from __future__ import annotations

import time
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import Document
from answerable.sources.records import read_records
from answerable.sources.whatsapp.read import read_chat
from answerable.tables.compute import Aggregate, Group, Period, Result, compute
from answerable.tables.find import find_tables
from answerable.tables.table import Column, Kind, Origin, Row, Table, Value

WHO, WHAT, WHEN, COST = range(4)


def table_of(document: Document) -> Table:
    (table,) = find_tables(document)
    return table


@pytest.fixture
def costs() -> Table:
    return table_of(
        read_records(
            "who;what;when;cost\n"
            "Ana;hotel en Évora;2024-03-05;0,1 €\n"
            "ANÁ ;vuelos;2024-03-06;0,2 €\n"
            "Ben;vuelo a Lisboa;2024-04-01;5 USD\n"
            "Ben;-;2024-04-02;n/a\n"
            "Eva;taxi;2025-03-05;7,25 €\n",
            "a.csv",
        )
    )


def test_figures_of_units_are_apart_and_exact(costs: Table) -> None:
    assert compute(costs, range(5), Aggregate.SUM, COST) == Result({"EUR": 7.55, "USD": 5}, (0, 1, 2, 4))
    assert compute(costs, [0, 1], Aggregate.SUM, COST) == Result({"EUR": 0.3}, (0, 1))
    assert compute(costs, [0, 1], Aggregate.MEAN, COST) == Result({"EUR": 0.15}, (0, 1))
    assert compute(costs, range(5), Aggregate.MOST, COST) == Result({"EUR": 7.25, "USD": 5}, (2, 4))
    assert compute(costs, range(5), Aggregate.LEAST, COST) == Result({"EUR": 0.1, "USD": 5}, (0, 2))


def test_counts(costs: Table) -> None:
    assert compute(costs, range(5), Aggregate.COUNT) == Result({"": 5}, (0, 1, 2, 3, 4))
    assert compute(costs, range(5), Aggregate.COUNT, COST) == Result({"": 4}, (0, 1, 2, 4))
    assert compute(costs, range(5), Aggregate.DISTINCT, WHO) == Result({"": 3}, (0, 1, 2, 3, 4))
    assert compute(costs, [], Aggregate.COUNT) == Result({"": 0}, ())
    assert compute(costs, [], Aggregate.DISTINCT, WHAT) == Result({"": 0}, ())
    assert compute(costs, [], Aggregate.SUM, COST) == Result({}, ())
    assert compute(costs, [], Aggregate.COUNT, group=WHO) == Result({}, ())


def test_the_first_and_the_last_time_are_rows(costs: Table) -> None:
    assert compute(costs, range(5), Aggregate.MOST, WHEN) == Result({}, (4,))
    assert compute(costs, range(5), Aggregate.LEAST, WHEN) == Result({}, (0,))
    assert compute(costs, range(5), Aggregate.MOST, COST, limit=2).rows == (1, 2, 4)


def test_groups_are_one_in_any_spelling_and_sorted(costs: Table) -> None:
    groups = compute(costs, range(5), Aggregate.COUNT, group=WHO).groups
    assert groups == (Group("Ana", {"": 2}, (0, 1)), Group("Ben", {"": 2}, (2, 3)), Group("Eva", {"": 1}, (4,)))
    sums = compute(costs, range(5), Aggregate.SUM, COST, group=WHO, limit=2)
    assert sums == Result({}, (0, 1, 4), (Group("Eva", {"EUR": 7.25}, (4,)), Group("Ana", {"EUR": 0.3}, (0, 1))))
    least = compute(costs, range(5), Aggregate.LEAST, COST, group=WHO).groups
    assert [group.name for group in least] == ["Ana", "Eva", "Ben"]
    assert compute(costs, range(5), Aggregate.MOST, WHEN, group=WHO).rows == (1, 3, 4)


def test_times_are_grouped_by_day_month_or_year(costs: Table) -> None:
    def named(period: Period) -> list[tuple[str, tuple[int, ...]]]:
        found = compute(costs, range(5), Aggregate.COUNT, group=WHEN, period=period)
        return [(group.name, group.rows) for group in found.groups]

    assert named(Period.MONTH) == [("2024-03", (0, 1)), ("2024-04", (2, 3)), ("2025-03", (4,))]
    assert named(Period.YEAR) == [("2024", (0, 1, 2, 3)), ("2025", (4,))]
    assert [name for name, _ in named(Period.DAY)][:2] == ["2024-03-05", "2024-03-06"]


def test_rows_without_a_name_are_a_group_of_their_own(costs: Table) -> None:
    groups = compute(costs, range(5), Aggregate.COUNT, group=WHAT).groups
    assert groups[-2] == Group("", {"": 1}, (3,))


def test_what_cannot_be_computed_is_an_error(costs: Table) -> None:
    for aggregate, column in (
        (Aggregate.SUM, WHO),
        (Aggregate.SUM, -1),
        (Aggregate.MEAN, WHEN),
        (Aggregate.MOST, WHO),
        (Aggregate.LEAST, -1),
        (Aggregate.DISTINCT, -1),
    ):
        with pytest.raises(ValueError, match="takes a column"):
            compute(costs, range(5), aggregate, column)
    years = table_of(Document.from_text("| Year | n |\n|---|---|\n| 2023 | 1 |\n| 2024 | 2 |\n"))
    with pytest.raises(ValueError, match="quantities"):
        compute(years, range(2), Aggregate.SUM, 0)
    assert compute(years, range(2), Aggregate.MOST, 0).figures == {"": 2024}


def test_messages_of_a_chat_are_counted() -> None:
    lines = [f"{day}/3/24, 21:15 - {'Ana' if day % 3 else 'Ben'}: mensaje {day}\n" for day in range(1, 31)]
    table = table_of(read_chat("".join(lines), "chat.txt"))
    week = [day - 1 for day in range(4, 11) if day % 3]
    assert compute(table, week, Aggregate.COUNT) == Result({"": 5}, (3, 4, 6, 7, 9))
    assert [group.name for group in compute(table, range(30), Aggregate.COUNT, group=0).groups] == ["Ana", "Ben"]


CENTS = st.integers(-10_000_000, 10_000_000).map(lambda cents: float(Decimal(cents) / 100))
NAME = st.sampled_from(["Ana", "ana", " ANA", "Bén", "Ben", "Zoe", "", "-"])
UNIT = st.sampled_from(["EUR", "USD", ""])
TIME = st.integers(0, 5_000).map(lambda hours: datetime(2023, 1, 1) + timedelta(hours=hours))
ROWS = st.lists(st.tuples(NAME, CENTS | st.none(), UNIT, TIME), max_size=30)


def made(rows: list[tuple[str, float | None, str, datetime]]) -> Table:
    columns = (Column("who", Kind.TEXT), Column("cost", Kind.NUMBER), Column("when", Kind.DATE))
    return Table(
        Origin.TABLE,
        "",
        columns,
        tuple(
            Row(index, index + 1, (Value(who), _cost(cost, unit), Value(str(when), time=when)))
            for index, (who, cost, unit, when) in enumerate(rows)
        ),
    )


def _cost(cost: float | None, unit: str) -> Value:
    return Value("") if cost is None else Value(str(cost), cost, unit)


@examples(300)
@given(ROWS, CENTS, TIME)
def test_computing_equals_plain_python(
    rows: list[tuple[str, float | None, str, datetime]], bound: float, since: datetime
) -> None:
    table = made(rows)
    kept = [n for n, (_, cost, _, when) in enumerate(rows) if cost is not None and cost >= bound and when < since]
    sums: Counter[str] = Counter()
    cents = {n: round((rows[n][1] or 0) * 100) for n in kept}
    for n in kept:
        sums[rows[n][2]] += cents[n]
    found = compute(table, kept, Aggregate.SUM, 1)
    assert found.rows == tuple(kept)
    assert found.figures == {rows[n][2]: sums[rows[n][2]] / 100 for n in kept}
    most = compute(table, kept, Aggregate.MOST, 1)
    tops = {unit: max(cents[n] for n in kept if rows[n][2] == unit) for unit in {rows[n][2] for n in kept}}
    assert most.rows == tuple(n for n in kept if cents[n] == tops[rows[n][2]])
    last = compute(table, kept, Aggregate.MOST, 2)
    assert last.rows == tuple(n for n in kept if rows[n][3] == max(rows[each][3] for each in kept))


@examples(300)
@given(ROWS)
def test_groups_equal_plain_python(rows: list[tuple[str, float | None, str, datetime]]) -> None:
    keys = {"Ana": "a", "ana": "a", " ANA": "a", "Bén": "b", "Ben": "b", "Zoe": "z", "": "", "-": ""}
    expected: dict[str, list[int]] = {}
    for n, (who, *_) in enumerate(rows):
        expected.setdefault(keys[who], []).append(n)
    result = compute(made(rows), range(len(rows)), Aggregate.COUNT, group=0)
    assert sorted(group.rows for group in result.groups) == sorted(tuple(each) for each in expected.values())
    assert [group.figures[""] for group in result.groups] == sorted(map(len, expected.values()), reverse=True)
    assert result.rows == tuple(range(len(rows)))


def test_fifty_thousand_rows_are_computed_in_a_second() -> None:
    start = datetime(2024, 1, 1)
    table = made([("", n / 100, "EUR", start + timedelta(minutes=n)) for n in range(50_000)])
    started = time.process_time()
    assert compute(table, range(50_000), Aggregate.COUNT).figures == {"": 50_000}
    assert time.process_time() - started < 1
    assert len(compute(table, range(50_000), Aggregate.SUM, 1, group=2, period=Period.MONTH).groups) == 2
