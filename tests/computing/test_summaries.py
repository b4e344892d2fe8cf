from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import answerable
from answerable import Library
from answerable.computing.summaries import Unit, choose
from answerable.datatypes import Answer

DOCUMENTS = Path(__file__).parent.parent / "quality" / "everyday" / "documents"


@pytest.fixture(scope="module")
def house() -> Iterator[Library]:
    with answerable.open(":memory:") as library:
        library.now = lambda: datetime(2024, 9, 1, 12)
        assert library.add(DOCUMENTS).failures == []
        yield library


def extracts(library: Library, question: str) -> Answer:
    answer = library.ask(question)
    assert answer.answered
    assert 4 <= len(answer.citations) <= 12
    places = [(citation.document_id, citation.start) for citation in answer.citations]
    assert places == sorted(places)
    for citation in answer.citations:
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
    return answer


def test_extracts_of_the_document_that_is_named(house: Library) -> None:
    cases = [
        ("summarise the tenancy agreement", "Extracts from tenancy-agreement-flat-3.txt:"),
        ("Give me a short overview of the staff handbook, please", "Extracts from fennimore-print-staff-handbook.md:"),
        ("what is the staff handbook about?", "Extracts from fennimore-print-staff-handbook.md:"),
        ("resume el acta de la junta", "Extractos de acta-junta-olivar-14.txt:"),
        ("¿De qué trata el prospecto?", "Extractos de prospecto-tosimel-jarabe.txt:"),
        ("puntos principales del plan de viaje a asturias", "Extractos de plan-viaje-asturias.md:"),
        ("faça um resumo do guia do hóspede", "Trechos de guia-do-hospede-chale-araucaria.md:"),
        ("resumo do regulamento do clube náutico", "Trechos de regulamento-clube-nautico-barrinha.txt:"),
    ]
    failed = [
        (question, got)
        for question, first_line in cases
        if (got := extracts(house, question).text.splitlines()[0]) != first_line
    ]
    assert failed == []


def test_extracts_of_a_section(house: Library) -> None:
    answer = extracts(house, "resumo da seção de limpeza do manual do desumidificador")
    assert all("Limpeza" in citation.location.headings for citation in answer.citations)


def test_extracts_of_a_month_of_a_chat(house: Library) -> None:
    answer = extracts(house, "resume el chat de whatsapp de papá de febrero")
    assert all(citation.location.times and citation.location.times[0].month == 2 for citation in answer.citations)
    assert "- Lucía (2024-02-03" in answer.text


def test_a_summary_of_everything_is_the_list_of_documents(house: Library) -> None:
    answer = house.ask("resume todo")
    assert answer.text.startswith("La biblioteca tiene 18 documentos:")
    assert len(answer.citations) == 18


def test_other_questions_get_no_extracts(house: Library) -> None:
    cases = ["what is the deposit about", "summarise it", "what does the landlord pay for?", "¿qué dice el abogado?"]
    failed = [question for question in cases if "xtra" in house.ask(question).text.splitlines()[0]]
    assert failed == []


def unit(start: int, text: str, vector: list[float], group: str = "") -> Unit:
    return Unit(start, start + len(text), text, np.array(vector, np.float32), None, group)


def test_sentences_that_repeat_each_other_are_not_all_chosen() -> None:
    board, hall = "The board agreed on the budget for the coming year", "The hall stays closed for repairs this winter"
    twice = [unit(number, board, [1, 0.02 * number]) for number in range(4)]
    others = [unit(10 + number, hall, [0.4, 1 + 0.02 * number]) for number in range(4)]
    chosen = choose([*twice, *others])
    assert len(chosen) == 6
    assert {each.text for each in chosen} == {board, hall}


def test_nothing_is_chosen_of_nothing() -> None:
    assert choose([]) == []
