"""Adjectives, units, payments in chats, and words that may mean the rows of a table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import answerable
from answerable import Library
from answerable.datatypes import Reason
from answerable.sources.dispatch import read_file

RIDERS = """Name,Born in,Age,Weight (kg),Best time
Ada Finch,York,34,61,00:41
Bo Lund,Malmö,58,80,00:52
Cy Okoro,York,19,72,00:39
"""
RIEGO = """Fecha;Parcela;Consumo;Turno;Recibo
03/05/2024;norte;12,5 m³;mañana;8,10 €
10/05/2024;sur;30,0 m³;noche;19,50 €
14/06/2024;norte;9,5 m³;mañana;6,20 €
"""
LOANS = """Title,Borrower,Lent on,Returned on
Emma,Nia,2024-01-10,2024-02-01
Dracula,Tomos,2024-01-15,
Ulysses,Nia,2024-03-02,
"""
CHAT = """05/02/2024, 10:00 - Rita: paguei R$ 80,50 pela lona
05/02/2024, 10:05 - Caio: quanto foi o gás? R$ 40?
06/02/2024, 09:00 - Caio: acabei de pagar R$ 20,00 pelo gelo
07/03/2024, 09:00 - Rita: a Caio pagou R$ 99,00 ontem
08/03/2024, 18:00 - Rita: paguei R$ 10,00 pelas velas
09/03/2024, 18:00 - Caio: IMG-20240309-WA0001.jpg (arquivo anexado)
"""


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Library]]:
    files = {
        "riders.csv": RIDERS,
        "riego huerta.csv": RIEGO,
        "library loans.csv": LOANS,
        "Conversa do WhatsApp com Festa.txt": CHAT,
    }
    opened = {}
    for name, content in files.items():
        path = tmp_path_factory.mktemp("measures") / name
        path.write_text(content, "utf-8")
        opened[name.split(".")[0]] = library = answerable.open(":memory:")
        library.add_documents(read_file(path))
    yield opened
    for library in opened.values():
        library.close()


def test_a_question_may_measure_without_naming_a_column(libraries: dict[str, Library]) -> None:
    cases = [
        ("riders", "who is the oldest?", "highest Age: 58", "Bo Lund"),
        ("riders", "who is the youngest", "lowest Age: 19", "Cy Okoro"),
        ("riders", "who is the heaviest", "highest Weight (kg): 80 kg", "Bo Lund"),
        ("riders", "how old are they on average?", "Age on average: 37", "Ada Finch"),
        ("riego huerta", "¿cuántos metros cúbicos de agua se gastaron en mayo?", "Consumo en total: 42,50 m³", "norte"),
        ("riego huerta", "¿cuál fue el recibo más barato?", "Recibo más bajo: 6,20 EUR", "14/06/2024"),
        ("library loans", "how many haven't been returned", "Returned on: ∅: 2 rows", "Dracula"),
        ("Conversa do WhatsApp com Festa", "quanto a Rita pagou no total?", "no total: 90,50 BRL", "lona"),
        ("Conversa do WhatsApp com Festa", "quanto pagamos todos juntos", "no total: 110,50 BRL", "lona"),
        ("Conversa do WhatsApp com Festa", "última mensagem do Caio", "o último", "IMG-20240309-WA0001.jpg"),
    ]
    for file, question, first_line, first_row in cases:
        answer = libraries[file].ask(question)
        assert (answer.answered, answer.confidence) == (True, 1.0), question
        first, row = answer.text.split("\n")[:2]
        assert first_line in first, question
        assert first_row in row, question


def test_payments_of_a_chat_are_grouped_by_who_paid(libraries: dict[str, Library]) -> None:
    answer = libraries["Conversa do WhatsApp com Festa"].ask("quem pagou mais?")
    assert answer.text.split("\n")[1:] == ["- Rita: 90,50 BRL", "- Caio: 20 BRL"]
    assert [citation.location.senders for citation in answer.citations] == [("Rita",), ("Caio",), ("Rita",)]


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("library loans", "how many volumes did Nia take?"),
        ("riego huerta", "¿cuántas sesiones hubo en mayo?"),
        ("riego huerta", "¿cuántos kWh gasté en mayo?"),
    ],
)
def test_a_word_that_the_table_does_not_have_leaves_no_figure(
    libraries: dict[str, Library], file: str, question: str
) -> None:
    answer = libraries[file].ask(question)
    assert not any(word in answer.text for word in ("rows", "filas", "total"))


def test_a_measure_that_the_table_lacks_is_not_computed(libraries: dict[str, Library]) -> None:
    answer = libraries["library loans"].ask("how old is Nia?")
    assert answer.confidence < 1.0 or answer.reason is not Reason.ANSWERED
    assert "rows" not in answer.text
