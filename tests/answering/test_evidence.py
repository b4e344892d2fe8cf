"""Test that quotes are looked up letter for letter, and that evidence is whole sentences, rows and messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.checking.evidence import look_up, nearest
from answerable.answering.found import computed_passage
from answerable.datatypes import (
    Answer,
    Chunk,
    Citation,
    Document,
    DocumentType,
    Location,
    Part,
    PartKind,
    Reason,
    RetrievalResult,
)

PROSE = (
    "The “north gate” opens at 8:40 – not on Sundays. Dogs travel for free, but **only** small ones. "
    "It measures 10² metres. Maria well-\nknown as Mia isn't on the list. The fee of 1.200 € is not refundable."
)
TABLE = "| City | Price |\n|---|---|\n| Lisbon | 1,240 EUR |\n| Porto | 980 EUR |\n"
SPANISH = "La sesión no empieza a las 9:30. ¿Quién abre? El público entra después."


def passage(
    text: str, start: int = 0, end: int | None = None, kind: DocumentType = DocumentType.TEXT
) -> RetrievalResult:
    document = Document.from_text(text, title="Notes", language="en", type=kind)
    end = len(text) if end is None else end
    return RetrievalResult(Chunk("c", document.id, text[start:end], start, end, 0, Location(None)), 1.0, document)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("Dogs travel for free, but **only** small ones.", "Dogs travel for free, but **only** small ones."),
        ("dogs  travel for free, but only small ones", "Dogs travel for free, but **only** small ones."),
        ('The "north gate" opens at 8:40', "The “north gate” opens at 8:40 – not on Sundays."),
        ("Maria wellknown as Mia isn’t on the list", "Maria well-\nknown as Mia isn't on the list."),
        ("The fee of 1.200 €", "The fee of 1.200 € is not refundable."),
        ("The “north gate” … small ones", f"{PROSE.partition(' It')[0]}"),
        ("| Lisbon | 1,240 EUR |", "| Lisbon | 1,240 EUR |"),
        ("Lisbon, 1,240 EUR", "| Lisbon | 1,240 EUR |"),
        ("Lisbon\t1,240 EUR", "| Lisbon | 1,240 EUR |"),
        ("City; Price\nPorto; 980 EUR", "| City | Price | … | Porto | 980 EUR |"),
        ("la sesión no empieza a las 9:30", "La sesión no empieza a las 9:30."),
    ],
)
def test_the_whole_sentence_or_row_is_evidence(quote: str, text: str) -> None:
    evidence = look_up(quote, [passage(SPANISH), passage(TABLE), passage(PROSE)], {})
    assert evidence is not None
    assert evidence.text == text
    assert evidence.is_named


@pytest.mark.parametrize(
    "quote",
    [
        "The fee of 1.300 €",
        "The fee of 200 €",
        "It measures 102 metres",
        "Dogs travel for free, but even small ones",
        "small ones … Dogs travel",
        "La sesion no empieza a las 9:30",
        "Dogs, travel for free",
        "Porto, 1,240 EUR",
        "free",
        "",
    ],
)
def test_a_changed_digit_accent_word_or_order_is_not_found(quote: str) -> None:
    assert look_up(quote, [passage(SPANISH), passage(TABLE), passage(PROSE)], {}) is None


def test_the_named_passage_is_searched_first() -> None:
    one, other = passage("Doors open at nine."), passage("First. Doors open at nine.")
    evidence = look_up("Doors open at nine.", [other, one], {})
    assert evidence is not None
    assert (evidence.passage, evidence.start) == (other, 7)


def test_a_sentence_goes_on_beyond_its_passage() -> None:
    cut = PROSE.index("only")
    evidence = look_up("Dogs travel for free", [passage(PROSE, 0, cut)], {})
    assert evidence is not None
    assert evidence.text.endswith("small ones.")
    unloaded = passage(PROSE, 0, cut)
    assert look_up("Dogs travel", [replace(unloaded, document=replace(unloaded.document, content=""))], {}) is None


def test_a_message_is_evidence_without_its_sender() -> None:
    lines = ["5/3/24, 21:15 - Ana: la llevo yo\n", "5/3/24, 21:16 - Luis: no hace falta. Hay una.\n"]
    text, parts = "".join(lines), []
    for number, line in enumerate(lines):
        start, body = number * len(lines[0]), line.index(": ", 12) + 2
        parts.append(
            Part(
                start,
                start + len(line),
                PartKind.MESSAGE,
                sender=line[14:18],
                time=datetime(2024, 3, 5),
                body=start + body,
            )
        )
    found = passage(text, kind=DocumentType.CHAT)
    found = replace(found, chunk=replace(found.chunk, parts=tuple(parts)))
    for quote in ("Ana: la llevo yo", "la llevo yo"):
        evidence = look_up(quote, [found], {})
        assert evidence is not None
        assert evidence.text == "la llevo yo"
    evidence = look_up("Hay una", [found], {})
    assert evidence is None or evidence.text == "no hace falta. Hay una."


def test_a_computed_passage_cites_its_rows() -> None:
    row = Citation("Porto 980", "d", "", "", 0, 9, Location(None), "")
    made = computed_passage(Answer("Which?", "The sum is 2220. [1]\nSo.", True, Reason.ANSWERED, "en", 1.0, (row,)))
    evidence = look_up("The sum is 2220.", [made.result], {made.result.document.id: made})
    assert evidence is not None
    assert evidence.citations == (row,)


def test_the_nearest_sentence_shares_most_rare_words() -> None:
    given_passages = [passage(SPANISH), passage(TABLE), passage(PROSE)]
    found = nearest("Small dogs needn't pay for travel", given_passages, {}, "en")
    assert found is not None
    assert (found.text[:4], found.is_named) == ("Dogs", False)
    assert nearest("Quantum", given_passages, {}, "en") is None


@given(st.text(alphabet="ab1.,-–' \n|…*éÉ²", max_size=60), st.integers(0, 60), st.integers(0, 60), st.integers(0, 60))
def test_citations_are_verbatim(text: str, start: int, size: int, cut: int) -> None:
    result = passage(text, 0, min(cut, len(text)))
    for evidence in (look_up(text[start : start + size], [result], {}), nearest(text[start:], [result], {}, "en")):
        for citation in evidence.citations if evidence else ():
            assert result.document.content[citation.start : citation.end] == citation.quote
            assert citation.quote in (evidence.text if evidence else "")
