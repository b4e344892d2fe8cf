"""What of a file was left out is counted: pages without text, pictures, charts, comments, files in it."""

from __future__ import annotations

import json
import zlib
from io import BytesIO
from struct import pack

from docx import Document as Word
from made_files import epub, zipped
from made_mail import letter
from made_office_files import MIMETYPE, opendocument, presentation, saved, workbook
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from reading_here import read_file
from sources.conftest import build_pdf

from answerable.left_out import MOST_NAMES, LeftOut, LeftOutKind
from answerable.sources.notebook import LONGEST

TEXT = b"BT /F1 12 Tf 50 700 Td (The ferry Boreal leaves at nine.) Tj ET"
SCAN = b"0 0 300 300 re f"


def picture(shade: int) -> BytesIO:
    """A picture of one grey point."""
    chunks = (
        (b"IHDR", pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes([0, shade]))),
        (b"IEND", b""),
    )
    made = (pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
    return BytesIO(b"\x89PNG\r\n\x1a\n" + b"".join(made))


def drawn(x: int, y: int, width: int, height: int) -> bytes:
    """The commands that draw a picture of one point this large, in a PDF."""
    return b" q %d 0 0 %d %d %d cm BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI Q" % (width, height, x, y)


def left_out(data: bytes, name: str) -> list[str]:
    document, *_ = read_file(data, source=f"/in/{name}")
    return [str(each) for each in document.left_out]


def test_pages_of_a_pdf_and_what_is_large_or_beside_the_text() -> None:
    large, small, behind = drawn(50, 100, 400, 300), drawn(50, 100, 40, 40), drawn(40, 650, 400, 100)
    note = "/Subtype/Text/Rect[10 10 20 20]/Contents(Who says so?)"
    empty = "/Subtype/Highlight/Rect[10 10 20 20]/Contents()"
    data = build_pdf([], raw=[TEXT + large + small + behind, SCAN, TEXT, SCAN], notes=[note, empty])
    assert left_out(data, "report.pdf") == ["2 pages without text (2, 4)", "1 picture", "1 comment"]
    assert left_out(build_pdf(["All is text."]), "text.pdf") == []


def test_files_in_a_pdf() -> None:
    data = build_pdf(["An invoice."])
    embedded = b"/Names<</EmbeddedFiles<</Names[(invoice.xml)<</Type/Filespec/F(invoice.xml)/UF(invoice.xml)>>]>>>>"
    data = data.replace(b"/Type/Catalog", b"/Type/Catalog" + embedded)
    assert left_out(data, "invoice.pdf") == ["1 attachment not read (invoice.xml)"]


def test_a_word_document() -> None:
    document = Word()
    document.add_paragraph("The roof of the boathouse leaks.")
    for shade in (1, 1, 2):
        document.add_picture(picture(shade))
    document.sections[0].header.paragraphs[0].add_run().add_picture(picture(3))
    document.add_comment(document.paragraphs[0].runs, "Since when?", author="Ana")
    # A picture that is used twice is one; that of the header, a logo, is none.
    assert left_out(saved(document), "roof.docx") == ["2 pictures", "1 comment"]


def test_a_workbook() -> None:
    book = workbook({"Costs": [["Item", "Cost"], ["Roof", 120], ["Door", 80]]})
    sheet = book["Costs"]
    sheet["A2"].comment = Comment("An offer only.", "Ana")
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3))
    sheet.add_chart(chart, "E2")
    sheet.add_image(Image(picture(1)), "E20")
    assert left_out(saved(book), "costs.xlsx") == ["1 picture", "1 chart", "1 comment"]


def test_slides() -> None:
    made = Presentation(BytesIO(presentation([("Boats", "Three boats.", ""), ("Roof", "It leaks.", "")])))
    for slide in made.slides:
        slide.shapes.add_picture(picture(1), 0, 0)
    data = CategoryChartData()
    data.categories = ["2024", "2025"]
    data.add_series("Boats", (2, 3))
    made.slides[0].shapes.add_chart(XL_CHART_TYPE.PIE, 0, 0, 99, 99, data)
    assert left_out(saved(made), "boats.pptx") == ["1 picture"]


def test_opendocument() -> None:
    body = (
        "<text:p>The roof leaks.<office:annotation><text:p>Since when?</text:p></office:annotation><draw:frame>"
        '<draw:image xlink:href="Pictures/1.png"/><draw:image xlink:href="Pictures/1.png"/></draw:frame></text:p>'
    )
    objects = {"/": "text", "Object 1/": "chart", "Object 2/": "formula", "Object 3/": "spreadsheet"}
    entries = "".join(
        f'<m:file-entry m:full-path="{path}" m:media-type="{MIMETYPE}{kind}"/>' for path, kind in objects.items()
    )
    manifest = f'<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">{entries}</m:manifest>'
    found = left_out(opendocument("text", body, manifest=manifest), "roof.odt")
    assert found == ["1 picture", "1 chart", "1 equation", "1 comment", "1 file in it"]


def test_rich_text() -> None:
    data = (
        r"{\rtf1\ansi The roof leaks.{\*\annotation Since when?}{\*\shppict{\pict\pngblip 00}}"
        r"{\nonshppict{\pict\wmetafile8 00}}{\pict\pngblip 00}{\object{\*\objdata 00}{\result{\pict 00}}}"
        r"{\header{\pict 00}}\par}"
    )
    assert left_out(data.encode(), "roof.rtf") == ["3 pictures", "1 comment", "1 file in it"]


def test_a_notebook() -> None:
    outputs = [
        {"output_type": "display_data", "data": {"image/png": "iVBO", "text/plain": "<Figure>"}},
        {"output_type": "stream", "text": "x" * (LONGEST + 1)},
        {"output_type": "stream", "text": "short"},
    ]
    cell = {"cell_type": "code", "source": "plot()", "outputs": outputs}
    data = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]})
    assert left_out(data.encode(), "plot.ipynb") == ["1 picture", "1 result cut"]


def test_a_message_and_what_is_in_an_archive() -> None:
    attached = [("notes.txt", b"The boat is blue."), ("plan.exe", b"\x7fELF" + bytes(100))]
    message = letter("See below.", attached=attached).as_bytes()
    assert left_out(message, "plan.eml") == ["1 attachment not read (plan.exe)"]
    (report,) = read_file(zipped({"report.pdf": build_pdf([], raw=[TEXT, SCAN])}), source="/in/all.zip")
    assert report.left_out == (LeftOut(LeftOutKind.PAGE, 1, ("2",)),)


def test_pictures_of_a_book_without_its_cover() -> None:
    pictures = {"OEBPS/boat.jpg": b"\xff\xd8", "OEBPS/Cover.jpg": b"\xff\xd8"}
    assert left_out(epub(extra=pictures), "boats.epub") == ["1 picture"]


def test_many_names_are_cut_and_few_shown() -> None:
    (found,) = LeftOut.named(LeftOutKind.PAGE, range(1, 1_235))
    assert (found.count, len(found.names)) == (1_234, MOST_NAMES)
    assert str(found) == "1,234 pages without text (1, 2, 3, 4, 5, …)"
