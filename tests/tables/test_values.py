"""Cells: numbers with units and currencies, dates in any order, and what is neither; columns decide together."""

from __future__ import annotations

import time
from datetime import datetime

import pytest

from answerable.tables.columns import read_columns
from answerable.tables.table import Column, Kind, Value
from answerable.tables.values import Customs, DayOrder, dollar_of, is_blank, read_value


def test_a_number_has_its_unit() -> None:
    cases: list[tuple[str, float, str]] = [
        ("1,240.50", 1240.5, ""),
        ("1.240,50", 1240.5, ""),
        ("1 240,50", 1240.5, ""),
        ("1\u00a0240,50 €", 1240.5, "EUR"),
        ("1'240.50", 1240.5, ""),
        ("1.200.000", 1_200_000, ""),
        ("12,34,567.50", 1_234_567.5, ""),
        ("-3", -3, ""),
        ("−3,5", -3.5, ""),
        ("(12)", -12, ""),
        ("($1,240.50)", -1240.5, "USD"),
        ("1240€", 1240, "EUR"),
        ("-€5", -5, "EUR"),
        ("€ -5", -5, "EUR"),
        ("12,- €", 12, "EUR"),
        ("R$ 1.200,00", 1200, "BRL"),
        ("US$ 12", 12, "USD"),
        ("$12 MXN", 12, "MXN"),
        ("$12", 12, "USD"),
        ("£3.50", 3.5, "GBP"),
        ("EUR 12.50", 12.5, "EUR"),
        ("12 euros", 12, "EUR"),
        ("30 reais", 30, "BRL"),
        ("5 €/mes", 5, "EUR/mes"),
        ("12 kg", 12, "kg"),
        ("85%", 85, "%"),
        ("85 %", 85, "%"),
        ("45 min", 45, "min"),
        ("60 m²", 60, "m²"),
        ("60 m2", 60, "m2"),
        ("90 km/h", 90, "km/h"),
        (".5", 0.5, ""),
        ("0.125", 0.125, ""),
    ]
    failed = [(text, got) for text, number, unit in cases if (got := read_value(text)) != Value(text, number, unit)]
    assert failed == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "007", "08001", "1st", "2º", "3ª", "A-12", "+34 600 123 456", "10:30", "3-4", "1/2", "sí", "true"),
        *("1,2,3", "1.2.3", "1,24.5", "nan", "inf", "1e400", "3 4", "€", "()", "(12", "12)", "--5", "+-5", "½"),
    ],
)  # fmt: skip
def test_what_is_no_number_is_text(text: str) -> None:
    assert read_value(text) == Value(text)


def test_a_date_in_any_form() -> None:
    cases: list[tuple[str, datetime, bool]] = [
        ("2024-03-05", datetime(2024, 3, 5), True),
        ("2024/3/5", datetime(2024, 3, 5), True),
        ("2024-03-05T10:30:15Z", datetime(2024, 3, 5, 10, 30, 15), False),
        ("2024-03-05 10:30", datetime(2024, 3, 5, 10, 30), False),
        ("14/03/2024", datetime(2024, 3, 14), True),
        ("3/14/2024", datetime(2024, 3, 14), True),
        ("05.03.24", datetime(2024, 3, 5), True),
        ("5/3/2024, 9:05 p. m.", datetime(2024, 3, 5, 21, 5), False),
        ("5 de marzo de 2024", datetime(2024, 3, 5), True),
        ("martes, 5 de marzo de 2024", datetime(2024, 3, 5), True),
        ("5 de março de 2024 às 10:30", datetime(2024, 3, 5, 10, 30), False),
        ("March 5, 2024", datetime(2024, 3, 5), True),
        ("Tue, Mar 5th, 2024 12:30 am", datetime(2024, 3, 5, 0, 30), False),
        ("5th of March 2024", datetime(2024, 3, 5), True),
        ("1º de enero de 2024", datetime(2024, 1, 1), True),
        ("05 mar 2024", datetime(2024, 3, 5), True),
        ("05-mar-24", datetime(2024, 3, 5), True),
        ("03/2024", datetime(2024, 3, 1), True),
        ("2024-03", datetime(2024, 3, 1), True),
        ("marzo de 2024", datetime(2024, 3, 1), True),
        ("Sept. 2024", datetime(2024, 9, 1), True),
    ]
    failed = [
        (text, got)
        for text, time, is_day in cases
        if (got := read_value(text)) != Value(text, time=time, is_day=is_day)
    ]
    assert failed == []


