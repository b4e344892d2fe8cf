"""OpenDocument spreadsheets."""

from __future__ import annotations

import pytest
from made_office_files import opendocument, table
from reading_here import read_file

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceTooLarge
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.spreadsheets.read import read_ods
from answerable.tables.find import find_tables


def comma(number: float) -> str:
    return f"{number:,.2f} €".translate(str.maketrans(",.", ".,"))


def lines(document: Document) -> list[tuple[str | None, str]]:
    return [(part.place, document.content[part.start : part.end]) for part in document.parts]


def test_texts_as_shown_and_typed_tables() -> None:
    rows = [["Concepto", "Importe"], ["Vuelos", 1240.0], ["Hotel", 860.5]]
    (document,) = read_file(opendocument("spreadsheet", table(rows, show=comma)), source="/in/gastos.ods")
    assert document.type is DocumentType.SPREADSHEET
    assert lines(document) == [
        ("Gastos!A1:B1", "| Concepto | Importe |"),
        ("Gastos!A2:B2", "| Vuelos | 1.240,00 € |"),
        ("Gastos!A3:B3", "| Hotel | 860,50 € |"),
    ]
    (found,) = find_tables(document)
    assert [row.values[1].number for row in found.rows] == [1240, 860.5]
    assert found.columns[1].unit == "EUR"


def test_kinds_repetitions_merges_and_comments() -> None:
    body = """<table:table table:name="A" table:style-name="ta2">
    <table:table-column/><table:table-column table:visibility="collapse" table:number-columns-repeated="2"/>
    <table:table-row table:number-rows-repeated="3"><table:table-cell table:number-columns-repeated="16384"/>
    </table:table-row>
    <table:table-row>
      <table:table-cell office:value-type="date" office:date-value="2024-03-05"><text:p>5 de marzo</text:p>
      </table:table-cell>
      <table:table-cell office:value-type="percentage" office:value="0.125"/>
      <table:table-cell office:value-type="boolean" office:boolean-value="true"/>
      <table:table-cell table:number-columns-repeated="2" office:value-type="string">
      <office:annotation><text:p>secret</text:p></office:annotation>
      <text:p>two<text:s text:c="2"/>words</text:p><text:p>more</text:p></table:table-cell>
    </table:table-row>
    <table:table-row table:visibility="filter" table:number-rows-repeated="2">
      <table:table-cell office:value-type="currency" office:value="3" office:currency="EUR"/><table:table-cell/>
      <table:covered-table-cell><text:p>covered</text:p></table:covered-table-cell>
    </table:table-row></table:table>"""
    style = '<style:style style:name="ta2"><style:table-properties table:display="false"/></style:style>'
    document = read_ods(opendocument("spreadsheet", body, style), "a.ods")
    assert lines(document) == [
        ("A!A4:E4 (hidden)", "| 2024-03-05 | 12.5% | TRUE | two words more | two words more |"),
        ("A!A5 (hidden)", "3 EUR"),
        ("A!A6 (hidden)", "3 EUR"),
    ]
    assert document.metadata["hidden"] == "columns B, C of A"


def test_struck_cells() -> None:
    body = """<table:table table:name="A"><table:table-row>
    <table:table-cell table:style-name="ce1"><text:p>Ladder</text:p></table:table-cell>
    <table:table-cell table:style-name="ce2"><text:p>Rope</text:p></table:table-cell></table:table-row></table:table>"""
    styles = "".join(
        f'<style:style style:name="{name}" style:family="table-cell">'
        f'<style:text-properties style:text-line-through-style="{line}"/></style:style>'
        for name, line in (("ce1", "solid"), ("ce2", "none"))
    )
    assert lines(read_ods(opendocument("spreadsheet", body, styles), "a.ods")) == [("A!A1:B1", "| ~~Ladder~~ | Rope |")]


def test_files_that_are_not_read() -> None:
    with pytest.raises(EmptySource, match="no text or numbers"):
        read_ods(opendocument("spreadsheet", table([])), "a.ods")
    manifest = '<m:manifest xmlns:m="urn:x"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    with pytest.raises(EncryptedSource, match=r"LibreOffice.*without one"):
        read_ods(opendocument("spreadsheet", table([["x"]]), manifest=manifest), "a.ods")
    with pytest.raises(DamagedSource, match="entities"):
        read_ods(opendocument("spreadsheet", table([["&a;"]]), prolog='<!DOCTYPE d [<!ENTITY a "lol">]>'), "a.ods")
    with pytest.raises(DamagedSource, match="save it again"):
        read_ods(b"no zip", "a.ods")


def test_repeated_cells_that_are_a_bomb() -> None:
    cell = '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>'
    body = f'<table:table><table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row></table:table>'
    with pytest.raises(SourceTooLarge, match="max_file_size"):
        read_ods(opendocument("spreadsheet", body), "a.ods", ReadContext(ReadLimits()))
