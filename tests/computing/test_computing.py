from __future__ import annotations

from datetime import datetime

import pytest

from answerable import Library
from answerable.computing.answers import Writer
from answerable.computing.asked import Asked
from answerable.computing.computing import Computing
from answerable.computing.matching import Asking, Plan
from answerable.computing.source import Source
from answerable.datatypes import Answer, Reason
from answerable.sharing import Work
from answerable.sources.records import read_records
from answerable.tables.find import find_tables
from answerable.tables.grid import MOST_CELLS


def quotes(answer: Answer, library: Library) -> list[str]:
    """The citations' quotes, one for each cited row; each stands in its document."""
    for citation in answer.citations:
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return [line for citation in answer.citations for line in citation.quote.splitlines()]


def test_figures_and_the_rows_they_come_from(club: Library) -> None:
    cases: list[tuple[str, str, list[str]]] = [
        ("how many messages did Ben send?", "sender: Ben: 3 messages", ["Media", "that cat", "is back"]),
        ("quantas mensagens a Ana mandou em 2024", "remetente: Ana: 1 mensagem", ["dinner"]),
        ("cuantas fotos mando Carla", "adjunto: photo: 1 mensaje", ["3/6/24"]),
        ("how many times did Ben mention the cat", "text: cat: 2 messages", ["that cat", "is back"]),
        ("how many members live in Leeds", "City: Leeds: 2 rows", ["Ben Cole", "Dan Poe"]),
        ("how many members pay more than 45 euros", "Fee: > 45 EUR: 3 rows", ["Ana Ruiz", "Ben Cole", "Carla"]),
        ("which members haven't paid", "Paid: no: 2 rows", ["Ben Cole", "Dan Poe"]),
        ("total fees", "Fee in total: 200 EUR (4 rows)", ["Ana Ruiz", "Ben Cole", "Carla", "Dan"]),
        ("average fee of the people from leeds", "Fee on average: 50 EUR", ["Ben Cole", "Dan Poe"]),
        ("which member pays the most", "highest Fee: 60 EUR", ["Ben Cole"]),
        ("is there any member from Porto", "Yes. members.md, City: Porto: 1 row", ["Carla"]),
        ("cuanto gastamos en total en materiales", "en total: 610,75 EUR", ["Cemento", "Pintura", "Azulejos"]),
        ("¿Cuál es el gasto promedio en mano de obra?", "promedio: 320 EUR", ["Electricista", "Fontanero"]),
        ("cuantos gastos hay en marzo", "Fecha: 2024-03: 2 filas", ["Azulejos", "Fontanero"]),
        ("¿cuál fue el gasto más caro?", "más alto: 410,25 EUR", ["Azulejos"]),
        ("quanto gastamos entre janeiro e fevereiro", "no total: 550,50 EUR", ["Cemento", "Pintura", "Electri"]),
        ("cuanto pago Ana", "en total: 470,50 EUR", ["Cemento", "Electricista"]),
        ("qual a média das notas do 8C", "em média: 15,75", ["Rui", "Inês"]),
        ("qual aluno tem a menor nota", "mais baixo: 9", ["Tiago"]),
        ("first message of Carla", "the first", ["yes!!"]),
        ("última mensagem do Ben", "o último", ["is back"]),
        ("gasto total por categoria", "por Categoría", ["Cemento", "Pintura", "Electri", "Azulejos", "Fontanero"]),
        ("quien ha gastado mas", "por Pagado por", ["Cemento", "Pintura", "Electri", "Azulejos", "Fontanero"]),
    ]
    for question, first_line, rows in cases:
        answer = club.ask(question)
        assert answer.answered, question
        assert first_line in answer.text.splitlines()[0], question
        cited = quotes(answer, club)
        assert len(cited) == len(rows), question
        assert all(any(row in quote for quote in cited) for row in rows), question


