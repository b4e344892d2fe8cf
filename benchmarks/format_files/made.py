"""Documents made here, so that it is known where each word stands."""

from __future__ import annotations

import json
from collections.abc import Sequence

from docx import Document as Word
from made_files import epub
from made_mail import letter
from made_office_files import opendocument, presentation, saved, table, workbook
from measuring import ROOT

from format_files.sample import Sample, probe

EXAMPLES = ROOT / "examples"
_COSTS: Sequence[Sequence[object]] = [
    ["What", "Who", "Euros"],
    ["Mulch for the beds", "Ana", 1234.5],
    ["Water meter", "Ben", 89],
    ["Paint for the shed", "Cleo", 46.25],
]
_PEOPLE = [["Name", "Plot"], ["Ana Gil", "Plot 12 beside the pump"], ["Ben Low", "Plot 7 under the walnut"]]
_SLIDES = [
    ("Spring meeting", "Agenda of the allotment club", ""),
    ("Water", "The pump runs from April to October", "Say that the meter was replaced in March"),
    ("Compost", "No cooked food in the bins", ""),
]
_CHAPTERS = {
    "one.xhtml": "<h1>The Harbour</h1><p>The lighthouse keeper was called Ezra Pike.</p><p>He drank his tea cold.</p>",
    "two.xhtml": "<h1>The Storm</h1><p>The storm began on a Tuesday and broke the mast.</p>",
}
_PRICES = "produto;preço;garantia\nBomba de água;300,00;24 meses\nVálvula;20,00;6 meses\nFiltro;12,50;sem garantia\n"
_STATIONS = """[
  {"station": "Atocha", "note": "The ticket office opens at 05:00 in the morning."},
  {"station": "Chamartín", "note": "The luggage lockers cost six euros for one day."}
]
"""
_CODE = '''"""Reads bills."""


class InvoiceReader:
    """Reads the bills of a month."""

    def retries(self) -> int:
        # How often a failed download is tried again before giving up.
        return 7
'''


def documents() -> list[Sample]:
    """Documents of each kind but chats, pictures and recordings."""
    return [_xlsx(), _csv(), _pptx(), _docx(), _odt(), _epub(), _json(), _code(), _mbox(), *_examples()]


def _xlsx() -> Sample:
    book = workbook({"Costs": _COSTS, "People": _PEOPLE}, "#,##0.00")
    words = "What Who Euros Mulch for the beds Ana 1,234.50 Water meter Ben 89.00 Paint for the shed Cleo 46.25"
    return Sample(
        "club.xlsx",
        "xlsx",
        (
            probe("Mulch for the beds", cell="Costs!A2"),
            probe("1,234.50", cell="Costs!C2"),
            probe("Cleo", cell="Costs!B4"),
            probe("Plot 7 under the walnut", cell="People!B3"),
        ),
        saved(book),
        f"Costs {words} People {' '.join(' '.join(row) for row in _PEOPLE)}",
    )


def _csv() -> Sample:
    probes = (probe("24 meses", line=2), probe("Válvula", line=3), probe("sem garantia", line=4))
    return Sample("precos.csv", "csv", probes, _PRICES.encode(), _PRICES)


def _pptx() -> Sample:
    probes = (
        probe("Agenda of the allotment club", slide=1),
        probe("The pump runs from April to October", slide=2),
        probe("Say that the meter was replaced in March", slide=2),
        probe("No cooked food in the bins", slide=3),
    )
    return Sample("meeting.pptx", "pptx", probes, presentation(_SLIDES), " ".join(map(" ".join, _SLIDES)))


def _docx() -> Sample:
    made = Word()
    made.add_heading("Guía del invernadero", 0)
    made.add_heading("Riego", 1)
    made.add_paragraph("Los tomates se riegan cada tres días con agua templada.")
    made.add_paragraph("Nunca al mediodía", style="List Bullet")
    made.add_heading("Abono", 1)
    made.add_paragraph("El abono se mezcla con tierra en otoño.")
    cells = made.add_table(rows=2, cols=2).rows
    cells[0].cells[0].text, cells[0].cells[1].text = "Planta", "Gramos"
    cells[1].cells[0].text, cells[1].cells[1].text = "Berenjena", "45"
    return Sample(
        "invernadero.docx",
        "docx",
        (
            probe("cada tres días con agua templada", heading="Riego"),
            probe("Nunca al mediodía", heading="Riego"),
            probe("El abono se mezcla con tierra en otoño.", heading="Abono"),
            probe("Berenjena", heading="Abono"),
        ),
        saved(made),
        "Guía del invernadero Riego Los tomates se riegan cada tres días con agua templada. Nunca al mediodía Abono "
        "El abono se mezcla con tierra en otoño. Planta Gramos Berenjena 45",
    )


