"""Make workbooks, presentations and OpenDocument files for tests."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence

from made_files import zipped
from openpyxl import Workbook
from pptx import Presentation

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in {
        **{name: name for name in ("office", "text", "table", "style", "presentation")},
        "draw": "drawing",
    }.items()
)
SHEET = "xl/worksheets/sheet1.xml"
MIMETYPE = "application/vnd.oasis.opendocument."


def saved(document: object) -> bytes:
    """The bytes of a workbook or presentation."""
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def workbook(sheets: dict[str, Sequence[Sequence[object]]], numbers: str = "General") -> Workbook:
    """A workbook of these sheets, whose numbers have this format."""
    made = Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        for cell in (cell for row in sheet.iter_rows() for cell in row if isinstance(cell.value, int | float)):
            cell.number_format = numbers
    return made


def presentation(slides: Sequence[tuple[str, str, str]]) -> bytes:
    """A presentation of slides with a title, text and the speaker's notes."""
    made = Presentation()
    for title, text, notes in slides:
        slide = made.slides.add_slide(made.slide_layouts[1])
        slide.shapes.title.text, slide.placeholders[1].text_frame.text = title, text
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    return saved(made)


def repacked(data: bytes, changes: dict[str, Callable[[str], str]]) -> bytes:
    """A packed document with some of its members changed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    for name, change in changes.items():
        whole = members[name]
        members[name] = change(whole.decode() if isinstance(whole, bytes) else whole)
    return zipped(members)


def with_rows(rows: str, strings: Sequence[str] = ()) -> bytes:
    """A workbook with one sheet, A, of this XML, and these shared strings."""
    data = saved(workbook({"A": [["x"]]}))
    shared = '<Relationship Id="s" Type="http://x/sharedStrings" Target="strings.xml"/></Relationships>'
    data = repacked(
        data,
        {
            SHEET: lambda xml: f"{xml.partition('<sheetData>')[0]}<sheetData>{rows}</sheetData></worksheet>",
            "xl/_rels/workbook.xml.rels": lambda xml: xml.replace("</Relationships>", shared),
        },
    )
    with zipfile.ZipFile(buffer := io.BytesIO(data), "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/strings.xml", f"<sst>{''.join(f'<si><t>{each}</t></si>' for each in strings)}</sst>")
    return buffer.getvalue()


def opendocument(kind: str, body: str, styles: str = "", prolog: str = "", manifest: str = "") -> bytes:
    """An OpenDocument file: `kind` is text, spreadsheet or presentation."""
    content = (
        f"<?xml version='1.0' encoding='UTF-8'?>{prolog}<office:document-content {NAMESPACES}>"
        f"<office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    members = {"mimetype": MIMETYPE + kind, "content.xml": content}
    if manifest:
        members["META-INF/manifest.xml"] = manifest
    return zipped(members)


def table(
    rows: Sequence[Sequence[str | float | None]], name: str = "Gastos", show: Callable[[float], str] = str
) -> str:
    """The XML of a table, in a spreadsheet with numbers that it shows so."""
    made = [f"<table:table-row>{''.join(_cell(each, show) for each in row)}</table:table-row>" for row in rows]
    return f'<table:table table:name="{name}">{"".join(made)}</table:table>'


def _cell(value: str | float | None, show: Callable[[float], str]) -> str:
    if value is None:
        return "<table:table-cell/>"
    if isinstance(value, str):
        return f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
    return (
        f'<table:table-cell office:value-type="float" office:value="{value}"><text:p>{show(value)}</text:p>'
        "</table:table-cell>"
    )