def test_figures_of_groups_best_first(club: Library) -> None:
    cases: list[tuple[str, list[str]]] = [
        ("who wrote the most messages", ["- Ben: 3", "- Ana: 2", "- Carla: 2"]),
        ("which day had the most messages", ["- 2024-01-02: 2", "- 2024-03-05: 2"]),
        ("mensajes por mes", ["- 2023-12: 1", "- 2024-01: 2", "- 2024-03: 4"]),
        ("quien ha gastado mas", ["- Ana: 470,50 EUR", "- Marta: 410,25 EUR", "- Luis: 370 EUR"]),
        ("quien ha gastado menos", ["- Luis: 370 EUR"]),
    ]
    failed = [
        (question, got)
        for question, lines in cases
        if (got := club.ask(question).text.splitlines()[1 : 1 + len(lines)]) != lines
    ]
    assert failed == []


def test_an_unclear_question_is_asked_back(club: Library) -> None:
    answer = club.ask("how much was spent in total")
    assert (answer.answered, answer.reason) == (False, Reason.UNCLEAR)
    assert "members.md (Name, City, Fee, Paid): What is the total Fee?" in answer.text


def test_nothing_is_computed_where_no_table_has_the_words(club: Library) -> None:
    cases = [
        "how many litres does the boiler hold?",
        "when does the boathouse open?",
        "how many members play tennis",
        "how many members of the club play tennis in Leeds",
        "cuántos clientes tenemos",
        "quem é o presidente do clube",
        "what was the average rainfall",
    ]
    for question in cases:
        answer = club.ask(question)
        assert answer.reason is not Reason.UNCLEAR, question
        assert "rows" not in answer.text, question


def test_filters_hold_for_computed_answers(club: Library) -> None:
    assert not club.ask("how many members live in Leeds", where={"type": "chat"}).answered
    answer = club.ask("how many messages are there?", where={"sender": "Ben"})
    assert "3 messages" in answer.text.splitlines()[0]
    assert not club.ask("how many members live in Leeds", where={"not": {"heading": "Rowing club"}}).answered


def test_messages_that_dont_pass_a_filter_are_neither_counted_nor_quoted(club: Library) -> None:
    for where in ({"sender": ["Ben", "Carla"]}, {"and": [{"type": "chat"}, {"not": {"sender": "Ana"}}]}):
        answer = club.ask("how many messages by person?", where=where)
        assert answer.text.splitlines()[1:] == ["- Ben: 3", "- Carla: 2"]
        quotes = "\n".join(citation.quote for citation in answer.citations)
        assert (quotes.count("Ana"), quotes.count("Ben"), quotes.count("Carla")) == (0, 3, 2)


def test_an_answer_from_part_of_a_table_says_so() -> None:
    columns = 50
    rows = ",".join("7" * columns) + "\n"
    header = ",".join(f"shelf {number}" for number in range(columns))
    document = read_records(f"{header}\n" + rows * (MOST_CELLS // columns + 1), "stock.csv")
    (table,) = find_tables(document)
    assert table.is_cut
    source = Source(document, table)
    answer = Writer("en").answer("how many rows?", Plan(source, Asked.COUNT), "")
    assert answer is not None
    assert answer.text.startswith(f"stock.csv, only its first {len(table.rows):,} rows: {len(table.rows):,} rows")


def test_a_word_that_no_table_has_is_no_figure(club: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    computing = Computing(club.store, lambda: datetime(2024, 6, 1))
    compared: list[str] = []

    def planned(asking: Asking, *_: object) -> None:
        compared.append(asking.question)

    monkeypatch.setattr("answerable.computing.computing._computed", planned)
    known = [
        "how many members live in Leeds",
        "how many messages did Ben send since May?",
        "total fees",
        "how many 7s?",
    ]
    for question in (
        *known,
        "how many hours of sun does basil need?",
        "cuántos barcos hay en Leeds",
        "total fees zorp",
    ):
        computing.answer(question, question, "en", [], None, Work())
    assert compared == known
