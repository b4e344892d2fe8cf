"""The tables of documents: records, bars, PDF rows, chats, calendars, contacts, front matter; hostile ones too."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import Document, DocumentType, Part, PartKind
from answerable.sources.entries import read_calendar, read_contacts
from answerable.sources.html.read import read_html
from answerable.sources.markdown import read_markdown
from answerable.sources.records import read_records
from answerable.sources.whatsapp.read import read_chat
from answerable.tables.find import find_tables
from answerable.tables.grid import MOST_CELLS, WIDEST
from answerable.tables.table import Kind, Origin, Table, Value


def only(document: Document) -> Table:
    (table,) = find_tables(document)
    return table


def texts(table: Table) -> list[list[str]]:
    return [[value.text for value in row.values] for row in table.rows]


def names(table: Table) -> list[str]:
    return [column.name for column in table.columns]


def spans(table: Table, document: Document) -> list[str]:
    return [document.content[row.start : row.end] for row in table.rows]


def test_records_of_a_spanish_spreadsheet() -> None:
    document = read_records("nombre;precio;fecha\nBomba;1.300,50;05/03/2024\nVálvula;20,00;06/03/2024\n", "gastos.csv")
    table = only(document)
    assert (table.origin, table.title, names(table)) == (Origin.TABLE, "gastos", ["nombre", "precio", "fecha"])
    assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.NUMBER, Kind.DATE]
    assert [row.values[1].number for row in table.rows] == [1300.5, 20]
    assert [row.values[2].time for row in table.rows] == [datetime(2024, 3, 5), datetime(2024, 3, 6)]
    assert spans(table, document) == ["Bomba;1.300,50;05/03/2024", "Válvula;20,00;06/03/2024"]
    assert document.content[slice(*table.span)] == "Bomba;1.300,50;05/03/2024\nVálvula;20,00;06/03/2024"


def test_records_without_a_header_have_numbered_columns() -> None:
    table = only(read_records("1,2\n3,4\n", "a.csv"))
    assert (names(table), texts(table)) == (["1", "2"], [["1", "2"], ["3", "4"]])


def test_a_report_s_title_is_above_the_header() -> None:
    table = only(read_records("Ventas 2024\nid;n\n1;a\n2;b\n3;c\n", "a.csv"))
    assert (table.title, names(table), len(table.rows)) == ("Ventas 2024", ["id", "n"], 3)


@pytest.mark.parametrize(
    "content",
    [
        '[{"a": 1.250, "b": {"city": "Vigo", "c": {"d": 1}}}, {"a": 3, "e": ["x", "y"], "f": true}]',
        '{"a": 1.250, "b": {"city": "Vigo", "c": {"d": 1}}}\n{"a": 3, "e": ["x", "y"], "f": true}\n',
    ],
)
def test_objects_are_rows_with_inner_objects_one_level_deep(content: str) -> None:
    document = read_records(content, "a.json")
    table = only(document)
    assert names(table) == ["a", "b.city", "b.c", "e", "f"]
    assert texts(table) == [["1.250", "Vigo", "d: 1", "", ""], ["3", "", "", "x, y", "true"]]
    assert [row.values[0].number for row in table.rows] == [1.25, 3]
    assert spans(table, document)[1] == '{"a": 3, "e": ["x", "y"], "f": true}'


def test_lists_of_lists_are_rows() -> None:
    table = only(read_records('[["name", "n"], ["Ana", 1], ["Ben", 2]]', "a.json"))
    assert (names(table), texts(table)) == (["name", "n"], [["Ana", "1"], ["Ben", "2"]])


@pytest.mark.parametrize("rule", ["|---|---:|\n", "| :-- | --- |\n", ""])
def test_bars_with_and_without_a_rule(rule: str) -> None:
    document = Document.from_text(
        f"Los gastos:\n| Concepto | Importe |\n{rule}| Vuelo | 1.240 € |\n| a \\| b | 20 € |\n\nx | y"
    )
    table = only(document)
    assert (table.title, names(table)) == ("Los gastos", ["Concepto", "Importe"])
    assert texts(table) == [["Vuelo", "1.240 €"], ["a | b", "20 €"]]
    assert [row.values[1].number for row in table.rows] == [1240, 20]
    assert spans(table, document) == ["| Vuelo | 1.240 € |", "| a \\| b | 20 € |"]


def test_marks_of_markdown_are_no_part_of_a_cell() -> None:
    content = "a | b\n--|--\n**x** | [y](http://z)\n`c`<br>d | *e*\n"
    assert texts(only(read_markdown(content, "a.md"))) == [["x", "y"], ["c d", "e"]]


def test_tables_in_quotations_and_drawn_by_terminals() -> None:
    document = Document.from_text(
        "> | a | b |\n> |---|---|\n> | 1 | 2 |\n\n+---+---+\n| c | d |\n+---+---+\n| 3 | 4 |\n+---+---+\n"
    )
    first, second = find_tables(document)
    assert (names(first), texts(first), spans(first, document)) == (["a", "b"], [["1", "2"]], ["| 1 | 2 |"])
    assert (names(second), texts(second)) == (["c", "d"], [["3", "4"]])


def test_text_with_bars_is_no_table() -> None:
    assert find_tables(Document.from_text("Either a | b\nor c | d\n")) == []
    assert find_tables(Document.from_text("type T =\n  | A of int\n  | B of int\n")) == []
    assert find_tables(Document.from_text("| only | a header |\n|---|---|\n")) == []
    assert find_tables(Document.from_text("|\n||\n|||\n")) == []


def test_a_title_is_a_caption_a_heading_or_the_document_s() -> None:
    bars = "| a | b |\n|---|---|\n| 1 | 2 |\n"
    document = read_markdown(f"# Trip\n\nSome words. More words.\n\n{bars}\nCosts of the trip\n\n{bars}", "notes.md")
    assert [table.title for table in find_tables(document)] == ["Trip", "Costs of the trip"]
    assert only(Document.from_text(bars, title="Notes")).title == "Notes"
    html = f"<h2>Costs</h2><table><caption>In euros</caption>{row('a', 'b')}{row('c', '1')}{row('d', '2')}</table>"
    assert only(read_html(html, "a.html")).title == "In euros"


def test_a_title_is_the_sentence_that_ends_in_a_colon() -> None:
    document = Document.from_text("The balance is 12.40. These\nare the costs:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert only(document).title == "These are the costs"


def test_headers_of_markdown_are_trusted_even_if_empty() -> None:
    table = only(read_markdown("| | |\n|---|---|\n| Rent | monthly |\n| Deposit | once |\n", "a.md"))
    assert (names(table), texts(table)) == (["1", "2"], [["Rent", "monthly"], ["Deposit", "once"]])
    table = only(read_markdown("| | 1 | 2 |\n|---|---|---|\n| x | y | z |\n", "a.md"))
    assert names(table) == ["1", "1", "2"]


def row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def test_a_table_of_keys_and_values_has_no_header() -> None:
    html = f"<p>x</p><table>{row('Renta', '850 €')}{row('Fianza', '1.700 €')}{row('Gastos', '50 €')}</table>"
    table = only(read_html(html, "a.html"))
    assert (names(table), len(table.rows)) == (["1", "2"], 3)
    assert [each.values[1].number for each in table.rows] == [850, 1700, 50]


def test_years_name_columns() -> None:
    table = only(
        Document.from_text("| Concepto | 2023 | 2024 |\n| --- | --- | --- |\n| Luz | 100 | 120 |\n| Gas | 80 | 70 |\n")
    )
    assert names(table) == ["Concepto", "2023", "2024"]
    assert len(table.rows) == 2


def test_years_with_words_name_columns_of_figures() -> None:
    header, years = "| Plot | 2021 Rye | 2021 Oat | 2022 Rye |", "| Plot | Rye | 2021 | 2022 |"
    for first in (header, years):
        content = f"{first}\n| --- | --- | --- | --- |\n| Hill | 11 | 12 | 13 |\n| Lake | 21 | 22 | 23 |\n"
        assert names(only(Document.from_text(content))) == [cell.strip() for cell in first.strip("|").split("|")]
    months = "Plot,2021-01,2021-02\nHill,11,12\nLake,21,22\n"
    assert names(only(read_records(months, "a.csv"))) == ["Plot", "2021-01", "2021-02"]
    days = "Ines,2021-01-05,2021-01-09\nRui,2021-02-11,2021-02-12\n"
    assert names(only(read_records(days, "a.csv"))) == ["1", "2", "3"]


def test_a_total_is_apart() -> None:
    cases = ["Total", "**TOTAL**", "Suma", "Total geral:", "Soma", "Grand total", "Total (€)", "Total 2024"]
    for word in cases:
        document = Document.from_text(
            "| Qué | Día | Importe |\n|---|---|---|\n| a | 1/2/2024 | 0,10 |\n| b | 2/2/2024 | 0,20 |\n"
            f"| {word} | | 0,30 |\n"
        )
        table = only(document)
        assert texts(table) == [["a", "1/2/2024", "0,10"], ["b", "2/2/2024", "0,20"]], word
        assert table.total is not None, word
        assert table.total.values[2].number == 0.3, word
        assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.DATE, Kind.NUMBER], word


def test_subtotals_are_no_rows_but_what_is_called_total_may_be() -> None:
    bars = "| a | n |\n|---|---|\n| x | 1 |\n| Subtotal | 1 |\n| y | 2 |\n| z | 3 |\n| Subtotal | 5 |\n| Total | 6 |\n"
    table = only(Document.from_text(bars))
    assert texts(table) == [["x", "1"], ["y", "2"], ["z", "3"]]
    assert table.total is not None
    assert table.total.values[1].number == 6
    station = only(Document.from_text("| a | n |\n|---|---|\n| Shell | 1 |\n| Total | 7 |\n| Repsol | 3 |\n"))
    assert (len(station.rows), station.total) == (3, None)


def test_a_repeated_header_is_no_row() -> None:
    table = only(read_records("who,n\nAna,1\nBen,2\nwho,n\nEva,3\n", "a.csv"))
    assert texts(table) == [["Ana", "1"], ["Ben", "2"], ["Eva", "3"]]


def test_rows_of_a_pdf_are_one_table_across_pages() -> None:
    lines = ["Country  People", "Austria  8.9", "Spain  48.1", "Country  People", "Chile  19.6"]
    content, parts = "", []
    for number, line in enumerate(lines):
        start = len(content)
        parts.append(
            Part(
                start,
                start + len(line),
                PartKind.PAGE,
                page=1 + number // 3,
                cells=(start, start + line.index("  ") + 2),
            )
        )
        content += line + "\n"
    document = Document("1", content, title="Report", type=DocumentType.PDF, parts=tuple(parts))
    table = only(document)
    assert (table.title, names(table)) == ("Report", ["Country", "People"])
    assert texts(table) == [["Austria", "8.9"], ["Spain", "48.1"], ["Chile", "19.6"]]
    assert spans(table, document) == ["Austria  8.9", "Spain  48.1", "Chile  19.6"]


ANDROID = """5/3/24, 21:15 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.
5/3/24, 21:15 - Ana: hola
qué tal (bien)
5/3/24, 21:16 - Ben Ruiz: IMG-20240305-WA0001.jpg (archivo adjunto)
mira esto
6/3/24, 21:17 - Ana: <Multimedia omitido>
6/3/24, 21:18 - Ana: Eliminaste este mensaje.
6/3/24, 21:19 - Ana: PTT-20240306-WA0002.opus (archivo adjunto)
6/3/24, 21:20 - Ana: vale <Se editó este mensaje.>
"""


def test_a_chat_is_a_table_of_messages() -> None:
    document = read_chat(ANDROID, "Chat de WhatsApp con Ana.txt")
    table = only(document)
    assert (table.origin, table.title, names(table)) == (Origin.CHAT, "Ana", ["sender", "time", "text", "attachment"])
    assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.DATE, Kind.TEXT, Kind.TEXT]
    assert texts(table) == [
        ["Ana", "2024-03-05 21:15", "hola\nqué tal (bien)", ""],
        ["Ben Ruiz", "2024-03-05 21:16", "mira esto", "photo"],
        ["Ana", "2024-03-06 21:17", "", "media"],
        ["Ana", "2024-03-06 21:18", "", ""],
        ["Ana", "2024-03-06 21:19", "", "audio"],
        ["Ana", "2024-03-06 21:20", "vale", ""],
    ]
    assert spans(table, document)[0] == "5/3/24, 21:15 - Ana: hola\nqué tal (bien)"


def test_placeholders_of_iphones_name_the_kind_of_attachment() -> None:
    cases = [
        ("imagen omitida", "photo"),
        ("foto omitida", "photo"),
        ("image omitted", "photo"),
        ("imagem omitida", "photo"),
        ("video omitido", "video"),
        ("vídeo omitido", "video"),
        ("audio omitted", "audio"),
        ("áudio omitido", "audio"),
        ("sticker omitido", "sticker"),
        ("figurinha omitida", "sticker"),
        ("GIF omitted", "gif"),
        ("Contrato.pdf • \u200e3 pages \u200edocument omitted", "document"),
        ("<attached: 00000012-PHOTO-2024-03-05-21-15-00.jpg>", "photo"),
        ("<adjunto: 00000012-contrato.pdf>", "document"),
        ("<anexado: 00000012-STICKER-2024-03-05-21-15-00.webp>", "sticker"),
    ]
    for placeholder, kind in cases:
        content = f"[05/03/24, 21:15:00] Ana: hola\n[05/03/24, 21:16:00] Ben: \u200e{placeholder}\n"
        assert only(read_chat(content, "chat.txt")).rows[1].values[2:] == (Value(""), Value(kind)), placeholder


def test_events_of_a_calendar() -> None:
    content = (
        "BEGIN:VCALENDAR\nVERSION:2.0\nBEGIN:VEVENT\nSUMMARY:Dentista\\, otra vez\n"
        "DTSTART;TZID=Europe/Madrid:20240305T101500\n"
        'DTEND:20240305T111500Z\nLOCATION;ALTREP="http://a:1":Calle\\nMayor\nDESCRIPTION:a long\n  text\nBEGIN:VALARM\n'
        "DESCRIPTION:Alarm\nEND:VALARM\nEND:VEVENT\n"
        "BEGIN:VEVENT\nSUMMARY:Fiesta\nDTSTART;VALUE=DATE:20240401\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    document = read_calendar(content, "work.ics")
    table = only(document)
    assert (table.origin, table.title, names(table)) == (
        Origin.CALENDAR,
        "work",
        ["summary", "start", "end", "location", "description"],
    )
    first, second = table.rows
    assert [value.text for value in first.values] == [
        "Dentista, otra vez",
        "2024-03-05 10:15",
        "2024-03-05 12:15",
        "Calle Mayor",
        "a long text",
    ]
    assert second.values[1] == Value("2024-04-01", time=datetime(2024, 4, 1), is_day=True)
    assert spans(table, document)[1] == "Event: Fiesta\nStart: 2024-04-01"


def test_contacts() -> None:
    content = (
        "BEGIN:VCARD\nVERSION:3.0\nN:Ruiz;Ana;;;\nTEL;TYPE=CELL:+34 600 123 456\nitem1.TEL:912\nEMAIL:ana@example.org\n"
        "ORG:Clínica;Dental\nBDAY:1985-03-05\nNOTE:llama\\; siempre\nEND:VCARD\n"
        "BEGIN:VCARD\nFN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:Jos=C3=A9=20=\nRuiz\nBDAY:--0305\nEND:VCARD\n"
    )
    table = only(read_contacts(content, "people.vcf"))
    assert names(table) == ["name", "phone", "email", "organisation", "birthday", "note"]
    assert texts(table) == [
        [
            "Ana Ruiz",
            "+34 600 123 456 (cell), 912",
            "ana@example.org",
            "Clínica, Dental",
            "1985-03-05",
            "llama; siempre",
        ],
        ["José Ruiz", "", "", "", "5 March", ""],
    ]


def test_front_matter_is_a_row() -> None:
    document = read_markdown(
        "---\ntitle: Paella\nservings: 4\ndate: 2024-03-05\ntags: [rice, fish]\n---\n# Paella\n", "a.md"
    )
    table = only(document)
    assert (table.origin, names(table)) == (Origin.FRONT_MATTER, ["title", "servings", "date", "tags"])
    assert texts(table) == [["Paella", "4", "2024-03-05", "rice, fish"]]
    assert [column.kind for column in table.columns] == [Kind.TEXT, Kind.NUMBER, Kind.DATE, Kind.TEXT]
    assert spans(table, document)[0].startswith("---\ntitle")


CELL = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=["Cc"]) | st.just("\n"), max_size=8
)


@examples(200)
@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=2, max_size=8), st.sampled_from(",;\t"))
def test_rows_of_any_csv_are_exact(cells: list[list[str]], delimiter: str) -> None:
    written = io.StringIO()
    csv.writer(written, delimiter=delimiter, lineterminator="\n").writerows(
        [["first", "second", "third"], *([f"x{a}", b, c] for a, b, c in cells)]
    )
    content = f"sep={delimiter}\n{written.getvalue()}"
    document = read_records(content, "a.csv")
    table = only(document)
    if names(table) == ["first", "second", "third"]:
        for found in table.rows:
            (read,) = csv.reader(io.StringIO(content[found.start : found.end], newline=""), delimiter=delimiter)
            assert [value.text for value in found.values] == [cell.strip() for cell in read]
        assert [found.start for found in table.rows] == sorted({found.start for found in table.rows})
        assert texts(table) == [[f"x{a}".strip(), b.strip(), c.strip()] for a, b, c in cells]


@examples(200)
@given(st.text(st.sampled_from("|-: \n\\a1>+*[]()"), max_size=80))
def test_any_text_with_bars_is_read(content: str) -> None:
    for table in find_tables(Document.from_text(content)):
        for found in table.rows:
            assert len(found.values) == len(table.columns)
            assert content[found.start : found.end].strip() == content[found.start : found.end]
            assert "\n" not in content[found.start : found.end]


def timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def test_a_megabyte_of_chat() -> None:
    lines = (
        f"5/3/24, {hour:02}:15 - Ana: palabras número {hour} de una conversación larga (sí)\n" for hour in range(24)
    )
    document = read_chat("".join(lines) * (1_000_000 // 1_600), "chat.txt")
    assert timed(lambda: find_tables(document)) < 15


@pytest.mark.long
def test_a_hundred_thousand_rows_of_bars() -> None:
    content = "| a | b |\n|---|---|\n" + "| x | 1,5 € |\n" * 100_000
    document = Document.from_text(content)
    assert timed(lambda: find_tables(document)) < 30
    table = only(document)
    assert (len(table.rows), table.is_cut) == (MOST_CELLS // 2, False)
    assert only(Document.from_text(content + "| x | 2 € |\n")).is_cut


def test_fifty_thousand_columns() -> None:
    for columns, tables in ((10_000, [WIDEST]), (50_000, [])):
        content = "\n".join(",".join(f"{letter}{number}" for number in range(columns)) for letter in "abc")
        assert [len(table.columns) for table in find_tables(read_records(content, "a.csv"))] == tables
    bars = "\n".join("|" + "|".join("ab"[line % 2] for _ in range(50_000)) + "|" for line in range(3))
    assert len(only(Document.from_text(bars)).columns) == WIDEST
    fields = ", ".join(f'"k{number}": {number}' for number in range(50_000))
    assert len(only(read_records(f"[{{{fields}}}]", "a.json")).columns) == WIDEST


def hostile(size: int) -> list[str]:
    """Texts that look like tables or entries, each of some `size` characters."""
    return [
        "[" * size,
        '[{"a": ' + "[" * 900 + "]" * 900 + "}]",
        '[{"a": {"b": "\\ud800", "c": [{"\\udfff": "\\udfff"}]}, "\\udfff": 1e999}]',
        '[{"a": ' + "9" * 10_000 + "}]",
        'a,b\n"1,2\n3,4\n' * 3,
        "a,b\n" + '"' * (size - 1) + "\n1,2\n",
        "|" * (2 * size),
        "| a | b |\n" + f"| total{'()' * 17}x | 1 |\n| total{'.' * 34}x | 1 |\n" * 100,
        "| a |\n" * (size // 2),
        "|-" * size + "\n" + "|-" * size,
        "| " + "[a](" * (size // 2) + " | b |\n| c | d |\n",
        "| " + "\\" * size + " | b |\n| c | d |\n",
        "| " + "*" * size + "a | b |\n| c | d |\n",
        "+-" * (size // 2) + "\n| a |\n" * 100,
        "BEGIN:VEVENT\n" * (size // 2),
        "BEGIN:VEVENT\nEND:VEVENT\n" * (size // 5),
        "BEGIN:VCARD\nFN:" + "\n a" * (size // 2) + "\nEND:VCARD",
        'BEGIN:VCARD\nTEL;X="' + ":" * size + "\nEND:VCARD",
    ]


@pytest.mark.parametrize("size", [25_000, pytest.param(100_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["a.csv", "a.json", "a.md"])
def test_hostile_documents_are_read_in_time(name: str, size: int) -> None:
    for content in hostile(size):
        document = read_markdown(content, name) if name == "a.md" else read_records(content, name)
        started = time.process_time()
        for table in find_tables(document):
            for found in table.rows:
                assert len(found.values) == len(table.columns)
                for value in found.values:
                    value.text.encode()
        assert time.process_time() - started < 15, content[:40]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("Flat,Owner,1T,2T\n1A,Rosa,paid,unpaid\n1B,Tom,paid,paid\n", ["Flat", "Owner", "1T", "2T"]),
        ("Year group,Yes,No\nFirst,14,3\nSecond,9,11\n", ["Year group", "Yes", "No"]),
        ("Pupil,5 mar,12 mar\nEva,x,x\nLeo,,x\n", ["Pupil", "5 mar", "12 mar"]),
        ("Eva,12,yes\nLeo,9,no\n", ["1", "2", "3"]),
        ("Eva,5 mar,\nLeo,12 mar,\n", ["1", "2", "3"]),
    ],
)
def test_a_name_like_a_value_names_a_column_of_other_values(text: str, columns: list[str]) -> None:
    assert names(only(read_records(text, "a.csv"))) == columns


def test_a_table_of_a_pdf_without_names_is_none() -> None:
    """Its first rows may be missing: wrong columns are worse than no table."""

    def tables(text: str) -> list[Table]:
        parts, at = [], 0
        for line in text.splitlines(keepends=True):
            cells = tuple(at + place for place in (0, line.index("|") + 1))
            parts.append(Part(at, at + len(line), PartKind.RECORD, page=1, cells=cells))
            at += len(line)
        return find_tables(Document("d", text, type=DocumentType.PDF, parts=tuple(parts)))

    assert tables("Oats| 4\nRye| 7\nSpelt| 9\n") == []
    (table,) = tables("Grain| Sacks\nOats| 4\nRye| 7\n")
    assert [column.name for column in table.columns] == ["Grain|", "Sacks"]


@pytest.mark.parametrize(
    ("below", "rows"),
    [
        ("\nBalance on 30 June;;410,00\n", 4),
        ("\nBalance on 30 June;;410,00\nPrinted on 2 July;;\n", 4),
        ("Balance on 30 June;;410,00\n", 5),
        ("\n05-06-2024;Seeds;12,00\n", 5),
    ],
)
def test_notes_below_a_table_are_no_rows(below: str, rows: int) -> None:
    text = "Day;What;Amount\n01-06-2024;Rent;90,00\n02-06-2024;Soil;8,50\n03-06-2024;Hose;20,00\n04-06-2024;Pots;7,00\n"
    (table,) = find_tables(read_records(text + below, "shed.csv"))
    assert len(table.rows) == rows
