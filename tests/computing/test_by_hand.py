"""Exact queries by hand: `Library.table`, and `answerable table`, each row with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from answerable import Library
from answerable.errors import PlanError
from answerable.interfaces.cli.main import app

EXPENSES, CHAT = "gastos.csv", "WhatsApp Chat with Lake house.txt"


def computed(library: Library, name: str, **given: Any) -> list[str]:
    """The result and the rows; each citation is the document's own text."""
    found = library.table(library.resolve(name), **given)
    for _, cited in found.lines:
        for each in cited:
            assert library.document(each.document_id).content[each.start : each.end] == each.quote
    return [line for line, _ in found.lines[1:]]


@pytest.mark.parametrize(
    ("name", "given", "result"),
    [
        (EXPENSES, {"operation": "sum", "column": "Importe"}, "1.250,75 EUR, from 5 rows"),
        (EXPENSES, {"operation": "sum", "column": "Importe", "where": ["Pagado por=ana"]}, "470,50 EUR, from 2 rows"),
        (
            EXPENSES,
            {"operation": "average", "column": "Importe", "where": ["Fecha>=2024-02"]},
            "350,08 EUR, from 3 rows",
        ),
        (EXPENSES, {"operation": "count", "where": ["Importe>100", "Importe <= 350"]}, "3 rows"),
        (EXPENSES, {"operation": "count", "where": ["Concepto~TRIC"]}, "1 row"),
        (EXPENSES, {"operation": "distinct", "column": "Categoría"}, "2 different values, in 5 rows"),
        (EXPENSES, {"operation": "most", "column": "Fecha"}, "11/03/2024 (1 row)"),
        (EXPENSES, {"operation": "count", "where": ["Concepto="]}, "0 rows"),
        (EXPENSES, {"operation": "count", "where": ["Concepto!="]}, "5 rows"),
        ("members.md", {"operation": "least", "column": "Fee"}, "40 EUR (1 row)"),
        (CHAT, {"operation": "count", "where": ["sender=Ben"]}, "3 messages"),
    ],
)
def test_a_figure(club: Library, name: str, given: dict[str, Any], result: str) -> None:
    assert computed(club, name, **given)[0] == f"Result: {result}"


def test_groups_and_sorted_rows(club: Library) -> None:
    by_person = computed(club, EXPENSES, operation="sum", column="Importe", by="Pagado por")
    assert by_person[1:] == ["- Ana: 470,50 EUR (2 rows)", "- Marta: 410,25 EUR (1 row)", "- Luis: 370 EUR (2 rows)"]
    by_month = computed(club, EXPENSES, operation="count", by="Fecha", period="month", limit=2)
    assert by_month[1:] == ["- 2024-01: 2 rows", "- 2024-02: 1 row", "… and 1 more"]
    cheapest = computed(club, EXPENSES, sort="Importe", limit=1)[1]
    dearest = computed(club, EXPENSES, sort="-Importe", limit=1)[1]
    assert ("Pintura" in cheapest, "Azulejos" in dearest) == (True, True)
    by_name = computed(club, "members.md", sort="-Name")
    assert [line[8:11] for line in by_name[1:]] == ["Dan", "Car", "Ben", "Ana"]


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        (EXPENSES, {"operation": "sum", "column": "Concepto"}, "needs a column of numbers, not Concepto"),
        (EXPENSES, {"operation": "sum", "column": "Price"}, "there is no column 'Price'"),
        (EXPENSES, {"operation": "median", "column": "Importe"}, "'median' is none of count"),
        (EXPENSES, {"operation": "count", "by": "Fecha", "period": "week"}, "'week' is none of day"),
        (EXPENSES, {"where": ["Pagado por=Zoe"]}, "there are: Ana, Luis, Marta"),
        (EXPENSES, {"where": ["Importe>much"]}, "'much' isn't one"),
        (EXPENSES, {"where": ["Fecha>soon"]}, "give a day as"),
        (EXPENSES, {"where": ["unpaid"]}, "is no condition"),
        (EXPENSES, {"number": 2}, "no table 2"),
        ("boathouse.txt", {}, "has no table"),
    ],
)
def test_what_cant_be_computed_says_what_to_give(club: Library, name: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        club.table(club.resolve(name), **given)


def test_the_command_names_the_place_of_each_row(tmp_path: Path) -> None:
    (tmp_path / "repairs.csv").write_text("Job,Firm,Amount (€),State\nLift,Kone,1240.50,paid\nGate,Ruiz,310,unpaid\n")
    environment = {"ANSWERABLE_LIBRARY": str(tmp_path / "library"), "COLUMNS": "200"}

    def call(*arguments: str) -> Any:
        return CliRunner().invoke(app, arguments, env=environment, prog_name="answerable")

    assert call("add", str(tmp_path / "repairs.csv")).exit_code == 0
    done = call("table", "repairs.csv", "--where", "State=unpaid", "--sum", "Amount")
    assert done.stdout.splitlines() == [
        "310 EUR, from 1 row",
        "- Job: Gate · Firm: Ruiz · Amount (€): 310 · State: unpaid  repairs.csv, line 3",
        "sum of Amount (€); table: repairs.csv, repairs; rows: State = unpaid",
    ]
    lines = json.loads(call("table", "repairs.csv", "--by", "Firm", "--json").stdout)["lines"]
    assert [line["text"] for line in lines[2:]] == ["- Kone: 1 row", "- Ruiz: 1 row"]
    assert lines[3]["citations"][0]["quote"] == "Gate,Ruiz,310,unpaid"
    wrong = call("table", "repairs.csv", "--sum", "Amount", "--count")
    assert (wrong.exit_code, "Give one of" in wrong.stderr) == (2, True)
