from __future__ import annotations

import csv
import io
import time
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.datatypes import Document
from answerable.sources.dispatch import read_file
from answerable.sources.tables.read import read_records
from answerable.sources.whatsapp.read import read_chat
from answerable.tables.find import find_tables
from answerable.tables.table import Kind, Origin, Table


def tables_of(tmp_path: Path, name: str, content: str) -> tuple[Document, list[Table]]:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    (document,) = read_file(path)
    return document, find_tables(document)


def cells(table: Table) -> list[list[str]]:
    return [[value.text for value in row.values] for row in table.rows]


def test_csv_with_semicolons(tmp_path: Path) -> None:
    document, (table,) = tables_of(
        tmp_path, "gastos.csv", 'Fecha;Concepto;Importe €\n03/01/2024;"Tubo; 3 m";120,50\n15/02/2024;Pintura;80,00\n'
    )
    assert [(column.name, column.kind, column.unit) for column in table.columns] == [
        ("Fecha", Kind.DATE, ""),
        ("Concepto", Kind.TEXT, ""),
        ("Importe €", Kind.NUMBER, "EUR"),
    ]
    assert cells(table)[0] == ["03/01/2024", "Tubo; 3 m", "120,50"]
    assert table.rows[0].values[2].number == 120.5
    first = table.rows[0]
    assert document.content[first.start : first.end] == '03/01/2024;"Tubo; 3 m";120,50'


def test_json_records_with_objects_inside(tmp_path: Path) -> None:
    document, (table,) = tables_of(
        tmp_path,
        "people.json",
        '[{"name": "Ana", "address": {"city": "Lugo"}, "tags": ["a", "b"]}, {"name": "Bo", "paid": true, "x": null}]',
    )
    assert [column.name for column in table.columns] == ["name", "address.city", "tags", "paid", "x"]
    assert cells(table) == [["Ana", "Lugo", "a, b", "", ""], ["Bo", "", "", "yes", ""]]
    assert document.content[table.rows[1].start : table.rows[1].end].startswith('{"name": "Bo"')


def test_markdown_tables_under_their_titles(tmp_path: Path) -> None:
    text = (
        "---\nauthor: Rui\ndate: 2024-05-01\n---\n# Clube\n\n## Preços\n\n| Plano | Preço |\n|:--|--:|\n"
        "| **Básico** | R$ 20 |\n| A \\| B | R$ 30 |\n| Total | R$ 50 |\n\nOs sócios:\n\n| Nome | Cidade |\n"
        "| --- | --- |\n| [Ana](x.md) | Porto |\n"
    )
    document, (fields, prices, members) = tables_of(tmp_path, "clube.md", text)
    assert fields.origin is Origin.FRONT_MATTER
    assert cells(fields) == [["Rui", "2024-05-01"]]
    assert (prices.title, cells(prices)) == ("Preços", [["Básico", "R$ 20"], ["A | B", "R$ 30"]])
    assert prices.total is not None
    assert prices.total.values[1].number == 50
    assert (members.title, cells(members)) == ("Os sócios", [["Ana", "Porto"]])
    assert document.content[prices.rows[1].start : prices.rows[1].end] == "| A \\| B | R$ 30 |"


def test_web_pages_and_word_documents(tmp_path: Path) -> None:
    rows = "".join(f"<tr><td>{name}</td><td>{price}</td></tr>" for name, price in (("Sopa", "4,50 €"), ("Pan", "1 €")))
    page = f"<h1>Menú</h1><p>Hoy:</p><table><tr><th>Plato</th><th>Precio</th></tr>{rows}</table>"
    _, (table,) = tables_of(tmp_path, "menu.html", page)
    assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.NUMBER]
    assert [row.values[1].number for row in table.rows] == [4.5, 1]
    docx = pytest.importorskip("docx")
    made = docx.Document()
    grid = made.add_table(rows=3, cols=2)
    for row, texts in zip(grid.rows, (("Item", "Qty"), ("Chairs", "12"), ("Tables", "3")), strict=True):
        for cell, text in zip(row.cells, texts, strict=True):
            cell.text = text
    made.save(str(tmp_path / "stock.docx"))
    (document,) = read_file(tmp_path / "stock.docx")
    (table,) = find_tables(document)
    assert cells(table) == [["Chairs", "12"], ["Tables", "3"]]


