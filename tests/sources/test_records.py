"""Tables and lists of objects: rows with their exact spans, columns, and what is none of it."""

from __future__ import annotations

import csv
import io
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_here import read_file

from answerable.datatypes import DocumentType, PartKind
from answerable.errors import EmptySource
from answerable.sources.records import read_records
from answerable.splitting.by_type import SplitterByType
from answerable.splitting.make_chunks import evidence_spans
from answerable.tables.find import find_tables

SPANISH = "nombre;precio;fecha\nBomba;1.300,50;05/03/2024\nVálvula;20,00;06/03/2024\n"


def records(content: str, name: str = "a.csv") -> list[str]:
    document = read_records(content, name)
    assert document.content == content
    assert all(part.kind is PartKind.RECORD for part in document.parts)
    return [content[part.start : part.end] for part in document.parts]


def columns(content: str) -> str:
    return str(read_records(content, "a.csv").metadata.get("columns", ""))


def test_a_table_from_spanish_excel(tmp_path: Path) -> None:
    path = tmp_path / "precios.csv"
    path.write_bytes(SPANISH.replace("\n", "\r\n").encode("cp1252"))
    (document,) = read_file(path)
    assert (document.type, document.title, document.content) == (DocumentType.RECORDS, "precios", SPANISH)
    assert document.metadata == {"columns": "nombre, precio, fecha"}
    assert records(SPANISH) == ["Bomba;1.300,50;05/03/2024", "Válvula;20,00;06/03/2024"]
    (chunk,) = SplitterByType().split(document)
    assert chunk.context == "precios › nombre, precio, fecha"
    assert [chunk.content[start:end] for start, end in evidence_spans(chunk, "es")] == records(SPANISH)


@pytest.mark.parametrize(
    ("content", "names", "rows"),
    [
        ("name,city\nAna,Lisboa\nRui,Porto\n", "name, city", ["name,city", "Ana,Lisboa", "Rui,Porto"]),
        ("a,b\n1,2\n\n3,4", "a, b", ["1,2", "3,4"]),
        ("a\tb\n1\tx, y\n2\tz\n", "a, b", ["1\tx, y", "2\tz"]),
        ('id,text\n1,"one\ntwo, ""three"""\n2,x\n', "id, text", ['1,"one\ntwo, ""three"""', "2,x"]),
        ("1,2\n3,4\n", "", ["1,2", "3,4"]),
        ("sep=;\nid;n\n1;a\n2;b\n", "id, n", ["1;a", "2;b"]),
        ("Ventas 2024\nid;n\n1;a\n2;b\n3;c\n", "id, n", ["Ventas 2024", "1;a", "2;b", "3;c"]),
        ("id;n\n1;a\n;;\n2;b\n", "id, n", ["1;a", "2;b"]),
        ('id,size\n1,"5" pipe\n2,"6" pipe\n', "id, size", ['1,"5" pipe', '2,"6" pipe']),
        ("id|n\n1|a,b\n2|c,d\n", "id, n", ["1|a,b", "2|c,d"]),
        (
            "Name,Town,\nInes,Faro,call\nRui,Beja,paid\n",
            "Name, Town",
            ["Name,Town,", "Ines,Faro,call", "Rui,Beja,paid"],
        ),
        ("día,hora\n2024-03-05,10:15\n2024-03-06,11:00\n", "día, hora", ["2024-03-05,10:15", "2024-03-06,11:00"]),
    ],
)
def test_tables(content: str, names: str, rows: list[str]) -> None:
    assert (columns(content), records(content)) == (names, rows)


ROWS = "Date;Payee;For;Amount\n03.02.2023;Tram;May;-9,50\n05.02.2023;Rent;;-610,00\n07.02.2023;Wages;Feb;1.900,10\n"


@pytest.mark.parametrize(
    "above",
    [
        "Account;NL77 / Joint\nBalance on 01.03.2023:;88,12 EUR\n",
        "Account;NL77;;\nBalance on 01.03.2023:;88,12 EUR;;\n;;;\n",
        'My bank\n"Account";"NL77"\nFrom;01.02.2023\nTo;28.02.2023\nOld balance;1,10 EUR\nNew balance;88,12 EUR\n\n',
        "sep=;\nMy bank\n",
    ],
)
def test_lines_above_a_table_are_apart_from_it(above: str) -> None:
    content = above + ROWS
    document = read_records(content, "a.csv")
    assert document.content == content
    own = [line for line in above.split("\n") if line.strip(";") and line != "sep=;"]
    assert records(content) == [*own, *ROWS.split("\n")[1:-1]]
    lines = str(content[: content.index("Date")].count("\n") + 1)
    assert document.metadata == {"columns": "Date, Payee, For, Amount", "header_line": lines}
    (table,) = find_tables(document)
    assert [column.name for column in table.columns] == ["Date", "Payee", "For", "Amount"]
    assert [row.values[3].number for row in table.rows] == [-9.5, -610, 1900.1]


