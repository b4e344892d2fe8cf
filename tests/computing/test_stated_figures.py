"""A figure is stated only if all of the question is explained by the table, and then of all rows that it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

import pytest
from helpers import HashEmbedder, is_figure
from made_office_files import saved, workbook
from reading_here import read_file

from answerable.datatypes import Answer, Reason
from answerable.library import Library
from answerable.settings import Settings
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.wiring.build import build_answerer, build_reader

Ask = Callable[[Mapping[str, str | bytes], str], Answer | None]

NOTHING = None
"""The question has no computed answer: its rows are quoted."""


@pytest.fixture
def ask(tmp_path: Path) -> Ask:
    """Ask a question of some files, of what is computed only."""

    def asked(files: Mapping[str, str | bytes], question: str) -> Answer | None:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        words, settings = HashEmbedder(), Settings()
        answerer = build_answerer(settings, words.fingerprint)
        store = EmbeddedStore(folder / "library")
        with Library(store, words, SplitterByType(600, 0), build_reader(settings, folder), answerer) as library:
            for name, content in files.items():
                path = folder / name
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
                library.add_documents(read_file(path))
            library.now = lambda: datetime(2025, 6, 1)
            answer = library.ask(question)
            return answer if is_figure(answer) or answer.reason is Reason.UNCLEAR else None

    return asked


def failures(
    ask: Ask, files: Mapping[str, str | bytes], cases: Mapping[str, str | None]
) -> list[tuple[str, str | None]]:
    """The questions with wrong figures: what is stated has this in its first line; nothing may be stated always."""
    failed = []
    for question, line in cases.items():
        found = ask(files, question)
        got = found.text.split("\n")[0] if found and found.answered else None
        if got is not None and (line is None or line not in got):
            failed.append((question, got))
    return failed


def sheets(columns: list[object], **rows: list[list[object]]) -> bytes:
    return saved(workbook({name: [columns, *each] for name, each in rows.items()}))


FARM = sheets(
    ["Cultivo", "Kilos"],
    Norte=[["Tomate", 120], ["Pera", 80]],
    Sur=[["Tomate", 45], ["Uva", 60]],
    Este=[["Uva", 15]],
)


def test_tables_of_the_same_columns_are_taken_together(ask: Ask) -> None:
    in_farm = {
        "¿Cuántos kilos de tomate hay en total?": "(Norte, Sur, Este), Cultivo: Tomate: Kilos en total: 165",
        "¿Cuántos kilos de uva hay en el Sur?": "Kilos: 60",
        "¿Cuál es el total de kilos?": "en total: 320",
    }
    assert failures(ask, {"fincas.xlsx": FARM}, in_farm) == []
    head = "Voluntário,Horas\n"
    shifts = {"turnos 2023.csv": f"{head}Rui,4\nInês,2\n", "turnos 2024.csv": f"{head}Rui,5\nCaio,1\nRui,3\n"}
    in_both = {
        "Quantos turnos há?": "turnos 2023.csv, turnos 2024.csv: 5 linhas",
        "Quantas horas fez o Rui?": "no total: 12",
        "Quantas horas fez o Rui em 2024?": "no total: 8",
    }
    assert failures(ask, shifts, in_both) == []
    # In another order of columns, and each row cited in its own file.
    found = ask(
        {"a.csv": "Walker,Dog\nNia,Rex\n", "b.csv": "Dog,Walker\nRex,Tom\nBo,Nia\n"}, "how many walks with Rex?"
    )
    assert found is not None
    assert [citation.quote for citation in found.citations] == ["Nia,Rex", "Rex,Tom"]


def test_tables_that_may_repeat_each_other_are_asked_about(ask: Ask) -> None:
    rows = "Item,Price\nTrout,12\nCarp,8\nPike,20\n"
    copies = ask({"prices.csv": rows, "prices (copy).csv": rows}, "What is the total price?")
    assert copies is not None
    assert copies.reason is Reason.UNCLEAR
    farm = sheets(["Item", "Price"], North=[["Trout", 80], ["Carp", 8]], Total=[["Trout", 80], ["Carp", 8]])
    asked = ask({"farm.xlsx": farm}, "What is the total price?")
    assert asked is None or "176" not in asked.text


PARCELS = "Parcel,State\nP1,delivered\nP2,not delivered\nP3,delivered\n"
PARCELS_OF_THREE = "Parcel,State\nP1,delivered\nP2,not delivered\nP3,lost\n"
LIBROS = "Libro;Situación\nEmma;devuelto\nDrácula;sin devolver\nUlises;devuelto\n"
LIBROS_DE_TRES = "Libro;Situación\nEmma;devuelto\nDrácula;no devuelto\nUlises;perdido\n"
QUARTOS = "Quarto;Estado\nAzul;limpo\nVerde;não limpo\nRosa;em obras\n"
SNACKS = "Snack,Allergy\nBun,no wheat\nBar,no milk\nPie,\n"


@pytest.mark.parametrize(
    ("file", "cases"),
    [
        (PARCELS, {"which parcels are delivered?": "2 rows", "how many parcels are not delivered?": "1 row"}),
        (PARCELS_OF_THREE, {"which parcels aren't delivered?": NOTHING, "how many parcels are delivered?": "1 row"}),
        (LIBROS, {"¿Qué libros no están devueltos?": "1 fila", "¿Cuántos libros están devueltos?": "2 filas"}),
        (LIBROS_DE_TRES, {"¿Qué libros no están devueltos?": NOTHING, "¿Qué libros están devueltos?": "1 fila"}),
        (QUARTOS, {"Quais quartos não estão limpos?": NOTHING, "Quantos quartos estão limpos?": "1 linha"}),
        (SNACKS, {"which snacks have no wheat?": NOTHING, "which snacks have wheat?": NOTHING}),
        ("Soup,Hot\nLeek,very\nPho,hot\nGazpacho,not hot\n", {"which soups are hot?": NOTHING}),
        ("Task,Phase\nRoof,Not started\nWall,Done\n", {"which tasks are started?": NOTHING}),
    ],
)  # fmt: skip
def test_cells_that_deny_something(ask: Ask, file: str, cases: Mapping[str, str | None]) -> None:
    name = {"L": "libros.csv", "Q": "quartos.csv", "P": "parcels.csv"}.get(
        file[0], f"{file.split(',')[0].lower()}s.csv"
    )
    assert failures(ask, {name: file}, cases) == []


@pytest.mark.parametrize(
    ("name", "file", "cases"),
    [
        (
            "singers.csv",
            "Singer,Rehearsing\nAda,yes\nBo,no\nCy,perhaps\n",
            {"how many singers are rehearsing?": "1 row", "which singers are not rehearsing?": NOTHING},
        ),
        (
            "singers.csv",
            "Singer,Rehearsing\nAda,yes\nBo,no\nCy,yes\n",
            {"how many singers are rehearsing?": "2 rows", "which singers are not rehearsing?": "1 row"},
        ),
        ("perros.csv", "Perro;Vacunado\nRex;sí\nBo;\nLis;no\n", {"¿Cuántos perros están vacunados?": "1 fila"}),
        ("gatos.csv", "Gato;Leite\nMia;diário\nTom;nunca\nLis;semanal\n", {"Quais gatos não bebem leite?": NOTHING}),
    ],
)
def test_a_third_value_beside_yes_and_no(ask: Ask, name: str, file: str, cases: Mapping[str, str | None]) -> None:
    assert failures(ask, {name: file}, cases) == []


def test_rows_of_subtotals_are_no_rows(ask: Ask) -> None:
    shop = (
        "Aisle,Item,June\nFruit,Pear,10\nFruit,Fig,5\nFruit subtotal,,15\nDairy,Milk,30\nTotal Dairy,,30\nTotal,,45\n"
    )
    assert failures(ask, {"shop.csv": shop}, {"what is the total of June?": "in total: 45 (3 rows)"}) == []
    obra = (
        "Mes;Partida;Importe\nMayo;Cal;7,50\nMayo;Arena;2,50\nSubtotal mayo;;10,00\nJulio;Yeso;4,00\nSuma julio;;4,00"
    )
    assert failures(ask, {"obra.csv": obra}, {"¿Cuál es el importe total?": "en total: 14 (3 filas)"}) == []
    quarters = "Store,Kind,Q1,Q2\nEast,Pen,4,6\nEast,Ink,1,9\nWest,Pen,3,2\n"
    cases = {
        "What is the Q1 total of the East?": "Q1 in total: 5 (2 rows)",
        "What is the Q2 total of the East?": "Q2 in total: 15 (2 rows)",
        "What is the Pen total of Q2?": "Q2 in total: 8 (2 rows)",
    }
    assert failures(ask, {"quarters.csv": quarters}, cases) == []
    # A brand, or a sum? Then neither is counted.
    fuel = "Station,Litres\nTotal Porto,30\nRepsol,20\nTotal Faro,25\n"
    assert failures(ask, {"fuel.csv": fuel}, {"how many litres in total?": NOTHING}) == []


YOGA = """BEGIN:VCALENDAR
VERSION:2.0
BEGIN:VEVENT
UID:1
DTSTART:20250106T070000
DTEND:20250106T080000
RRULE:FREQ=WEEKLY;BYDAY=MO
SUMMARY:Yoga class
END:VEVENT
BEGIN:VEVENT
UID:2
DTSTART:20250310T090000
DTEND:20250310T100000
RDATE:20250317T090000
SUMMARY:Dentist
END:VEVENT
BEGIN:VEVENT
UID:3
DTSTART;VALUE=DATE:20250704
DTEND;VALUE=DATE:20250707
SUMMARY:Book fair
END:VEVENT
BEGIN:VEVENT
UID:4
STATUS:CANCELLED
DTSTART:20250505T190000
SUMMARY:Opera
END:VEVENT
END:VCALENDAR
"""


def test_events_that_repeat_are_counted_in_a_period_and_cancelled_ones_never(ask: Ask) -> None:
    cases = {
        "Is there a yoga class on 13 January 2025?": "Yes.",
        "Is there a yoga class on 14 January 2025?": "No.",
        "How many yoga classes are there in March 2025?": "5",
        "How many yoga classes are there?": NOTHING,
        "Is there a dentist on 17 March 2025?": "Yes.",
        "Is there an opera in May 2025?": NOTHING,
        "Is there a book fair on 5 July 2025?": "Yes.",
        "Is there a book fair on 9 July 2025?": "No.",
    }
    assert failures(ask, {"agenda.ics": YOGA}, cases) == []


@pytest.mark.parametrize(
    ("name", "file", "cases"),
    [
        (
            "trams.csv",
            "Tram,Seats,Stop\n4,60,Ash\n8,120,Elm\n15,90,Oak\n",
            {
                "Which tram has the most seats?": "highest Seats: 120",
                "Which tram is the highest?": NOTHING,
            },
        ),
        (
            "habitaciones.csv",
            "Huésped;Habitación;Tarifa (€)\nAna;301;90\nLeo;302;70\nMar;303;120\n",
            {"¿Qué habitación tiene la tarifa más alta?": "120", "¿Cuál es el total de las habitaciones?": "280 EUR"},
        ),
        (
            "vendas.csv",
            "Fatura;Quantia;Cliente\n1001;50;Rui\n1002;75;Ana\n1003;20;Ivo\n",
            {
                "Qual fatura tem a maior quantia?": "Quantia mais alto: 75",
                "Qual fatura é a mais cara?": "Quantia mais alto: 75",
                "Qual é o total das faturas?": "Quantia no total: 145",
            },
        ),
        (
            "orders.csv",
            "Order,Amount,Client\nA1,50,Ash\nA2,75,Elm\nA3,20,Ash\n",
            {
                "Which order has the highest amount?": "highest Amount: 75",
                "Which client has the highest amount?": NOTHING,
            },
        ),
    ],
)
def test_what_only_names_a_row_is_not_measured(ask: Ask, name: str, file: str, cases: Mapping[str, str | None]) -> None:
    assert failures(ask, {name: file}, cases) == []


def test_nothing_is_counted_in_a_table_of_something_else(ask: Ask) -> None:
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Ivo Reis\nTEL:+351 900 111 222\nBDAY:1980-02-03\nEND:VCARD\n"
    files = {
        "cards.vcf": card,
        "pool.md": "# Swimming pool\n\n| Ticket | Price |\n|---|---|\n| Day | 5 € |\n| Year | 90 € |\n",
        "flights.csv": "From,To,Fare\nPorto,Faro,40\nFaro,Porto,35\nFaro,Leeds,80\n",
        "stay.csv": "Guest,Arrived,Left,Rent,Deposit\nIvo,2025-01-02,2025-02-01,30,5\nEva,2025-02-01,2025-03-03,28,6",
    }
    cases = {
        "How many cars do I have?": NOTHING,
        "How many policies do I have?": NOTHING,
        "¿Cuántas facturas hay?": NOTHING,
        "Which policy is the cheapest?": NOTHING,
        "Quantos litros gastei em fevereiro?": NOTHING,
        "How many stray people are there?": NOTHING,
        "Which ticket is the cheapest?": "lowest Price: 5 EUR",
        # Of which column, Porto or February?
        "How much are the flights of Porto?": NOTHING,
        "How many guests were there in February?": NOTHING,
        "How many guests arrived in February?": "Arrived: 2025-02: 1 row",
        "What is the difference between rent and deposit of Ivo?": NOTHING,
    }
    assert failures(ask, files, cases) == []


def test_small_words_and_limits_are_not_overlooked(ask: Ask) -> None:
    staff = "Name,Unit,Salary\nAna,IT,30500\nBo,Sales,42000\nCy,IT,50000\n"
    cases = {"Total salary of IT": "80,500 (2 rows)", "What is the total salary of it?": "122,500 (3 rows)"}
    assert failures(ask, {"staff.csv": staff}, cases) == []
    pills = "Pill,Count,Weight (g)\nVitamin C,4,20\nVitamin D,3,45\nZinc,2,50\n"
    cases_of_pills = {
        "What is the weight of vitamin C in total?": ": 20",
        "How many pills weigh more than 30 g?": "2 rows",
    }
    assert failures(ask, {"pills.csv": pills}, cases_of_pills) == []
    gym = "Plan;Cuota (€);Fianza (€)\nBásico;29;10\nPlus;41;5\n"
    assert failures(ask, {"gimnasio.csv": gym}, {"¿Cuál es el plan más alto?": NOTHING}) == []


def test_headers_of_two_rows_give_no_figure(ask: Ask) -> None:
    sheet: list[list[object]] = [
        ["Site", "Summer", None, "Winter", None],
        [None, "Gas", "Power", "Gas", "Power"],
        ["Dairy", 120, 80, 95, 70],
        ["Quarry", 40, 22, 38, 25],
    ]
    files = {"energy.xlsx": saved(workbook({"S": sheet}))}
    assert failures(ask, files, {"How much power in total?": NOTHING, "What is the total for winter?": NOTHING}) == []


def test_what_is_counted_is_the_noun(ask: Ask) -> None:
    hotel = "Suite,Storey,Rate,Lake view\n11,1,80,no\n12,1,90,yes\n21,2,95,yes\n22,2,70,?\n"
    tasks = "Task,Day,Minutes,Done\nDishes,Monday,20,yes\nDishes,Friday,25,half\nSweeping,Friday,30,no\n"
    horas = "Empleado,Sueldo,Horas extra\nAna,2000,5\nLuis,1800,0\nEva,1900,7\n"
    # A third value, states of which none is denied, and an amount that isn't what is counted.
    assert failures(ask, {"hotel.csv": hotel}, {"How many suites have a lake view?": "2 rows"}) == []
    cases = {"How many tasks are done?": "1 row", "Who has the most minutes of tasks?": NOTHING}
    assert failures(ask, {"tasks.csv": tasks}, cases) == []
    assert failures(ask, {"horas.csv": horas}, {"¿Cuántos empleados hicieron horas extra?": NOTHING}) == []
    storeys = {"How many suites are on storey 2?": "2 rows", "How many suites are there?": "4 rows"}
    assert failures(ask, {"hotel.csv": hotel}, storeys) == []
