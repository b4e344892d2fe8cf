from __future__ import annotations

from datetime import datetime

from helpers import is_figure

from answerable import Library
from answerable.computing.answers import Writer
from answerable.computing.computing import Computing
from answerable.computing.plan import Plan
from answerable.computing.source import Source
from answerable.datatypes import Answer
from answerable.filters import parse_filter
from answerable.sources.records import read_records
from answerable.tables.find import find_tables
from answerable.tables.grid import MOST_CELLS


def quotes(answer: Answer, library: Library) -> list[str]:
    """The citations' quotes, one for each cited row; each stands in its document."""
    for citation in answer.citations:
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return [line for citation in answer.citations for line in citation.quote.splitlines()]


STATED = 9
"""How many of the club's questions a figure answers, of 22; the others are answered with quotes or not at all."""


def test_figures_are_right_and_cite_their_rows(club: Library) -> None:
    cases: list[tuple[str, str, list[str]]] = [
        ("how many messages did Ben send?", "3 messages", ["Media", "that cat", "is back"]),
        ("quantas mensagens a Ana mandou em 2024", "1 mensagem", ["dinner"]),
        ("cuantas fotos mando Carla", "1 mensaje", ["3/6/24"]),
        ("how many times did Ben mention the cat", "2 messages", ["that cat", "is back"]),
        ("how many members live in Leeds", "City: Leeds: 2 rows", ["Ben Cole", "Dan Poe"]),
        ("how many members pay more than 45 euros", "Fee: > 45: 3 rows", ["Ana Ruiz", "Ben Cole", "Carla"]),
        ("which members haven't paid", "Paid: no: 2 rows", ["Ben Cole", "Dan Poe"]),
        ("total fees", "Fee in total: 200 EUR (4 rows)", ["Ana Ruiz", "Ben Cole", "Carla", "Dan"]),
        ("average fee of the people from leeds", "Fee on average: 50 EUR", ["Ben Cole", "Dan Poe"]),
        ("which member pays the most", "highest Fee: 60 EUR", ["Ben Cole"]),
        ("cuanto gastamos en total en materiales", "en total: 610,75 EUR", ["Cemento", "Pintura", "Azulejos"]),
        ("¿Cuál es el gasto promedio en mano de obra?", "promedio: 320 EUR", ["Electricista", "Fontanero"]),
        ("cuantos gastos hay en marzo", "2 filas", ["Azulejos", "Fontanero"]),
        ("¿cuál fue el gasto más caro?", "más alto: 410,25 EUR", ["Azulejos"]),
        ("quanto gastamos entre janeiro e fevereiro", "no total: 550,50 EUR", ["Cemento", "Pintura", "Electri"]),
        ("cuanto pago Ana", "en total: 470,50 EUR", ["Cemento", "Electricista"]),
        ("qual a média das notas do 8C", "em média: 15,75", ["Rui", "Inês"]),
        ("qual aluno tem a menor nota", "mais baixo: 9", ["Tiago"]),
        ("first message of Carla", "2024-03-05", ["yes!!"]),
        ("última mensagem do Ben", "2024-03-07", ["is back"]),
        ("gasto total por categoria", "por Categoría", ["Cemento", "Pintura", "Electri", "Azulejos", "Fontanero"]),
        ("quien ha gastado mas", "Pagado por", ["Cemento", "Pintura", "Electri", "Azulejos", "Fontanero"]),
    ]
    wrong, stated = [], 0
    for question, line, rows in cases:
        answer = club.ask(question)
        if is_figure(answer):
            stated += 1
            cited = quotes(answer, club)
            is_cited = len(cited) == len(rows) and all(any(row in quote for quote in cited) for row in rows)
            if line not in answer.text.splitlines()[0] or not is_cited:
                wrong.append((question, answer.text))
    print(f"{stated} stated")
    assert wrong == []
    assert stated >= STATED


def test_figures_of_groups_best_first(club: Library) -> None:
    cases: list[tuple[str, list[str]]] = [
        ("who wrote the most messages", ["- Ben: 3", "- Ana: 2", "- Carla: 2"]),
        ("which day had the most messages", ["- 2024-01-02: 2", "- 2024-03-05: 2"]),
        ("mensajes por mes", ["- 2023-12: 1", "- 2024-01: 2", "- 2024-03: 4"]),
        ("quien ha gastado mas", ["- Ana: 470,50 EUR", "- Marta: 410,25 EUR", "- Luis: 370 EUR"]),
        ("quien ha gastado menos", ["- Luis: 370 EUR"]),
    ]
    answers = [(question, club.ask(question), lines) for question, lines in cases]
    wrong = [
        (question, answer.text)
        for question, answer, lines in answers
        if is_figure(answer) and answer.text.splitlines()[1 : 1 + len(lines)] != lines
    ]
    assert wrong == []


def test_nothing_is_computed_where_no_table_says_it(club: Library) -> None:
    cases = [
        "how many litres does the boiler hold?",
        "when does the boathouse open?",
        "how many members play tennis",
        "how many members of the club play tennis in Leeds",
        "cuántos clientes tenemos",
        "quem é o presidente do clube",
        "what was the average rainfall",
    ]
    assert [question for question in cases if is_figure(club.ask(question))] == []


def test_filters_hold_for_computed_answers(club: Library) -> None:
    assert is_figure(club.ask("total fee in Leeds"))
    for where in ({"type": "chat"}, {"not": {"heading": "Rowing club"}}):
        assert not is_figure(club.ask("total fee in Leeds", where=where))


def test_messages_that_dont_pass_a_filter_are_neither_counted_nor_quoted(club: Library) -> None:
    (chat,) = (each for each in club.documents() if each.type == "chat")
    for where in ({"sender": ["Ben", "Carla"]}, {"and": [{"type": "chat"}, {"not": {"sender": "Ana"}}]}):
        tables = Computing(club.store, lambda: datetime(2024, 6, 1)).tables([chat.id], parse_filter(where), only=True)
        senders = [row.values[0].text for table in tables for row in table.source.table.rows]
        assert sorted(senders) == ["Ben", "Ben", "Ben", "Carla", "Carla"]


def test_an_answer_from_part_of_a_table_says_so() -> None:
    columns = 50
    rows = ",".join("7" * columns) + "\n"
    header = ",".join(f"shelf {number}" for number in range(columns))
    document = read_records(f"{header}\n" + rows * (MOST_CELLS // columns + 1), "stock.csv")
    (table,) = find_tables(document)
    assert table.is_cut
    source = Source(document, table)
    answer = Writer("en").answer("how many rows?", Plan(source, "count"))
    assert answer is not None
    assert answer.text.startswith(f"stock.csv, only its first {len(table.rows):,} rows: {len(table.rows):,} rows")