def _odt() -> Sample:
    body = (
        '<text:h text:outline-level="1">Ata da reunião</text:h><text:p>Presentes: doze sócios.</text:p>'
        '<text:h text:outline-level="2">Portão</text:h><text:p>O portão novo custa novecentos reais.</text:p>'
        f"{table([['Item', 'Reais'], ['Dobradiça', '80']], 'Tabela')}"
        '<text:h text:outline-level="2">Jardim</text:h><text:p>A poda fica para agosto.</text:p>'
    )
    return Sample(
        "ata.odt",
        "odt",
        (
            probe("Presentes: doze sócios.", heading="Ata da reunião"),
            probe("O portão novo custa novecentos reais.", heading="Portão"),
            probe("Dobradiça", heading="Portão"),
            probe("A poda fica para agosto.", heading="Jardim"),
        ),
        opendocument("text", body),
        "Ata da reunião Presentes: doze sócios. Portão O portão novo custa novecentos reais. Item Reais Dobradiça 80 "
        "Jardim A poda fica para agosto.",
    )


def _epub() -> Sample:
    return Sample(
        "harbour.epub",
        "epub",
        (
            probe("The lighthouse keeper was called Ezra Pike.", heading="The Harbour"),
            probe("He drank his tea cold.", heading="The Harbour"),
            probe("The storm began on a Tuesday", heading="The Storm"),
        ),
        epub(_CHAPTERS),
        "The Harbour The lighthouse keeper was called Ezra Pike. He drank his tea cold. The Storm The storm began on a "
        "Tuesday and broke the mast.",
    )


def _json() -> Sample:
    stations = json.loads(_STATIONS)
    return Sample(
        "stations.json",
        "json",
        (probe("opens at 05:00 in the morning", line=2), probe("cost six euros for one day", line=3)),
        _STATIONS.encode(),
        " ".join(f"{each['station']} {each['note']}" for each in stations),
    )


def _code() -> Sample:
    probes = (
        probe("Reads the bills of a month.", line=5),
        probe("How often a failed download is tried again", line=8),
        probe("return 7", line=9),
    )
    return Sample("bills.py", "code", probes, _CODE.encode(), _CODE)


def _mbox() -> Sample:
    letters = [
        letter("The boiler was serviced in May; the next visit is in 2026.", id="1@example.org"),
        letter(
            "El técnico llega el jueves a las nueve.",
            sender="Técnica Sur <sur@example.org>",
            subject="Visita",
            date="Wed, 06 Mar 2024 08:30:00 +0100",
            id="2@example.org",
            attached=[("aviso.txt", "Cierre la llave del gas antes.")],
        ),
    ]
    data = b"".join(b"From MAILER Thu Mar  7 00:00:00 2024\n" + each.as_bytes() + b"\n\n" for each in letters)
    return Sample(
        "inbox.mbox",
        "mbox",
        (
            probe("the next visit is in 2026", time="2024-03-05 21:15", sender="Ana Ruiz"),
            probe("El técnico llega el jueves a las nueve.", time="2024-03-06 08:30", sender="Técnica Sur"),
            probe("Cierre la llave del gas antes.", member="aviso.txt"),
        ),
        data,
    )


def _examples() -> list[Sample]:
    guide, pots, rules = ("espresso-machine-guide.md", "horta-na-varanda.html", "riverside-library-rules.pdf")
    text = (EXAMPLES / guide).read_text("utf-8")
    found = {
        guide: (
            "md",
            (
                probe("Vinegar attacks the seals and must not be used.", line=29),
                probe("single | 9 g", line=35),
                probe("The warranty covers 24 months", line=52),
            ),
            text,
        ),
        pots: (
            "html",
            (
                probe("Manjericão, alecrim e tomate-cereja precisam", heading="Quanto sol é necessário"),
                probe("Enfie o dedo dois centímetros na terra", heading="Rega"),
                probe("O óleo de neem também funciona", heading="Pragas"),
            ),
            "",
        ),
        rules: (
            "pdf",
            (
                probe("Membership costs 36 euros a year", page=1),
                probe("The library is closed in August.", page=1),
                probe("For every day that a tool comes back late the member pays 2 euros", page=2),
                probe("A reservation lapses if the tool is not collected within one hour", page=2),
            ),
            "",
        ),
    }
    return [
        Sample(name, kind, probes, (EXAMPLES / name).read_bytes(), words)
        for name, (kind, probes, words) in found.items()
    ]
