"""Tables as programs and people write them: names of columns, words in place of prices, times without rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from helpers import is_figure
from reading_here import read_file

import answerable
from answerable import Library
from answerable.computing.source import Source
from answerable.computing.vocabulary import spoken
from answerable.datatypes import Document
from answerable.tables.find import find_tables

CAR = """date,category,amount_gbp,paid_by
2023-05-30,fuel,50.10,Rob
2023-06-02,fuel,40.00,Rob
2023-07-09,repair,120.50,Helen
2023-08-30,repair,60.25,Rob
2023-09-01,fuel,55.00,Helen
"""
LOANS = """loan,instrument,pupil,due_back,returned_on
1,violin,Femi,2024-02-01,2024-01-30
2,cello,Ada,2024-02-01,
3,horn,Kit,2024-03-01,2024-03-04
4,flute,Mo,2024-03-01,
5,violin,Ben,2024-03-01,2024-02-20
6,oboe,Ivy,2024-03-01,2024-02-21
7,tuba,Lou,2024-03-01,2024-02-22
8,harp,Una,2024-03-01,2024-02-23
"""
COURSES = """| Curso | Precio |
|---|---|
| Cerámica | 75 € |
| Zumba | 32 € |
| Memoria | gratuito |
| Italiano | 66 € |
| Baile | 36 € |
"""
SALES = """data;produto;quantidade;preco_unitario;total;vendedor
02/03/2024;Mel de urze;18;7,50;135,00;Joana
16/03/2024;Mel de urze;10;7,50;75,00;Rui
06/04/2024;Pólen;4;9,00;36,00;Rui
"""
BOATS = """Nome,Lugares,Ano
Garça,5,2004
Gaivota,1,2017
Maçarico,1,1998
"""
CHAT = "03/03/2024, 10:00 - Rob: hi\n04/03/2024, 10:01 - Helen: hello\n"


def read_folder(folder: Path) -> list[Document]:
    """The documents of a folder, read in this process."""
    return [document for path in sorted(folder.iterdir()) for document in read_file(path)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("tables")
    files = {
        "car_costs.csv": CAR,
        "instrument_loans.csv": LOANS,
        "cursos.md": f"# Cursos de otoño\n\n{COURSES}",
        "vendas.csv": SALES,
        "barcos.csv": BOATS,
        "WhatsApp Chat with Car.txt": CHAT,
    }
    for name, content in files.items():
        (folder / name).write_text(content, "utf-8")
    with answerable.open(":memory:") as made:
        made.now = lambda: datetime(2024, 6, 1, 12)
        made.add_documents(read_folder(folder))
        yield made


STATED = 3
"""How many of the questions below a figure answers, of 17."""


def test_figures(library: Library) -> None:
    cases = [
        ("how much did Rob pay for the car between 1 June and 31 August 2023?", "in total: 100.25 GBP (2 rows)"),
        ("how much did we spend on fuel altogether", "in total: 145.10 GBP (3 rows)"),
        ("how many instruments have not come back yet", "returned_on: empty: 2 rows"),
        ("¿cuántos cursos cuestan más de 50 euros?", "2 filas"),
        ("a quanto somam as vendas do Rui?", "no total: 111"),
        ("quanto vendeu o Rui em 2024", "no total: 111"),
        ("que barcos são anteriores a 2010?", "Ano: < 2010: 2 linhas"),
        ("quantos lugares têm os barcos anteriores a 2005?", "Lugares no total: 6 (2 linhas)"),
        ("lista os barcos com ano inferior a 2000", "Ano: < 2000: 1 linha"),
        ("qual é o barco mais antigo?", "Ano mais baixo: 1998"),
        ("¿cuál es el barco más nuevo?", "Ano más alto: 2017"),
        ("quanto deu o mel de março", "total no total: 210"),
        ("who has the cello?", "Ada"),
        ("which repair was the dearest?", "highest amount_gbp: 120.50 GBP"),
        ("which month did we spend most on the car?", "month"),
        ("how much did we spend on fuel for the car in November 2023", "no figure"),
        ("quanto vendeu o Rui em maio de 2024", "no figure"),
    ]
    answers = [(question, library.ask(question), line) for question, line in cases]
    stated = [(question, answer.text, line) for question, answer, line in answers if is_figure(answer)]
    print(f"{len(stated)} stated")
    assert [each for each in stated if each[2] not in each[1].splitlines()[0]] == []
    assert len(stated) >= STATED


def test_a_filter_for_messages_has_no_part_in_the_rows_of_a_table(tmp_path: Path) -> None:
    rows = "Fecha;Gasto;Importe (€)\n03/01/2024;Luz;40,00\n04/01/2024;Gas;30,00\n04/02/2024;Agua;22,50\n"
    (tmp_path / "gastos.csv").write_text(rows, "utf-8")
    chat = "03/03/2024, 10:00 - Ana: pagué 45 € del regalo\n04/03/2024, 10:01 - Leo: gracias\n"
    (tmp_path / "Chat de WhatsApp con Piso.txt").write_text(chat, "utf-8")
    with answerable.open(":memory:") as library:
        library.add_documents(read_folder(tmp_path))
        in_january = library.ask("¿cuál es el total de importe en enero de 2024?")
        assert "70 EUR (2 filas)" in in_january.text
        assert in_january.narrowing is None


@pytest.mark.parametrize(("rows", "columns"), [("2024,Anvil\n2025,Bell\n", [0]), ("20241,Anvil\n20252,Bell\n", [])])
def test_years_are_told_from_other_numbers(tmp_path: Path, rows: str, columns: list[int]) -> None:
    (tmp_path / "items.csv").write_text(f"year id,name\n{rows}", "utf-8")
    [document] = read_folder(tmp_path)
    [table] = find_tables(document)
    source = Source(document, table)
    assert source.year_columns == columns


def test_names_of_columns_are_read_as_words() -> None:
    assert [spoken(name) for name in ("paid_by", "paidBy", "Paid by", "total")] == [
        "paid by",
        "paid By",
        "Paid by",
        "total",
    ]
