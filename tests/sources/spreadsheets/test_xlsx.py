"""Excel workbooks: what is shown of cells, places of rows, tables and headers, what is hidden, and hostile files."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time
from pathlib import Path

import pytest
from made_files import zipped
from made_office_files import SHEET, repacked, saved, with_rows, workbook
from openpyxl.styles import Font
from openpyxl.worksheet.table import Table as ExcelTable
from reading_here import read_file

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import (
    DamagedSource,
    EmptySource,
    EncryptedSource,
    SourceError,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.spreadsheets.read import read_xlsx
from answerable.tables.find import find_tables
from answerable.tables.table import Kind

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
COSTS = [
    ["Item", "Date", "Amount"],
    ["Flights", date(2024, 3, 5), 1240],
    ["Hotel", date(2024, 3, 6), 860.5],
]


def read(sheets: dict[str, list[list[object]]], numbers: str = "General") -> Document:
    return read_xlsx(saved(workbook(sheets, numbers)), "/in/trip.xlsx")


def lines(document: Document) -> list[str]:
    return [document.content[part.start : part.end] for part in document.parts]


def places(document: Document) -> list[str | None]:
    return [part.place for part in document.parts]


def test_rows_with_their_places() -> None:
    document = read({"Costs": COSTS, "Notes": [["Ask Ana | Bo"]]}, '#,##0.00 "EUR"')
    assert document.content == (
        "# Costs\n\n"
        "| Item | Date | Amount |\n| --- | --- | --- |\n"
        "| Flights | 2024-03-05 | 1,240.00 EUR |\n"
        "| Hotel | 2024-03-06 | 860.50 EUR |\n"
        "\n# Notes\n\n"
        "Ask Ana \\| Bo\n"
    )
    assert places(document) == ["Costs!A1:C1", "Costs!A2:C2", "Costs!A3:C3", "Notes!A1"]
    assert {part.kind for part in document.parts} == {PartKind.RECORD}
    assert [part.headings for part in document.parts] == [("Costs",)] * 3 + [("Notes",)]
    assert (document.type, document.title) == (DocumentType.SPREADSHEET, "trip")
    assert document.metadata["sheets"] == "Costs, Notes"


def test_kinds_of_cells() -> None:
    made = workbook({"A": [["on", datetime(2024, 3, 5, 14, 30), time(9, 15), True, "=1/0", 0.125, 1e-7]]})
    sheet = made["A"]
    sheet["F1"].number_format = "0.0%"
    sheet["H1"], sheet["H1"].number_format = 45356, 'dd "de" mmmm'
    (line,) = lines(read_xlsx(saved(made), "a.xlsx"))
    assert line == "| on | 2024-03-05 14:30 | 09:15 | TRUE | 12.5% | 0.0000001 | 2024-03-05 |"


def test_numbers_have_the_mark_of_the_language() -> None:
    rows: list[list[object]] = [["Concepto", "Proveedor", "Importe"], ["Vuelos de ida y vuelta", "La agencia", 1240.5]]
    document = read({"Gastos": rows}, "#,##0.00 €")
    assert lines(document)[1] == "| Vuelos de ida y vuelta | La agencia | 1.240,50 € |"
    assert document.metadata["decimal_mark"] == ","
    (table,) = find_tables(document)
    assert (table.columns[2].unit, table.rows[0].values[2].number) == ("EUR", 1240.5)


@pytest.mark.parametrize(("code", "shown"), [("[$R$-416] #,##0", "R$ 1.240"), ("[$$-409]#,##0", "$1,240")])
def test_whole_numbers_with_groups_are_never_taken_for_decimals(code: str, shown: str) -> None:
    document = read({"A": [["Thing", "Value"], ["one", 1240], ["two", 980]]}, code)
    assert shown in document.content
    (table,) = find_tables(document)
    assert [row.values[1].number for row in table.rows] == [1240, 980]


def test_text_cells_with_decimal_commas() -> None:
    document = read({"A": [["Concepto", "Importe"], ["Vuelos", "1.240,00 €"], ["Hotel", "860,50 €"]]})
    (table,) = find_tables(document)
    assert [row.values[1].number for row in table.rows] == [1240, 860.5]
    assert table.columns[1].unit == "EUR"


def test_titles_tables_and_totals_of_one_sheet() -> None:
    rows: list[list[object]] = [
        [None, "Budget 2024"],
        [None, "all in euros"],
        [],
        [None, *COSTS[0]],
        [None, *COSTS[1]],
        [],
        [None, *COSTS[2]],
        [None, "Total", None, 2100.5],
        [],
        [],
        [None, "Name", "Role", "Phone"],
        [None, "Ana", "guide", "612 000 111"],
    ]
    document = read({"Plan": rows})
    assert places(document) == [
        *("Plan!B1", "Plan!B2", "Plan!B4:D4", "Plan!B5:D5", "Plan!B7:D7", "Plan!B8:D8"),
        *("Plan!B11:D11", "Plan!B12:D12"),
    ]
    costs, people = find_tables(document)
    assert [column.kind for column in costs.columns] == [Kind.TEXT, Kind.DATE, Kind.NUMBER]
    assert len(costs.rows) == 2
    assert costs.total is not None
    assert [column.name for column in people.columns] == ["Name", "Role", "Phone"]


def test_tables_side_by_side() -> None:
    rows: list[list[object]] = [
        ["Name", "Age", None, "City", "People"],
        ["Ana", 30, None, "Lisbon", 500_000],
        ["Bo", 31, None, "Porto", 200_000],
    ]
    document = read({"Two": rows})
    assert places(document) == ["Two!A1:B1", "Two!A2:B2", "Two!A3:B3", "Two!D1:E1", "Two!D2:E2", "Two!D3:E3"]
    assert [[column.name for column in table.columns] for table in find_tables(document)] == [
        ["Name", "Age"],
        ["City", "People"],
    ]


def test_merged_cells_and_a_header_of_two_rows() -> None:
    made = workbook(
        {
            "Plan": [
                [None, "2023", None, "2024", None],
                ["Concept", "Planned", "Spent", "Planned", "Spent"],
                ["Food", 1, 2, 3, 4],
                [None, 5, 6, 7, 8],
            ]
        }
    )
    for cells in ("B1:C1", "D1:E1", "A3:A4"):
        made["Plan"].merge_cells(cells)
    document = read_xlsx(saved(made), "a.xlsx")
    assert lines(document) == [
        "| Concept | 2023 Planned | 2023 Spent | 2024 Planned | 2024 Spent |",
        "| Food | 1 | 2 | 3 | 4 |",
        "| Food | 5 | 6 | 7 | 8 |",
    ]
    assert places(document) == ["Plan!A1:E2", "Plan!A3:E3", "Plan!A4:E4"]


@pytest.mark.parametrize(
    ("rows", "merged", "names"),
    [
        (
            [["Plot", "2021", None, "2022", None], [None, "Rye", "Oats", "Rye", "Oats"]],
            ("A1:A2", "B1:C1", "D1:E1"),
            ["Plot", "2021 Rye", "2021 Oats", "2022 Rye", "2022 Oats"],
        ),
        (
            [["Plot", 2021, None, 2022, None], [None, "Rye", "Oats", "Rye", "Oats"]],
            (),
            ["Plot", "2021 Rye", "2021 Oats", "2022 Rye", "2022 Oats"],
        ),
        (
            [[None, "North", None, "South", None], ["Plot", "Rye", "Oats", "Rye", "Oats"]],
            (),
            ["Plot", "North Rye", "North Oats", "South Rye", "South Oats"],
        ),
        (
            [["Plot", "Rye", None, "Oats", None], [None, 2021, 2022, 2021, 2022]],
            ("B1:C1", "D1:E1"),
            ["Plot", "Rye 2021", "Rye 2022", "Oats 2021", "Oats 2022"],
        ),
        (
            [["Plot", 2021, None, 2022, None], [None, "Q1", "Q2", "Q1", "Q2"]],
            ("B1:C1", "D1:E1"),
            ["Plot", "2021 Q1", "2021 Q2", "2022 Q1", "2022 Q2"],
        ),
        (
            [["Plot", "2021", "2021", "2022", "2022"], [None, "Rye", "Oats", "Rye", "Oats"]],
            (),
            ["Plot", "2021 Rye", "2021 Oats", "2022 Rye", "2022 Oats"],
        ),
    ],
)
def test_headers_of_two_rows_merged_or_not(rows: list[list[object]], merged: tuple[str, ...], names: list[str]) -> None:
    made = workbook({"Yield": [*rows, ["Hill", 11, 12, 13, 14], ["Lake", 21, 22, 23, 24]]})
    for cells in merged:
        made["Yield"].merge_cells(cells)
    document = read_xlsx(saved(made), "a.xlsx")
    (table,) = find_tables(document)
    assert [column.name for column in table.columns] == names
    assert [value.text for value in table.rows[0].values] == ["Hill", "11", "12", "13", "14"]
    assert places(document)[0] == "Yield!A1:E2"


def test_lines_right_above_a_header() -> None:
    above: list[list[object]] = [["Account", "NL77"], ["From", date(2023, 2, 1)]]
    rows: list[list[object]] = [["Date", "Payee", "For", "Paid"], [date(2023, 2, 3), "Tram", "May", 9.5]]
    document = read({"A": [*above, *rows, [date(2023, 2, 5), "Rent", None, 610]]})
    assert lines(document)[:3] == ["| Account | NL77 |", "| From | 2023-02-01 |", "| Date | Payee | For | Paid |"]
    (table,) = (each for each in find_tables(document) if len(each.columns) == 4)
    assert [column.name for column in table.columns] == ["Date", "Payee", "For", "Paid"]
    unnamed: list[list[object]] = [["Name", "Town", None], ["Ines", "Faro", 4], ["Rui", "Beja", 6]]
    assert read({"A": unnamed}).content.count("---") == 3


@pytest.mark.parametrize(
    "rows",
    [
        [["Name", "Town", None], ["Ines", "Faro", "calls back"], ["Rui", "Beja", "paid"]],
        [["Name", "Paid", None], ["Ines", "n/a", "n/a"], ["Rui", 12, 13], ["Eva", 14, 15]],
        [["Fruits", None, "Vegetables", None], ["Apple", "red", "Carrot", "orange"], ["Plum", "blue", "Leek", "green"]],
        [["Account", 77123, None], ["Booked", "Amount", "Balance"], ["2024-05-01", 12, 13], ["2024-05-02", 14, 27]],
    ],
)
def test_a_second_row_of_data_or_a_line_above_is_no_header(rows: list[list[object]]) -> None:
    assert len(read({"A": rows}).parts) == len(rows)


def test_years_and_months_name_columns() -> None:
    made = workbook({"A": [["Concept", 2023, 2024], ["Food", 10, 20], ["Rent", 30, 40]]})
    (table,) = find_tables(read_xlsx(saved(made), "a.xlsx"))
    assert [column.name for column in table.columns] == ["Concept", "2023", "2024"]


def test_names_and_values_have_no_header_unless_it_is_marked() -> None:
    rows: list[list[object]] = [["Name", "Ana"], ["City", "Lisbon"], ["Colour", "blue"]]
    assert "---" not in read({"A": rows}).content
    made = workbook({"A": rows})
    for cell in made["A"][1]:
        cell.font = Font(bold=True)
    assert read_xlsx(saved(made), "a.xlsx").content.count("---") == 2
    made = workbook({"A": rows})
    made["A"].add_table(ExcelTable(displayName="Facts", ref="A1:B3"))
    assert read_xlsx(saved(made), "a.xlsx").content.count("---") == 2


def test_what_is_hidden_is_marked() -> None:
    made = workbook({"Costs": COSTS, "Salaries": [["Ana", 100]]})
    made["Costs"].row_dimensions[3].hidden = True
    made["Costs"].column_dimensions["B"].hidden = True
    made["Salaries"].sheet_state = "hidden"
    document = read_xlsx(saved(made), "a.xlsx")
    assert places(document) == ["Costs!A1:C1", "Costs!A2:C2", "Costs!A3:C3 (hidden)", "Salaries!A1:B1 (hidden)"]
    assert "# Salaries (hidden sheet)" in document.content
    assert document.metadata["hidden"] == "columns B of Costs"


def test_formulas_by_their_stored_values() -> None:
    data = saved(workbook({"A": [["Sum", "=1+1"], ["Other", "=2+2"]]}))
    data = repacked(data, {SHEET: lambda xml: xml.replace("<v/>", "<v>2</v>", 1).replace("<v></v>", "<v>2</v>", 1)})
    document = read_xlsx(data, "a.xlsx")
    assert lines(document) == ["| Sum | 2 |", "Other"]
    assert document.metadata["without_values"].startswith("1 formulas: open the file")
    with pytest.raises(EmptySource, match=r"stored values.*save it"):
        read_xlsx(saved(workbook({"A": [["=1+1"]]})), "a.xlsx")


def test_cells_without_references_and_rich_text() -> None:
    rich = "<is><r><t>Rich </t></r><r><t>text</t></r><rPh><t>x</t></rPh></is>"
    document = read_xlsx(
        with_rows(f'<row><c t="inlineStr">{rich}</c><c><v>7</v></c></row><row r="900"><c t="str"><v>far</v></c></row>'),
        "a.xlsx",
    )
    assert places(document) == ["A!A1:B1", "A!A900"]
    assert lines(document) == ["| Rich text | 7 |", "far"]


def test_struck_cells_and_runs_are_marked() -> None:
    rows: list[list[object]] = [["Saw", "Ines", 80], ["Drill", "Tomas", 120], ["Axe", "Rui", 35]]
    made = workbook({"A": [["Tool", "Owner", "Price"], *rows]})
    for cell in (*made["A"][3], made["A"]["C2"]):
        cell.font = Font(strike=True)
    document = read_xlsx(saved(made), "a.xlsx")
    assert lines(document) == [
        "| Tool | Owner | Price |",
        "| Saw | Ines | ~~80~~ |",
        "| ~~Drill~~ | ~~Tomas~~ | ~~120~~ |",
        "| Axe | Rui | 35 |",
    ]
    assert document.content.count("---") == 3
    runs = (
        '<r><rPr><strike/></rPr><t>by </t></r><r><rPr><b/><strike val="1"/></rPr><t>post </t></r><r><t>by hand</t></r>'
    )
    one = '<r><rPr><strike val="0"/></rPr><t>kept</t></r>'
    rich = f'<row><c t="inlineStr"><is>{runs}</is></c><c t="inlineStr"><is>{one}</is></c></row>'
    assert lines(read_xlsx(with_rows(rich), "a.xlsx")) == ["| ~~by post~~ by hand | kept |"]
    high = "".join(
        f'<r><rPr><vertAlign val="{height}"/>{strike}</rPr><t>{text}</t></r>'
        for text, height, strike in (
            ("CO", "baseline", ""),
            ("2", "subscript", ""),
            (" per m", "baseline", "<strike/>"),
            ("3", "superscript", "<strike/>"),
        )
    )
    raised = with_rows(f'<row><c t="inlineStr"><is>{high}</is></c><c t="inlineStr"><is>{one}</is></c></row>')
    assert lines(read_xlsx(raised, "a.xlsx")) == ["| CO₂ ~~per m³~~ | kept |"]


def test_member_names_with_backslashes(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(saved(workbook({"Costs": COSTS})))) as archive:
        data = zipped({name.replace("/", "\\"): archive.read(name) for name in archive.namelist()})
    for name in ("a.xlsx", "a.zip"):
        (tmp_path / name).write_bytes(data)
        (document,) = read_file(tmp_path / name)
        assert lines(document)[2] == "| Hotel | 2024-03-06 | 860.5 |", name


def test_shared_strings() -> None:
    data = with_rows('<row><c t="s"><v>1</v></c><c t="s"><v>0</v></c><c t="s"><v>9</v></c></row>', ["one", "two"])
    assert lines(read_xlsx(data, "a.xlsx")) == ["| two | one |"]


def test_recognised_by_what_is_in_it(tmp_path: Path) -> None:
    data = saved(workbook({"Costs": COSTS}))
    for name in ("a.xlsm", "a.docx", "a.zip", "a.dat", "a.xls"):
        path = tmp_path / name
        path.write_bytes(data)
        (document,) = read_file(path)
        assert document.type is DocumentType.SPREADSHEET, name


@pytest.mark.parametrize(
    ("name", "data", "error", "match"),
    [
        ("a.xlsx", b"PK\x03\x04 cut off", DamagedSource, r"not a valid zip file.*save it again"),
        ("a.xlsx", b"no zip", DamagedSource, "save it again"),
        ("a.xlsx", zipped({"_rels/.rels": "<x/>", "xl/workbook.xml": ""}), DamagedSource, "names no workbook"),
        ("a.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), EncryptedSource, r"encrypted.*without one"),
        ("a.xlsx", OLE + "Workbook\0".encode("utf-16-le"), DamagedSource, r"not a valid Excel workbook.*as \.xlsx"),
        ("a.xls", OLE + b"\0" * 600, DamagedSource, r"not a valid Excel workbook.*save it as \.xlsx"),
        ("a.bin", OLE + "Workbook\0".encode("utf-16-le"), UnsupportedSource, r"\(\.xls\).*suffix \.xls"),
        ("a.doc", OLE + b"\0" * 600, UnsupportedSource, r"old Word document \(\.doc\).*save it as \.docx"),
        ("a.ppt", OLE + b"\0" * 600, UnsupportedSource, r"PowerPoint presentation \(\.ppt\).*save it as \.pptx"),
        ("a.numbers", zipped({"Index/Document.iwa": b"x"}), UnsupportedSource, r"Numbers.*export it as Word, Excel"),
        ("a.zip", zipped({"Index/Document.iwa": b"x"}), UnsupportedSource, "export it as Word, Excel"),
        ("a.xlsb", zipped({"xl/workbook.bin": b"x"}), UnsupportedSource, r"xlsb.*save it as \.xlsx"),
        ("a.xlsx", saved(workbook({"A": []})), EmptySource, "no text or numbers"),
    ],
)
def test_files_that_are_not_read(tmp_path: Path, name: str, data: bytes, error: type[SourceError], match: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(error, match=match):
        read_file(path)


def test_bombs() -> None:
    repeated = with_rows('<row><c t="s"><v>0</v></c></row>' * 200, ["x" * 30_000])
    with pytest.raises(SourceTooLarge, match="max_file_size"):
        read_xlsx(repeated, "a.xlsx", ReadContext(ReadLimits(max_file_size=1_000_000)))
    with pytest.raises(DamagedSource, match="200 times its size"):
        read_xlsx(with_rows(" " * 30_000_000), "a.xlsx")


@pytest.mark.parametrize("declared", ['<!ENTITY a SYSTEM "file:///etc/hostname">', '<!ENTITY a "lol">'])
@pytest.mark.parametrize("member", [SHEET, "xl/workbook.xml", "xl/styles.xml"])
def test_entities_are_refused(declared: str, member: str) -> None:
    def declare(xml: str) -> str:
        return f"<!--{'x' * 200_000}--><!DOCTYPE d [{declared}]>{xml.replace('<t>x', '<t>&a;')}"

    with pytest.raises(DamagedSource, match="entities"):
        read_xlsx(repacked(saved(workbook({"A": [["x", "y"]]})), {member: declare}), "a.xlsx")


def test_merges_of_a_whole_sheet_take_no_time() -> None:
    merges = "".join(f'<mergeCell ref="A{row}:XFD1048576"/>' for row in range(1, 301))
    data = saved(workbook({"A": [[f"x{number}", number] for number in range(300)]}))
    changes = {SHEET: lambda xml: xml.replace("</sheetData>", f"</sheetData><mergeCells>{merges}</mergeCells>")}
    assert len(read_xlsx(repacked(data, changes), "a.xlsx").parts) == 300
