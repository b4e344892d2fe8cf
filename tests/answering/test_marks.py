"""Test which sentences the rules verify, and which differences from their evidence they find."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime

import pytest

from answerable.answering.checking.evidence import Evidence, look_up
from answerable.answering.checking.marks import Mark, mark
from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind, RetrievalResult

SOURCES = {
    "bus": ("en", "The bus leaves at 2:30 pm from the north gate and costs 12 euros."),
    "fee": ("es", "La cuota no es reembolsable y vence el 5 de marzo de 2024; pesa 21.900 kg."),
    "meet": ("pt", "A reunião é no dia 12/03/2024 às 14h, na sala da Ana Prado, e custa R$ 1.200,50."),
    "dogs": ("en", "Dogs are not allowed in the library. Cats may enter the garden on Tuesday."),
    "one": ("en", "Lisbon sold 1,200 tickets."),
    "two": ("en", "Porto sold 340 tickets."),
    "mail": ("en", "Write to Zoe Berg at zoe@example.org before Friday, no later than noon."),
    "row": ("en", "| Porto | 117 | 15% |"),
}


def evidence(name: str, is_named: bool = True) -> Evidence:
    language, text = SOURCES[name]
    document = Document.from_text(text, title="Annual report of 7 June 2021, Harbour Club", language=language)
    result = RetrievalResult(Chunk("c", document.id, text, 0, len(text), 0, Location(None)), 1.0, document)
    made = look_up(text, [result], {})
    assert made is not None
    return replace(made, is_named=is_named)


@pytest.mark.parametrize(
    ("sentence", "language", "names"),
    [
        ("The bus leaves at half past two and costs €12. [1]", "en", "bus"),
        ("El autobús sale a las dos y media de la tarde y cuesta doce euros.", "es", "bus"),
        ("Yes, the Harbour Club bus costs twelve euros.", "en", "bus"),
        ("The fee is not refundable and is due on 5 March 2024.", "en", "fee"),
        ("No, the fee was due on 2024-03-05, a Tuesday.", "en", "fee"),
        ("Pesa 21,9 kg.", "es", "fee"),
        ("It weighs 21,900 kg.", "en", "fee"),
        ("The meeting in Ana Prado's room is on Tuesday 12 March at 2 pm and costs R$ 1,200.50.", "en", "meet"),
        ("A reunião é no dia doze de março, às 14:00.", "pt", "meet"),
        ("Dogs aren't allowed in the library.", "en", "dogs"),
        ("No, dogs are not allowed in the library.", "en", "dogs"),
        ("Lisbon and Porto sold 1,200 + 340 = 1,540 tickets.", "en", "one two"),
        ("Together the two cities sold 1,540 tickets.", "en", "one two"),
        ("Write to zoe@example.org by noon on Friday.", "en", "mail"),
        ("Porto's share is 15 percent.", "en", "row"),
    ],
)
def test_what_the_evidence_says_is_verified(sentence: str, language: str, names: str) -> None:
    marked = mark(sentence, [evidence(name) for name in names.split()], language)
    assert marked.mark is Mark.VERIFIED, marked.how


@pytest.mark.parametrize(
    ("sentence", "language", "names", "how"),
    [
        ("The bus leaves at 2:40 pm.", "en", "bus", "2:40"),
        ("The bus costs 13 euros.", "en", "bus", "13"),
        ("The bus costs 12 pounds.", "en", "bus", "unit"),
        ("O autocarro sai às três e meia.", "pt", "bus", "três e meia"),
        ("The bus from Salford costs 12 euros.", "en", "bus", "Salford"),
        ("La cuota vence el 5 de mayo de 2024.", "es", "fee", "mayo"),
        ("La cuota vence el 7 de junio de 2021.", "es", "fee", "7"),
        ("Pesa 21.900 g.", "es", "fee", "unidad"),
        ("A reunião é na quinta-feira, 12 de março.", "pt", "meet", "quinta"),
        ("Cats may enter the garden on Thursday.", "en", "dogs", "Thursday"),
        ("Lisbon and Porto sold 1,550 tickets.", "en", "one two", "1,550"),
        ("Write to zoe@example.com.", "en", "mail", "example.com"),
    ],
)
def test_what_is_not_in_the_evidence_is_to_be_checked(sentence: str, language: str, names: str, how: str) -> None:
    marked = mark(sentence, [evidence(name) for name in names.split()], language)
    assert marked.mark is Mark.CHECK
    assert how in marked.how


@pytest.mark.parametrize("text", ["## Prices", "**Prices**", "It costs:", "Shall I go on?", "---", "|---|---|", ""])
def test_headings_and_questions_claim_nothing(text: str) -> None:
    assert mark(text, [], "en").mark is Mark.NOTHING_CLAIMED


def test_without_evidence_nothing_is_verified() -> None:
    assert mark("The bus costs 12 euros.", [], "en").mark is Mark.UNSUPPORTED
    marked = mark("The bus costs 12 euros.", [evidence("bus", is_named=False)], "en")
    assert marked.mark is Mark.CHECK
    assert "nearest" in marked.how


def test_a_message_vouches_for_its_sender_and_day() -> None:
    text = "la llevo yo mañana"
    document = Document.from_text(f"Ana: {text}", language="es", type=DocumentType.CHAT)
    part = Part(0, len(text) + 5, PartKind.MESSAGE, sender="Ana Ruiz", time=datetime(2024, 3, 5, 9), body=5)
    chunk = Chunk("c", document.id, document.content, 0, part.end, 0, Location(None), parts=(part,))
    found = look_up(text, [RetrievalResult(chunk, 1.0, document)], {})
    assert found is not None
    for sentence, verdict in (
        ("Ana Ruiz la lleva el 6 de marzo.", Mark.VERIFIED),
        ("Ana Ruiz la lleva el miércoles.", Mark.VERIFIED),
        ("Ana Ruiz la lleva el 8 de marzo.", Mark.CHECK),
        ("Luis la lleva, no Marta Ruiz.", Mark.CHECK),
    ):
        assert mark(sentence, [found], "es", date(2024, 3, 7)).mark is verdict
