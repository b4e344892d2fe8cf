"""From a file of each format to a cited answer, through the public door."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from docx import Document as Word
from made_files import epub

import answerable
from answerable.stores.records import location_from_json, location_to_json, parts_from_json, parts_to_json

CODE = '''"""Reads bills."""


class InvoiceReader:
    """Reads the bills of a month."""

    def retries(self) -> int:
        # How often a failed download is tried again before giving up.
        return 7
'''
PRICES = "produto;preço;garantia\nBomba de água;300,00;24 meses\nVálvula;20,00;6 meses\nFiltro;12,50;sem garantia\n"
STATIONS = """[
  {"station": "Atocha", "note": "The ticket office opens at 05:00 in the morning."},
  {"station": "Chamartín", "note": "The luggage lockers cost six euros for one day."}
]"""


def guide() -> bytes:
    document = Word()
    document.add_heading("Guía del invernadero", 0)
    document.add_heading("Riego", 1)
    document.add_paragraph("Los tomates se riegan cada tres días con agua templada.")
    document.add_heading("Abono", 1)
    document.add_paragraph("El abono se mezcla con tierra en otoño.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


BOOK = epub(
    {
        "one.xhtml": "<h1>The Harbour</h1><p>The lighthouse keeper was called Ezra Pike.</p><p>He liked tea.</p>",
        "two.xhtml": "<h1>The Storm</h1><p>The storm began on a Tuesday and broke the mast.</p>",
    }
)


@pytest.mark.parametrize(
    ("name", "data", "question", "quoted", "location"),
    [
        ("guía.docx", guide(), "¿Cada cuánto se riegan los tomates?", "cada tres días", "Guía del invernadero › Riego"),
        ("book.epub", BOOK, "What was the lighthouse keeper called?", "Ezra Pike", "The Harbour"),
        (
            "bills.py",
            CODE,
            "How often is a failed download tried again?",
            "tried again",
            "InvoiceReader.retries, line 8",
        ),
        ("precos.csv", PRICES, "Qual é a garantia da bomba de água?", "24 meses", "line 2"),
        ("stations.json", STATIONS, "When does the ticket office open?", "05:00", "line 2"),
    ],
)
def test_a_question_answered_from_each_format(
    tmp_path: Path, name: str, data: bytes | str, question: str, quoted: str, location: str
) -> None:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    with answerable.open(":memory:") as library:
        report = library.add(path)
        assert (report.added, report.failures) == (1, [])
        answer = library.ask(question)
    assert answer.answered, answer
    citation = answer.citations[0]
    assert quoted in citation.quote
    assert str(citation.location) == location
    assert citation.link.startswith("file://")


def test_symbols_come_back_from_a_folder(tmp_path: Path) -> None:
    (tmp_path / "bills.py").write_text(CODE)
    with answerable.open(tmp_path / "library") as library:
        library.add(tmp_path / "bills.py")
        result = library.search("retries")[0]
    assert "InvoiceReader.retries" in [part.symbol for part in result.chunk.parts]
    assert location_from_json(location_to_json(result.chunk.location)) == result.chunk.location
    assert parts_from_json(parts_to_json(result.chunk.parts)) == result.chunk.parts


def test_parts_and_locations_written_before_symbols_are_read() -> None:
    (part,) = parts_from_json('[[0,5,"page",3,[],null,null,null,null]]')
    assert (part.page, part.symbol) == (3, None)
    old = '{"lines":[1,2],"pages":null,"headings":[],"anchor":null,"times":null,"senders":[]}'
    assert location_from_json(old).symbol is None
