from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.tables.database import Aggregate, Comparison, Operator, compute, select
from answerable.tables.table import Origin, Row, Table
from answerable.tables.values import typed


def made(names: list[str], rows: list[list[str]]) -> Table:
    columns, values = typed(names, rows)
    return Table(Origin.TABLE, "", tuple(columns), tuple(Row(0, 0, tuple(each)) for each in values))


SPENT = made(
    ["who", "amount", "day"],
    [
        ["Ana", "0.10 EUR", "2024-01-05"],
        ["luís", "0.20 EUR", "2024-02-01"],
        ["Luis", "12 USD", "2024-03-01"],
        ["Marta", "", "2024-01-01"],
        ["ANA", "0.30 EUR", "2023-12-31"],
    ],
)


def test_sums_are_exact_and_never_mix_currencies() -> None:
    result = compute(SPENT, range(5), Aggregate.SUM, 1)
    assert result.figures == {"EUR": 0.6, "USD": 12}
    assert result.rows == (0, 1, 2, 4)
    assert compute(SPENT, [0, 1], Aggregate.SUM, 1).figures == {"EUR": 0.3}


def test_groups_are_the_same_in_any_case_and_accents() -> None:
    result = compute(SPENT, range(5), Aggregate.COUNT, None, 0)
    assert [(group.name, group.figure, group.rows) for group in result.groups] == [
        ("ANA", 2, (0, 4)),
        ("Luis", 2, (1, 2)),
        ("Marta", 1, (3,)),
    ]
    assert compute(SPENT, range(5), Aggregate.DISTINCT, 0).figures == {"": 3}


def test_extremes_with_all_rows_that_have_them() -> None:
    assert compute(SPENT, [0, 1, 4], Aggregate.MOST, 1).rows == (4,)
    assert compute(SPENT, range(5), Aggregate.FIRST, 2).rows == (4,)
    assert compute(SPENT, range(5), Aggregate.LAST, 2).rows == (2,)
    twice = made(["n"], [["3"], ["1"], ["3"]])
    assert compute(twice, range(3), Aggregate.MOST, 0).rows == (0, 2)


def test_nothing_computed_of_nothing() -> None:
    assert compute(SPENT, [], Aggregate.SUM, 1).figures == {}
    assert compute(SPENT, [3], Aggregate.MEAN, 1).figures == {}
    assert compute(SPENT, [], Aggregate.COUNT, None, 0).groups == ()


@pytest.mark.parametrize(
    ("comparison", "rows"),
    [
        (Comparison(1, Operator.ABOVE, 0.2), [2, 4]),
        (Comparison(1, Operator.AT_MOST, 0.2), [0, 1]),
        (Comparison(2, Operator.BELOW, datetime(2024, 1, 5)), [3, 4]),
    ],
)
def test_selecting_rows(comparison: Comparison, rows: list[int]) -> None:
    assert select(SPENT, [comparison]) == rows


@given(st.lists(st.decimals(-1000, 1000, places=2), min_size=1, max_size=20))
def test_figures_are_those_of_decimal_arithmetic(numbers: list[Decimal]) -> None:
    table = made(["n"], [[f"{number:.2f}"] for number in numbers])
    everything = range(len(numbers))
    assert compute(table, everything, Aggregate.SUM, 0).figures == {"": float(sum(numbers))}
    assert compute(table, everything, Aggregate.MOST, 0).figures == {"": float(max(numbers))}
    assert compute(table, everything, Aggregate.LEAST, 0).figures == {"": float(min(numbers))}
    mean = compute(table, everything, Aggregate.MEAN, 0).figures[""]
    assert mean == pytest.approx(float(sum(numbers) / len(numbers)))
