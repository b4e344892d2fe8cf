"""Questions about workbooks in three languages: figures computed from rows, and rows quoted with their columns."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from helpers import is_figure
from made_office_files import opendocument, saved, table, workbook
from reading_here import read_file

import answerable
from answerable.datatypes import Answer

DAYS = [date(2024, 3, 5), date(2024, 3, 6), date(2024, 4, 5), date(2024, 4, 6)]
EN = [
    ["Trip to Lisbon"],
    [],
    ["Item", "Date", "Supplier", "Amount"],
    ["Flights", DAYS[0], "Aer Azul", 1240],
    ["Hotel", DAYS[1], "Casa Verde", 860.5],
    ["Flights", DAYS[2], "Sol Air", 310],
    ["Taxi", DAYS[3], "Rueda", 42.75],
    ["Total", None, None, 2453.25],
]
ES = [
    ["Concepto", "Fecha", "Proveedor", "Importe"],
    ["Vuelos", DAYS[0], "Aer Azul", "1.240,00 €"],
    ["Hotel", DAYS[1], "Casa Verde", "860,50 €"],
    ["Vuelos", DAYS[2], "Sol Air", "310,00 €"],
    ["Comidas", DAYS[3], "La Rueda", "42,75 €"],
]
PT = [
    ["Descrição", "Data", "Fornecedor", "Valor"],
    ["Passagens", DAYS[0], "Aer Azul", 1240],
    ["Hospedagem", DAYS[1], "Casa Verde", 860.5],
    ["Passagens", DAYS[2], "Sol Air", 310],
    ["Alimentação", DAYS[3], "Padaria", 42.75],
]


def ask(path: Path, data: bytes, question: str) -> Answer:
    path.write_bytes(data)
    with answerable.open(":memory:") as library:
        library.add_documents(read_file(path))
        return library.ask(question)


@pytest.mark.parametrize(
    ("rows", "numbers", "question", "figure", "cells"),
    [
        (
            *(EN, '#,##0.00 "EUR"', "total amount for flights", "1,550 EUR"),
            ["Costs!A4:D4", "Costs!A6:D6"],
        ),
        (
            *(EN, '#,##0.00 "EUR"', "What is the total amount of the flights?", "1,550 EUR"),
            ["Costs!A4:D4", "Costs!A6:D6"],
        ),
        (EN, '#,##0.00 "EUR"', "What was the amount for the hotel?", "Amount: 860.50 EUR", ["Costs!A5:D5"]),
        (ES, "General", "importe total en vuelos", "1.550 EUR", ["Costs!A2:D2", "Costs!A4:D4"]),
        (ES, "General", "¿Cuál es el importe más alto?", "1.240 EUR", ["Costs!A2:D2"]),
        (
            *(PT, "[$R$-416] #,##0.00", "valor total em passagens", "1.550 BRL"),
            ["Costs!A2:D2", "Costs!A4:D4"],
        ),
        (PT, "[$R$-416] #,##0.00", "Qual o valor da hospedagem?", "Valor: R$ 860,50", ["Costs!A3:D3"]),
    ],
)
def test_figures_with_cited_rows(
    tmp_path: Path, rows: list[list[object]], numbers: str, question: str, figure: str, cells: list[str]
) -> None:
    answer = ask(tmp_path / "trip.xlsx", saved(workbook({"Costs": rows}, numbers)), question)
    assert is_figure(answer)
    assert figure in answer.text
    assert [str(citation.location) for citation in answer.citations] == cells
    assert answer.citations[0].link.endswith("/trip.xlsx")


def test_an_opendocument_spreadsheet(tmp_path: Path) -> None:
    rows = [["Concepto", "Importe"], ["Vuelos", 1240.0], ["Hotel", 860.5], ["Vuelos", 310.0]]
    data = opendocument("spreadsheet", table(rows, show=lambda each: f"{each:.2f} €".replace(".", ",")))
    answer = ask(tmp_path / "gastos.ods", data, "¿Cuánto gastamos en vuelos en total?")
    assert "1.550 EUR" in answer.text
    assert [str(citation.location) for citation in answer.citations] == ["Gastos!A2:B2", "Gastos!A4:B4"]


@pytest.mark.long
def test_a_row_far_below_its_header_is_shown_with_its_columns(tmp_path: Path) -> None:
    rows = [["Plant", "Bed", "Watering"], *[[f"plant {number}", f"bed {number % 7}", "daily"] for number in range(900)]]
    rows.append(["Quinoa", "bed of the terrace", "every nine days"])
    answer = ask(tmp_path / "garden.xlsx", saved(workbook({"Beds": rows})), "How often is the quinoa watered?")
    assert "Watering: every nine days" in answer.text
    assert str(answer.citations[0].location) == "Beds!A902:C902"
