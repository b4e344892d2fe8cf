"""Fuzz office files: workbooks, presentations, OpenDocument files and RTF."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from draw import Draw
from fuzz_packages import LIMITS, spoilt
from fuzz_targets import Target
from made_office_files import SHEET, opendocument, presentation, repacked, saved, with_rows
from soundness import assert_same_again
from sources.spreadsheets.test_xls import boats

from answerable.datatypes import Document
from answerable.sources.context import ReadContext
from answerable.sources.office.odf import read_odt
from answerable.sources.office.rtf import read_rtf
from answerable.sources.office.slides import read_odp, read_pptx
from answerable.sources.spreadsheets.old import read_xls
from answerable.sources.spreadsheets.read import read_ods, read_xlsx

WORKBOOK = with_rows("<row><c><v>1</v></c></row>", ("text", "two"))
OLD_WORKBOOK = saved(boats())
SLIDES = presentation([("Title", "Text", "Notes")])
ROWS = (
    "<row>",
    '<row r="3" hidden="1">',
    '<row r="99999999999">',
    '<row r="-1">',
    '<c t="s"><v>0</v></c>',
    '<c t="s" r="XFD7"><v>1</v></c>',
    '<c t="s"><v>99999999999999999999</v></c>',
    '<c s="1"><v>45356.5</v></c>',
    '<c s="99999999999999"><v>1e999</v></c>',
    '<c s="x"><v>nan</v></c>',
    '<c t="inlineStr"><is><t>a | b\n</t></is></c>',
    '<c t="b"><v>1</v></c><c t="d"><v>2024-13-99T99</v></c>',
    "<c><f>1+1</f></c>",
    "</row>",
    "</sheetData>",
    '<mergeCells><mergeCell ref="A1:XFD1048576"/><mergeCell ref="B9:A2"/></mergeCells>',
    '<autoFilter ref="A1:B9"/><cols><col min="0" max="99999999" hidden="1"/></cols>',
    "&a;",
    "<!-- c -->",
)
FORMATS = (
    "#,##0.00",
    "0%",
    ";",
    '"',
    "\\",
    "[",
    "]",
    "[$€-C0A]",
    "yyyy",
    "h:mm",
    "E+",
    "?/?",
    "_",
    "*",
    "(",
    "General",
)
SHAPES = (
    "<p:sp><p:nvSpPr><p:nvPr><p:ph type='title'/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>x</a:t></a:r></a:p>",
    "</p:txBody></p:sp>",
    "<p:sp><p:txBody><a:p><a:pPr lvl='99'/><a:r><a:t>y</a:t></a:r><a:br/></a:p></p:txBody></p:sp>",
    "<a:tbl><a:tr><a:tc><a:txBody><a:p><a:r><a:t>|</a:t></a:r></a:p></a:txBody></a:tc></a:tr></a:tbl>",
    "<p:grpSp>",
    "</p:grpSp>",
    "</p:spTree>",
    "&a;",
)
ODF = (
    '<table:table table:name="A">',
    "</table:table>",
    '<table:table-row table:number-rows-repeated="99999999">',
    "<table:table-row>",
    "</table:table-row>",
    '<table:table-cell table:number-columns-repeated="16384"><text:p>x</text:p></table:table-cell>',
    '<table:table-cell office:value-type="float" office:value="1e999"/>',
    '<table:table-cell office:value-type="date" office:date-value="9999-99-99"><text:p>d</text:p>',
    "</table:table-cell>",
    "<table:covered-table-cell/>",
    '<text:h text:outline-level="99">Head</text:h>',
    "<text:p>text<text:s text:c='99999999'/><text:tab/>",
    "</text:p>",
    "<text:list><text:list-item><text:p>i</text:p>",
    "</text:list-item></text:list>",
    "<text:note><text:note-body><text:p>n</text:p></text:note-body></text:note>",
    "<draw:page>",
    "</draw:page>",
    "<draw:frame presentation:class='title'><draw:text-box>",
    "</draw:text-box></draw:frame>",
    "&a;",
)
RTF = (
    *(
        "{",
        "}",
        "\\",
        "\\par ",
        "\\pard",
        "\\intbl ",
        "\\cell ",
        "\\row ",
        "\\trowd",
        "\\u-10179?",
        "\\u8364 ",
        "\\uc9 ",
    ),
    *(
        "\\'e9",
        "\\'",
        "{\\*\\x ",
        "{\\footnote ",
        "{\\listtext 1.\\tab}",
        "\\bin9999999999 ",
        "\\bin3 ",
        "\\s1 ",
        "\\f1 ",
    ),
    *("{\\stylesheet{\\s1 heading 1;}}", "{\\fonttbl{\\f1\\fcharset128 M;}}", "\\ansicpg99999", "\\outlinelevel-1 "),
    *("{\\info{\\title T}}", "\\v ", "\\v0 ", "text ", "word\n"),
)


def _read(read: Callable[..., Document], data: bytes, name: str) -> Document:
    return read(data, name, ReadContext(LIMITS))


def _grown(draw: Draw, grammar: tuple[str, ...]) -> str:
    return draw.text(grammar, 16).encode("utf-8", "replace").decode()


def _xlsx(draw: Draw) -> None:
    data = WORKBOOK if draw.number(7) else draw.rest()
    if data is WORKBOOK:
        code = _grown(draw, FORMATS).replace("&", "").replace("<", "").replace('"', "&quot;")
        styles = f'<styleSheet><numFmts><numFmt numFmtId="200" formatCode="{code}"/></numFmts>'
        styles += '<cellXfs><xf numFmtId="0"/><xf numFmtId="200"/></cellXfs></styleSheet>'
        rows = _grown(draw, ROWS)
        data = repacked(
            WORKBOOK,
            {
                SHEET: lambda xml: xml.replace("<sheetData>", f"<sheetData>{rows}", 1),
                "xl/styles.xml": lambda xml: styles,
            },
        )
    assert_same_again(partial(_read, read_xlsx, spoilt(draw, data), "/in/a.xlsx"))


def _xls(draw: Draw) -> None:
    data = bytearray(OLD_WORKBOOK)
    for _ in range(draw.number(20)):
        data[draw.number(65_535) % len(data)] = draw.number(255)
    assert_same_again(partial(_read, read_xls, bytes(data) if draw.number(7) else draw.rest(), "/in/a.xls"))


def _pptx(draw: Draw) -> None:
    data = SLIDES if draw.number(7) else draw.rest()
    if data is SLIDES:
        shapes = _grown(draw, SHAPES)
        data = repacked(
            SLIDES, {"ppt/slides/slide1.xml": lambda xml: xml.replace("</p:spTree>", f"{shapes}</p:spTree>", 1)}
        )
    assert_same_again(partial(_read, read_pptx, spoilt(draw, data), "/in/a.pptx"))


def _opendocument(kind: str, read: Callable[..., Document], draw: Draw) -> None:
    prolog = '<!DOCTYPE d [<!ENTITY a "lol">]>' if not draw.number(9) else ""
    data = opendocument(kind, _grown(draw, ODF), prolog=prolog) if draw.number(7) else draw.rest()
    assert_same_again(partial(_read, read, spoilt(draw, data), "/in/a.odf"))


def _rtf(draw: Draw) -> None:
    data = ("{\\rtf1 " + _grown(draw, RTF)).encode() if draw.number(7) else b"{\\rtf" + draw.rest()
    assert_same_again(partial(_read, read_rtf, spoilt(draw, data), "/in/a.rtf"))


TARGETS = {
    "xlsx": Target(_xlsx, (b"\x01" * 60, b"\0" + WORKBOOK)),
    "xls": Target(_xls, (b"\x01" * 60, b"\0\0" + OLD_WORKBOOK)),
    "pptx": Target(_pptx, (b"\x01" * 60, b"\0" + SLIDES)),
    "ods": Target(partial(_opendocument, "spreadsheet", read_ods), (b"\x01" * 60,)),
    "odp": Target(partial(_opendocument, "presentation", read_odp), (b"\x01" * 60,)),
    "odt": Target(partial(_opendocument, "text", read_odt), (b"\x01" * 60,)),
    "rtf": Target(_rtf, (b"\x01" * 60, b"\x00{\\rtf1 x}")),
}