def test_names_of_columns_that_come_twice() -> None:
    content = "Owner;Ines\n\nDay;Balance;Currency;Amount;Currency\n03.02.2023;90,50;EUR;-9,50;EUR\n"
    assert columns(content) == "Day, Balance, Currency, Amount, Currency 2"
    (table,) = find_tables(read_records(content, "a.csv"))
    assert [value.text for value in table.rows[0].values] == ["03.02.2023", "90,50", "EUR", "-9,50", "EUR"]
    assert columns("Ines,Ines\nRui,Eva\n") == ""


@pytest.mark.parametrize(
    "content",
    [
        "04-08-2022;Tram;-9,50\n05-08-2022;Rent;-610,00\n05-08-2022;Wages;1.900,10\n",
        "04-08-2022;Tram;-9,50\nlater;Rent;unknown\n05-08-2022;Wages;1.900,10\n06-08-2022;Post;-4,00\n",
    ],
)
def test_the_first_row_of_a_table_without_a_header_is_a_row(content: str) -> None:
    assert (columns(content), records(content)) == ("", content.split("\n")[:-1])
    (table,) = find_tables(read_records(content, "a.csv"))
    assert [column.name for column in table.columns] == ["1", "2", "3"]
    assert len(table.rows) == len(records(content))


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.json", '[{"a": 1}, {"b": [2,\n 3]}]', ['{"a": 1}', '{"b": [2,\n 3]}']),
        ("a.json", "[[1, 2], [3, 4]]", ["[1, 2]", "[3, 4]"]),
        ("a.jsonl", '{"a": "ñ"}\n\n {"b": 2} \n', ['{"a": "ñ"}', '{"b": 2}']),
        ("a.json", '{"a": 1}\n{"a": 2}\n', ['{"a": 1}', '{"a": 2}']),
    ],
)
def test_json(name: str, content: str, expected: list[str]) -> None:
    assert records(content, name) == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "Dear all, this is prose,\nwith commas.\nNothing else here\nat all.\n"),
        ("a.csv", "email\nana@x.org\n"),
        ("a.csv", "only, one\n"),
        ("a.json", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("a.json", '[{"a": 1}, {"b":'),
        ("a.json", '[{"a": 1}] rest'),
        ("a.json", "[1, 2, 3]"),
        ("a.json", "[" * 100_000),
        ("a.json", '[{"a": ' + "9" * 5000 + "}]"),
        ("a.jsonl", '{"a": 1}\n{"a": 2\n'),
        ("a.jsonl", '{"a": 1} {"a": 2}\n'),
    ],
)
def test_what_is_no_list_of_records_is_plain_text(name: str, content: str) -> None:
    document = read_records(content, name)
    assert (document.type, document.parts) == (DocumentType.TEXT, ())
    chunks = SplitterByType().split(document)
    assert "".join(chunk.content for chunk in chunks).replace(" ", "")[:50] == content.replace(" ", "")[:50].strip()


def test_nothing_in_it() -> None:
    with pytest.raises(EmptySource, match=r"a\.csv holds no text"):
        read_records("\n", "a.csv")


def test_large_files_take_time_in_proportion() -> None:
    def seconds(content: str, name: str) -> float:
        started = time.process_time()
        assert len(read_records(content, name).parts) > 10_000
        return time.process_time() - started

    table = "id,text\n" + "".join(f'{number},"a row, of text"\n' for number in range(40_000))
    objects = json.dumps([{"id": number} for number in range(40_000)])
    assert seconds(table * 3, "a.csv") < 6
    assert seconds(objects.replace("]", ", ", 1) + objects[1:], "a.json") < 6


CELLS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.just("\n"), max_size=12)


@given(
    st.integers(2, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), min_size=1, max_size=12)
    ),
    st.sampled_from(",;\t|"),
)
def test_each_row_at_its_place(rows: list[list[str]], delimiter: str) -> None:
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
    rows = [[f"x{cells[0]}", *cells[1:]] for cells in rows]
    writer.writerows([[f"column {number}" for number in range(len(rows[0]))], *rows])
    content = buffer.getvalue()
    found = [next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)) for text in records(content)]
    assert found[-len(rows) :] == rows
    check_chunks(content, "a.csv")


@given(st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), min_size=1)), st.booleans())
def test_each_object_at_its_place(objects: list[dict[str, Any]], indented: bool) -> None:
    for name, content in (
        ("a.json", json.dumps(objects, indent=2 if indented else None, ensure_ascii=indented)),
        ("a.jsonl", "".join(json.dumps(each) + "\n" for each in objects)),
    ):
        if objects and content.isprintable():
            assert [json.loads(text) for text in records(content, name)] == objects
            check_chunks(content, name)


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"))


@given(TEXTS, st.sampled_from(["csv", "json", "jsonl"]))
def test_any_text(content: str, suffix: str) -> None:
    if content.strip():
        check_chunks(content, f"a.{suffix}")


def check_chunks(content: str, name: str) -> None:
    position = 0
    for chunk in SplitterByType(40, 0).split(read_records(content, name)):
        assert content[chunk.start : chunk.end] == chunk.content
        assert not content[position : chunk.start].strip()
        position = chunk.end
        for start, end in evidence_spans(chunk, "en"):
            assert 0 <= start < end <= len(chunk.content)
    assert not content[position:].strip()