def test_what_is_no_date_is_text() -> None:
    cases = [
        "30/02/2024",
        "2024-13-01",
        "5 de marzo",
        "marzo",
        "32 mar 2024",
        "5 foo 2024",
        "2024-03-05 25:00",
        "2024-03-05 x",
        "1/2/3",
    ]
    failed = [text for text in cases if read_value(text).time is not None]
    assert failed == []


def test_the_order_of_day_and_month_is_a_custom() -> None:
    assert read_value("3/4/2024").time == datetime(2024, 4, 3)
    assert read_value("3/4/2024", Customs(order=DayOrder.MONTH_FIRST)).time == datetime(2024, 3, 4)


def column(name: str, *texts: str, customs: Customs = Customs()) -> tuple[Column, list[Value]]:  # noqa: B008
    (found,), rows = read_columns([name], [[text] for text in texts], customs)
    return found, [value for (value,) in rows]


def numbers(name: str, *texts: str, customs: Customs = Customs()) -> list[float | None]:  # noqa: B008
    return [value.number for value in column(name, *texts, customs=customs)[1]]


def test_a_column_decides_the_decimal_mark() -> None:
    assert numbers("x", "1.200", "3.450,00") == [1200, 3450]
    assert numbers("x", "1,200", "3,450.00") == [1200, 3450]
    assert numbers("x", "1.200", "0.75") == [1.2, 0.75]
    assert numbers("x", "1.200", "2.000.000") == [1200, 2_000_000]


def test_a_lone_mark_is_read_by_currency_then_other_columns_then_language() -> None:
    spanish = Customs(decimal=",")
    assert numbers("x", "1,240") == [1240]
    assert numbers("x", "1.240", customs=spanish) == [1240]
    assert numbers("x", "1,240", customs=spanish) == [1.24]
    assert numbers("x", "$1,240", customs=spanish) == [1240]
    assert numbers("x", "1.240 €") == [1240]
    columns, rows = read_columns(["a", "b"], [["1.240", "3,5"], ["2.000", "4,25"]], Customs())
    assert [[value.number for value in row] for row in rows] == [[1240, 3.5], [2000, 4.25]]
    assert [each.kind for each in columns] == [Kind.NUMBER, Kind.NUMBER]


def test_a_column_decides_the_order_of_dates() -> None:
    dates = [value.time for value in column("x", "3/4/2024", "3/14/2024")[1]]
    assert dates == [datetime(2024, 3, 4), datetime(2024, 3, 14)]
    american = Customs(order=DayOrder.MONTH_FIRST)
    dates = [value.time for value in column("x", "3/4/2024", "14/4/2024", customs=american)[1]]
    assert dates == [datetime(2024, 4, 3), datetime(2024, 4, 14)]
    # In order as months first only: a list of one week after another.
    dates = [value.time for value in column("x", "1/3/2024", "1/10/2024", "2/1/2024", "2/2/2024")[1]]
    assert dates == [datetime(2024, 1, 3), datetime(2024, 1, 10), datetime(2024, 2, 1), datetime(2024, 2, 2)]


def test_nine_tenths_decide_the_kind_and_blanks_do_not_count() -> None:
    nine = [str(number) for number in range(10, 19)]
    assert column("x", *nine, "unknown")[0].kind is Kind.NUMBER
    assert column("x", *nine[:8], "unknown")[0].kind is Kind.TEXT
    assert column("x", "3", "-", "", "n/a")[0].kind is Kind.NUMBER
    assert column("x", "", "-")[0].kind is Kind.TEXT
    assert column("x", "sí", "no")[0].kind is Kind.TEXT
    assert all(is_blank(text) for text in ("", " ", "-", "—", "N/A", "s/d"))
    assert not is_blank("0")