def test_chats_have_sender_time_text_and_attachment() -> None:
    chat = read_chat(
        "12/31/23, 9:15 PM - Ana: happy\nnew year\n1/13/24, 9:15 AM - Ben: <Media omitted>\n"
        "1/13/24, 9:16 AM - Ben: IMG-20240113-WA0001.jpg (file attached)\nlook\n1/13/24, 9:17 AM - Ana left\n",
        "chat.txt",
    )
    (table,) = find_tables(chat)
    assert [column.name for column in table.columns] == ["sender", "time", "text", "attachment"]
    assert [row.values[0].text for row in table.rows] == ["Ana", "Ben", "Ben"]
    assert [row.values[3].text for row in table.rows] == ["", "media", "image"]
    assert table.rows[0].values[1].time == datetime(2023, 12, 31, 21, 15)
    assert table.rows[0].values[2].text == "happy\nnew year"


@pytest.mark.parametrize(
    ("placeholder", "kind"),
    [
        ("imagen omitida", "image"),
        ("vídeo omitido", "video"),
        ("áudio ocultado", "audio"),
        ("figurinha omitida", "sticker"),
    ],
)
def test_placeholders_of_an_iphone(placeholder: str, kind: str) -> None:
    chat = read_chat(
        f"[14/03/2024, 10:22:31] Ana: hola\n[14/03/2024, 10:22:32] Luis: \u200e{placeholder}\n", "_chat.txt"
    )
    (table,) = find_tables(chat)
    assert [row.values[3].text for row in table.rows] == ["", kind]


def test_calendars_and_contacts(tmp_path: Path) -> None:
    event = "BEGIN:VEVENT\nSUMMARY:Board\\, first\nDTSTART;TZID=Europe/Madrid:20240305T183000\n"
    event += "LOCATION:Town\n  hall\nEND:VEVENT\n"
    _, (events,) = tables_of(tmp_path, "club.ics", f"BEGIN:VCALENDAR\n{event}END:VCALENDAR\n")
    assert events.origin is Origin.CALENDAR
    assert cells(events) == [["Board, first", "2024-03-05 18:30", "", "Town hall", ""]]
    assert events.rows[0].values[1].time == datetime(2024, 3, 5, 18, 30)
    card = "BEGIN:VCARD\nVERSION:3.0\nFN:Ana Ruiz\nTEL;TYPE=CELL:+34 600 1\nTEL:+34 600 2\n"
    card += "ORG:Remo;Juvenil\nEND:VCARD\n"
    _, (contacts,) = tables_of(tmp_path, "club.vcf", card)
    assert cells(contacts)[0][:4] == ["Ana Ruiz", "+34 600 1, +34 600 2", "", "Remo Juvenil"]


PLAIN = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp"), exclude_characters=" "), min_size=1
)


@given(st.lists(st.tuples(PLAIN, st.integers(0, 999), PLAIN), min_size=3, max_size=8))
def test_rows_of_csv_are_exact(rows: list[tuple[str, int, str]]) -> None:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(("name", "count", "note"))
    writer.writerows(rows)
    document = read_records(written.getvalue(), "made.csv")
    for table in find_tables(document):
        for row in table.rows:
            read = next(csv.reader([document.content[row.start : row.end]]))
            assert [" ".join(cell.split()) for cell in read] == [" ".join(value.text.split()) for value in row.values]


@pytest.mark.parametrize(
    "content",
    [
        "|" * 200_000,
        "| a | b |\n" * 100_000,
        ("| " + "x " * 50 + "|\n") * 5_000,
        "[[" * 100_000,
        "BEGIN:VEVENT\n" * 50_000,
        "---\n" + "a: b\n" * 100_000,
        "a,b\n" + '"' * 100_000,
        ",".join("c" * 3 for _ in range(50_000)) + "\n" + ",".join("1" for _ in range(50_000)),
        "| " + "**[" * 30_000 + " |\n| b |\n",
    ],
    ids=["bars", "rows", "wide", "json", "events", "front", "quotes", "columns", "markup"],
)
@pytest.mark.parametrize("name", ["hostile.md", "hostile.csv", "hostile.json"])
def test_hostile_text_takes_seconds_at_most(tmp_path: Path, content: str, name: str) -> None:
    path = tmp_path / name
    path.write_text(content, "utf-8")
    for document in read_file(path):
        begun = time.process_time()
        for table in find_tables(document):
            assert all(len(row.values) == len(table.columns) for row in table.rows)
        assert time.process_time() - begun < 20
