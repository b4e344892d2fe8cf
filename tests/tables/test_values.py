from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.tables.table import Kind
from answerable.tables.values import Notation, is_total, read_value, typed


@pytest.mark.parametrize(
    ("text", "number", "unit"),
    [
        ("1,240.50", 1240.5, ""),
        ("1.240,50", 1240.5, ""),
        ("1 240,50", 1240.5, ""),
        ("1.234.567", 1234567, ""),
        ("-3", -3, ""),
        ("(12)", -12, ""),
        ("7,5", 7.5, ""),
        ("1240€", 1240, "EUR"),
        ("€ 1.240", 1240, "EUR"),
        ("R$ 1.200,00", 1200, "BRL"),
        ("US$ 12", 12, "USD"),
        ("£3.50", 3.5, "GBP"),
        ("-$5", -5, "$"),
        ("12 kg", 12, "kg"),
        ("85%", 85, "%"),
        ("45 min", 45, "min"),
        ("21 °C", 21, "°C"),
    ],
)
def test_numbers_and_their_units(text: str, number: float, unit: str) -> None:
    value = read_value(text)
    assert (value.number, value.unit, value.time) == (number, unit, None)


@pytest.mark.parametrize(
    ("text", "time", "is_day"),
    [
        ("2024-05-01", datetime(2024, 5, 1), True),
        ("14/03/2024 10:22", datetime(2024, 3, 14, 10, 22), False),
        ("3/14/2024", datetime(2024, 3, 14), True),
        ("03.04.24", datetime(2024, 4, 3), True),
        ("2024-05-01T09:30:00Z", datetime(2024, 5, 1, 9, 30), False),
        ("5 de marzo de 2024", datetime(2024, 3, 5), True),
        ("5 de março de 2024", datetime(2024, 3, 5), True),
        ("March 5, 2024", datetime(2024, 3, 5), True),
        ("Tue, 5 Mar 2024 2:15 pm", datetime(2024, 3, 5, 14, 15), False),
        ("05 mar 2024", datetime(2024, 3, 5), True),
        ("abril de 2024", datetime(2024, 4, 1), True),
        ("03/2024", datetime(2024, 3, 1), True),
    ],
)
def test_dates(text: str, time: datetime, is_day: bool) -> None:
    value = read_value(text)
    assert (value.time, value.is_day, value.number) == (time, is_day, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yes",
        "0034",
        "A-12",
        "8C",
        "2nd",
        "1.2.3",
        "+34 600 123 456",
        "600 123 456",
        "31/02/2024",
        "10:30",
        "12 dogs",
    ],
)
def test_text_stays_text(text: str) -> None:
    value = read_value(text)
    assert (value.text, value.number, value.time) == (text, None, None)


def test_a_column_decides_what_one_cell_leaves_open() -> None:
    columns, rows = typed(["Precio (EUR)", "Fecha"], [["1.200", "3/4/2024"], ["3,5", "3/14/2024"]], "es")
    assert [(column.kind, column.unit) for column in columns] == [(Kind.NUMBER, "EUR"), (Kind.DATE, "")]
    assert [row[0].number for row in rows] == [1200, 3.5]
    assert [row[1].time for row in rows] == [datetime(2024, 3, 4), datetime(2024, 3, 14)]
    columns, rows = typed(["weight"], [["1.200"], ["3.5"]])
    assert [row[0].number for row in rows] == [1.2, 3.5]


def test_a_column_is_of_numbers_if_nine_tenths_are() -> None:
    assert typed(["n"], [[str(number)] for number in range(9)] + [["none"]])[0][0].kind is Kind.NUMBER
    assert typed(["n"], [["1"], ["2"], ["none"]])[0][0].kind is Kind.TEXT
    assert typed(["n"], [[""], [""]])[0][0].kind is Kind.TEXT


@pytest.mark.parametrize(
    ("text", "expected"), [("Total", True), ("TOTAL GERAL", True), ("Suma:", True), ("Totally", False)]
)
def test_rows_of_totals(text: str, expected: bool) -> None:
    assert is_total(text) is expected


@given(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), st.booleans())
def test_written_numbers_read_the_same(number: float, is_english: bool) -> None:
    written = f"{number:,.2f}"
    if not is_english:
        written = written.translate(str.maketrans(",.", ".,"))
    assert read_value(written, Notation("." if is_english else ",")).number == float(number)


@given(st.text(max_size=80))
def test_any_text_has_a_value(text: str) -> None:
    assert read_value(text).text.split() == text.split() or read_value(text).text == text