def test_a_name_gives_the_unit_of_bare_numbers() -> None:
    cases = [
        ("Precio (EUR)", "EUR"),
        ("Valor (R$)", "BRL"),
        ("Weight kg", "kg"),
        ("Importe €", "EUR"),
        ("Price [USD]", "USD"),
        ("Duração (min)", "min"),
        ("Amount in GBP", "GBP"),
        ("Share %", "%"),
        ("Price (net)", ""),
        ("Horas", "Horas"),
        ("Precio por noche", ""),
        ("Price per kg", ""),
        ("Presupuesto real", ""),
        ("Team A", ""),
        ("Importe total", ""),
    ]
    for name, unit in cases:
        found, values = column(name, "10", "20")
        assert found == Column(name, Kind.NUMBER, unit), name
        assert [value.unit for value in values] == [unit, unit], name


def test_a_unit_in_common_is_the_column_s() -> None:
    found, values = column("Peso", "3 kg", "2 Kg", "1 kg", "4")
    assert found.unit == "kg"
    assert [value.unit for value in values] == ["kg"] * 4
    found, values = column("Espera", "1 día", "3 días", "2 días")
    assert found.unit == "días"
    assert [value.unit for value in values] == ["días"] * 3
    found, values = column("Cost", "3 EUR", "2 USD", "4")
    assert found.unit == ""
    assert [value.unit for value in values] == ["EUR", "USD", ""]


def test_numbers_that_are_names_are_text() -> None:
    cases: list[tuple[str, tuple[str, ...]]] = [
        ("Teléfono", ("600123456", "91 123 45 67")),
        ("Contato", ("912 345 678", "934 567 890")),
        ("CP", ("28001", "46002")),
        ("Postcode", ("08001", "08002")),
        ("Ref", ("A-12", "A-13")),
        ("Address", ("3 Main", "5 Oak", "7 Elm")),
        ("Place", ("1st", "2nd")),
    ]
    for name, texts in cases:
        found, values = column(name, *texts)
        assert found.kind is Kind.TEXT, name
        assert values == [Value(text) for text in texts], name


def test_years_and_ids_are_no_quantities() -> None:
    cases: list[tuple[str, bool]] = [
        ("Year", True),
        ("Año", True),
        ("ano", True),
        ("Añada", True),
        ("ID", False),
        ("Nº", False),
        ("Código", False),
    ]
    failed = [
        (name, got)
        for name, is_year in cases
        if (got := column(name, "2023", "2024")[0]) != Column(name, Kind.NUMBER, is_quantity=False, is_year=is_year)
    ]
    assert failed == []


def test_counts_and_prices_are_quantities() -> None:
    cases = ["Number", "Number of guests", "Número de personas", "Years of experience", "Price", "Item price"]
    failed = [name for name in cases if not column(name, "14", "3")[0].is_quantity]
    assert failed == []


def test_the_dollar_is_the_one_that_the_document_names() -> None:
    assert dollar_of("Total: $12") == "USD"
    assert dollar_of("Precios en MXN. Total: $12 (US$ 1)") == "MXN"
    assert dollar_of("ARS 12, $13, ARS 14, CLP 1") == "ARS"
    assert dollar_of("Nothing") == "USD"
    assert read_value("12 pesos", Customs(dollar="COP")) == Value("12 pesos", 12, "COP")


@pytest.mark.parametrize(
    "text",
    [
        *("1" * 100_000, "1," * 50_000, "1 " * 50_000, "(" * 100_000, "1.2" * 19, "$" * 39 + "1", "a" * 39 + "1"),
        *("1" + "a/" * 19, "1" + " " * 38 + "x", "1/" * 30, "marzo " * 9 + "1", "1 de " * 11, "lunes " * 9 + "1"),
        *("1" + "," * 59, "\u0661\u0662", "\u00b2"),
    ],
)  # fmt: skip
def test_hostile_cells_are_read_at_once(text: str) -> None:
    started = time.process_time()
    for _ in range(20):
        read_value(text)
    assert time.process_time() - started < 0.5


def test_a_number_with_a_letter_is_a_name() -> None:
    assert [read_value(text).number for text in ("8C", "2B", "60W")] == [None, None, 60.0]
