"""Excel workbooks before 2007."""

from __future__ import annotations

import random
from datetime import date, datetime
from pathlib import Path

import pytest
from made_mail import ole_file
from made_office_files import saved
from reading_here import read_file
from xlwt import Formula, Workbook, easyfont, easyxf

from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, SourceTooLarge
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.spreadsheets.old import read_xls
from answerable.tables.find import find_tables


def parts(document: Document) -> list[tuple[str | None, str]]:
    return [(part.place, document.content[part.start : part.end]) for part in document.parts]


def boats() -> Workbook:
    made = Workbook()
    sheet = made.add_sheet("Boats")
    money, share = easyxf(num_format_str='#,##0.00 "EUR"'), easyxf(num_format_str="0.0%")
    day, moment = easyxf(num_format_str="DD/MM/YYYY"), easyxf(num_format_str="DD/MM/YYYY HH:MM")
    for column, name in enumerate(("Boat", "Built", "Price", "Paid")):
        sheet.write(0, column, name, easyxf("font: bold on"))
    for column, (value, style) in enumerate((("Heron", easyxf("font: struck_out on")), (date(1998, 4, 3), day))):
        sheet.write(1, column, value, style)
    sheet.write(1, 2, 12400.5, money)
    sheet.write(1, 3, 0.125, share)
    sheet.write_rich_text(2, 0, (("Gul ", easyfont("struck_out on")), "Gull"))
    sheet.write(2, 1, datetime(2001, 5, 6, 9, 30), moment)
    sheet.write(2, 2, 800, money)
    sheet.write(2, 3, Formula("1/3"))
    sheet.write_merge(5, 6, 0, 1, "Moored at the | quay")
    sheet.row(2).hidden = sheet.col(3).hidden = True
    hidden = made.add_sheet("Old")
    hidden.write(0, 1, True)
    hidden.visibility = 1
    return made


def test_rows_as_the_sheet_shows_them(tmp_path: Path) -> None:
    path = tmp_path / "fleet.xls"
    path.write_bytes(saved(boats()))
    (document,) = read_file(path)
    assert (document.type, document.title) == (DocumentType.SPREADSHEET, "fleet")
    assert parts(document) == [
        ("Boats!A1:D1", "| Boat | Built | Price | Paid |"),
        ("Boats!A2:D2", "| ~~Heron~~ | 1998-04-03 | 12,400.50 EUR | 12.5% |"),
        ("Boats!A3:D3 (hidden)", "| ~~Gul~~ Gull | 2001-05-06 09:30 | 800.00 EUR |  |"),
        ("Boats!A6", "Moored at the \\| quay"),
        ("Old!B1 (hidden)", "TRUE"),
    ]
    assert document.metadata["hidden"] == "columns D of Boats"
    (table,) = find_tables(document)
    assert [row.values[2].number for row in table.rows] == [12400.5, 800]


def test_with_the_suffix_of_later_workbooks(tmp_path: Path) -> None:
    (tmp_path / "fleet.xlsx").write_bytes(saved(boats()))
    assert len(read_file(tmp_path / "fleet.xlsx")[0].parts) == 5


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("<html><body><table><tr><td>Boat</td><td>Heron</td></tr></table></body></html>", DocumentType.HTML),
        ("Boat\tBuilt\nHeron\t1998\n", DocumentType.TEXT),
    ],
)
def test_pages_and_texts_with_the_suffix_of_workbooks(tmp_path: Path, text: str, kind: DocumentType) -> None:
    (tmp_path / "report.xls").write_text(text)
    (document,) = read_file(tmp_path / "report.xls")
    assert document.type is kind


def test_workbooks_that_are_not_read() -> None:
    with pytest.raises(EmptySource, match="no text or numbers"):
        empty = Workbook()
        empty.add_sheet("A")
        read_xls(saved(empty), "a.xls")
    # The first record states that the file is encrypted ([MS-XLS] 2.4.117, FilePass).
    locked = bytes.fromhex("09081000000605000000000000000000000000002f00060000000000 0000")
    with pytest.raises(EncryptedSource, match=r"its password.*without one"):
        read_xls(ole_file({"Workbook": locked.ljust(5_000, b"\0")}), "a.xls")
    with pytest.raises(DamagedSource, match=r"save it as \.xlsx or CSV"):
        read_xls(ole_file({"WordDocument": b"x" * 5_000}), "a.xls")
    with pytest.raises(SourceTooLarge, match="max_file_size"):
        read_xls(saved(boats()), "a.xls", ReadContext(ReadLimits(max_file_size=50)))


def test_damaged_workbooks_raise_only_our_errors() -> None:
    whole, chance = saved(boats()), random.Random(1)
    for _ in range(300):
        data = bytearray(whole)
        for place in chance.sample(range(512, len(data)), 8):
            data[place] = chance.randrange(256)
        try:
            read_xls(bytes(data[: chance.randrange(512, 2 * len(data))]), "a.xls")
        except SourceError:
            continue
