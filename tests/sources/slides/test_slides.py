"""Presentations of PowerPoint and OpenDocument."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_files import zipped
from made_office_files import opendocument, presentation, repacked, saved, table
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches
from reading_here import read_file

import answerable
from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError, UnsupportedSource
from answerable.sources.office.slides import read_odp, read_pptx

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
SHOP = [
    ("Opening of the shop", "The new shop opens on 4 May 2025 in Porto.", "The loan from the bank is 40,000 euros."),
    ("", "", ""),
    ("Suppliers", "The flour comes from the mill of Serpa.", ""),
]


def slides(document: Document) -> list[tuple[int | None, tuple[str, ...], str]]:
    return [(part.page, part.headings, document.content[part.start : part.end]) for part in document.parts]


def test_slides_with_notes() -> None:
    document = read_pptx(presentation(SHOP), "/in/shop.pptx")
    assert slides(document) == [
        (
            1,
            ("Opening of the shop",),
            "# Opening of the shop\n\nThe new shop opens on 4 May 2025 in Porto.\n\n"
            "Speaker notes:\nThe loan from the bank is 40,000 euros.",
        ),
        (3, ("Suppliers",), "# Suppliers\n\nThe flour comes from the mill of Serpa."),
    ]
    assert {part.kind for part in document.parts} == {PartKind.SLIDE}
    assert (document.type, document.title) == (DocumentType.SLIDES, "Opening of the shop")


def test_tables_levels_groups_and_hidden_slides() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Prices"
    frame = slide.placeholders[1].text_frame
    frame.text = "Bread"
    below = frame.add_paragraph()
    below.text, below.level = "every day", 1
    grid = slide.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    for place, text in enumerate(("Item", "Price", "Bread", "2 €")):
        grid.cell(place // 2, place % 2).text = text
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(0, 0, Inches(1), Inches(1)).text_frame.text = "In a group"
    slide._element.set("show", "0")
    document = read_pptx(saved(made), "a.pptx")
    assert document.content == (
        "# Prices (hidden slide)\n\nBread\n- every day\n\n"
        "| Item | Price |\n| --- | --- |\n| Bread | 2 € |\n\nIn a group"
    )


def test_charts_are_tables_of_their_values() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    data = CategoryChartData(number_format="0.0%")
    data.categories = ["Spring", "Summer"]
    data.add_series("Adults", (0.25, None))
    data.add_series("Children", (0.5, 0.125))
    chart = slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(4), Inches(3), data).chart
    chart.has_title, chart.chart_title.text_frame.text = True, "Visitors"
    chart.category_axis.axis_title.text_frame.text = "Season"
    points = XyChartData()
    points.add_series("Height").add_data_point(3, 1.5)
    slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, Inches(4), Inches(4), Inches(3), points)
    levels = CategoryChartData()
    for year in ("2024", "2025"):
        for season in ("Spring", "Summer"):
            levels.add_category(year) if season == "Spring" else None
            levels.categories[-1].add_sub_category(season)
    levels.add_series("Guests", (1, 2, 3, 4))
    slide.shapes.add_chart(XL_CHART_TYPE.LINE, 0, Inches(8), Inches(4), Inches(3), levels)
    assert read_pptx(saved(made), "a.pptx").content.removeprefix("# Slide 1\n\n") == (
        "Visitors\n\n| Season | Adults | Children |\n| --- | --- | --- |\n"
        "| Spring | 25.0% | 50.0% |\n| Summer |  | 12.5% |\n\n"
        "|  | Height |\n| --- | --- |\n| 3 | 1.5 |\n\n"
        "|  | Guests |\n| --- | --- |\n| 2024 Spring | 1 |\n| 2024 Summer | 2 |\n"
        "| 2025 Spring | 3 |\n| 2025 Summer | 4 |"
    )


def test_a_cell_merged_over_rows_is_repeated_in_each() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    grid = slide.shapes.add_table(3, 2, 0, 0, Inches(3), Inches(1)).table
    for place, text in enumerate(("Day", "Who", "Friday", "Celia", "", "Rita")):
        grid.cell(place // 2, place % 2).text = text
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert read_pptx(saved(made), "a.pptx").content.endswith("| Friday | Celia |\n| Friday | Rita |")


def boxes(*placed: tuple[str, float, float, float]) -> str:
    """The text of a slide with text boxes an inch high: text, left, top and width in inches, as drawn."""
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    for text, left, top, width in placed:
        box = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(1))
        box.text_frame.text = text
    return read_pptx(saved(made), "a.pptx").content.removeprefix("# Slide 1\n\n").replace("\n\n", " / ")


@pytest.mark.parametrize(
    ("placed", "read"),
    [
        ([("rinse", 1, 4, 5), ("soak", 1, 1, 5), ("dry", 1, 6, 5)], "soak / rinse / dry"),
        ([("b2", 5, 3, 3), ("a2", 1, 3, 3), ("b1", 5, 2, 3), ("a1", 1, 2, 3)], "a1 / a2 / b1 / b2"),
        (
            [
                ("end", 1, 6, 8),
                ("b2", 5, 3, 3),
                ("a2", 1, 3, 3),
                ("b1", 5, 1.9, 3),
                ("a1", 1, 1.9, 3),
                ("all", 1, 1, 8),
            ],
            "all / a1 / a2 / b1 / b2 / end",
        ),
        ([("low", 1, 5, 3), ("high", 5, 1, 3)], "high / low"),
        ([("three", 7, 2, 2.5), ("one", 1, 2, 3.2), ("two", 4, 2.2, 3.1)], "one / two / three"),
        ([("under", 1, 2, 3), ("over", 1, 2, 3)], "under / over"),
    ],
)
def test_text_boxes_from_top_to_bottom_by_columns(placed: list[tuple[str, float, float, float]], read: str) -> None:
    assert boxes(*placed) == read


def test_placeholders_come_before_text_boxes_and_groups_stay_together() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    group = slide.shapes.add_group_shape()
    for text, top in (("Second", 4), ("First", 3)):
        group.shapes.add_textbox(Inches(1), Inches(top), Inches(2), Inches(1)).text_frame.text = text
    slide.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1)).text_frame.text = "Above"
    slide.placeholders[1].text_frame.text = "Outline"
    assert read_pptx(saved(made), "a.pptx").content == "# Slide 1\n\nOutline\n\nAbove\n\nFirst\n\nSecond"


def test_moved_groups_and_placeholders_are_read_where_they_are() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1)).text_frame.text = "Then rinse"
    group.top = Inches(3)
    slide.shapes.add_textbox(Inches(1), Inches(2), Inches(2), Inches(1)).text_frame.text = "First soak"
    body = slide.placeholders[1]
    body.left, body.top, body.width, body.height = Inches(1), Inches(5), Inches(2), Inches(1)
    body.text_frame.text = "Last dry"
    assert read_pptx(saved(made), "a.pptx").content == "# Slide 1\n\nFirst soak\n\nThen rinse\n\nLast dry"


def test_shapes_that_state_no_valid_place_and_many_shapes() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    for number in range(600):
        slide.shapes.add_textbox(0, Inches(600 - number), 1, 1).text_frame.text = str(number)
    text = read_pptx(saved(made), "a.pptx").content
    assert text.startswith("# Slide 1\n\n599\n\n598\n\n")
    path = "ppt/slides/slide1.xml"
    broken = repacked(saved(made), {path: lambda xml: xml.replace('x="0"', 'x="all"')})
    assert read_pptx(broken, "a.pptx").content.startswith("# Slide 1\n\n0\n\n1\n\n")


def test_struck_text_of_slides() -> None:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[6])
    paragraph = slide.shapes.add_textbox(0, 0, 1, 1).text_frame.paragraphs[0]
    for text, strike in (("Doors open ", ""), ("at ", "sngStrike"), ("seven ", "dblStrike"), ("at eight", "noStrike")):
        run = paragraph.add_run()
        run.text = text
        if strike:
            run.font._element.set("strike", strike)
    assert read_pptx(saved(made), "a.pptx").content == "# Slide 1\n\nDoors open ~~at seven~~ at eight"


def test_raised_text_and_automatic_numbers() -> None:
    made = Presentation()
    frame = made.slides.add_slide(made.slide_layouts[6]).shapes.add_textbox(0, 0, 1, 1).text_frame
    lines: list[tuple[str, int, dict[str, str]]] = [
        ("Measure", 0, {"type": "arabicPeriod", "startAt": "3"}),
        ("twice", 1, {"type": "alphaLcParenBoth"}),
        ("thrice", 1, {"type": "alphaLcParenBoth"}),
        ("Saw", 0, {"type": "arabicPeriod", "startAt": "3"}),
        ("once", 1, {"type": "alphaLcParenBoth"}),
        ("Rest", 0, {}),
        ("Sweep", 0, {"type": "romanUcPlain"}),
        ("Lock up", 0, {"type": "circleNumDbPlain"}),
    ]
    for text, level, numbered in lines:
        paragraph = frame.add_paragraph()
        paragraph.text, paragraph.level = text, level
        if numbered:
            name = "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum"
            paragraph._p.get_or_add_pPr().append(paragraph._p.makeelement(name, numbered))
    for text, height in (("10", "0"), ("3", "30000"), (" l of H", "0"), ("2", "-25000"), ("O", "0")):
        run = paragraph.add_run()
        run.text = text
        run.font._element.set("baseline", height)
    assert read_pptx(saved(made), "a.pptx").content == (
        "# Slide 1\n\n3. Measure\n(a) twice\n(b) thrice\n4. Saw\n(a) once\nRest\nI Sweep\nLock up10³ l of H₂O"
    )


def test_opendocument_text_boxes_by_place() -> None:
    def box(text: str, place: str) -> str:
        return f"<draw:frame {place}><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"

    space = 'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
    low, high = (f'svg:x="1cm" svg:y="{top}" svg:width="5cm" svg:height="1cm"' for top in ("12.5cm", "1in"))
    body = f"<draw:page {space}>{box('low', low)}{box('high', high)}{box('nowhere', '')}</draw:page>"
    document = read_odp(opendocument("presentation", body), "a.odp")
    assert document.content == "# Slide 1\n\nnowhere\n\nhigh\n\nlow"


def test_opendocument_slides() -> None:
    def frame(kind: str, text: str) -> str:
        return f'<draw:frame presentation:class="{kind}"><draw:text-box>{text}</draw:text-box></draw:frame>'

    items = "<text:list><text:list-item><text:p>Open in May</text:p></text:list-item></text:list>"
    notes = f"<presentation:notes>{frame('notes', '<text:p>Mention the loan.</text:p>')}</presentation:notes>"
    grid = table([["Item", "Price"], ["Bread", "2 €"]])
    body = (
        f"<draw:page>{frame('title', '<text:p>Plan</text:p>')}{frame('outline', items)}"
        f"{frame('footer', '<text:p>page</text:p>')}<draw:frame>{grid}</draw:frame>{notes}</draw:page>"
    )
    (document,) = read_file(opendocument("presentation", body), source="/in/a.zip")
    assert slides(document) == [
        (
            1,
            ("Plan",),
            "# Plan\n\n- Open in May\n\n| Item | Price |\n| --- | --- |\n| Bread | 2 € |\n\n"
            "Speaker notes:\nMention the loan.",
        )
    ]


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b"PK\x03\x04 cut off", DamagedSource, "save it again"),
        (zipped({"_rels/.rels": "<x/>"}), DamagedSource, "names no presentation"),
        (OLE + "EncryptedPackage".encode("utf-16-le"), EncryptedSource, "without one"),
        (OLE + "PowerPoint Document\0".encode("utf-16-le"), UnsupportedSource, r"\(\.ppt\).*save it as \.pptx"),
        (presentation([("", "", "")]), EmptySource, "OCR"),
        (
            repacked(presentation(SHOP), {"ppt/presentation.xml": lambda xml: xml.replace("<p:sldId ", "<p:other ")}),
            EmptySource,
            "holds no text",
        ),
    ],
)
def test_files_that_are_not_read(tmp_path: Path, data: bytes, error: type[SourceError], match: str) -> None:
    path = tmp_path / "a.pptx"
    path.write_bytes(data)
    with pytest.raises(error, match=match):
        read_file(path)


def test_hostile_opendocument_slides() -> None:
    with pytest.raises(DamagedSource, match="entities"):
        read_odp(opendocument("presentation", "<draw:page/>", prolog='<!DOCTYPE d [<!ENTITY a "x">]>'), "a.odp")
    with pytest.raises(EmptySource, match="holds no text"):
        read_odp(opendocument("presentation", "<draw:page/>"), "a.odp")


def test_answers_cite_slides(tmp_path: Path) -> None:
    path = tmp_path / "shop.pptx"
    path.write_bytes(presentation(SHOP))
    with answerable.open(":memory:") as library:
        assert library.add(path).failures == []
        notes = library.ask("How much is the loan from the bank?").citations[0]
        flour = library.ask("Where does the flour come from?").citations[0]
    assert "40,000 euros" in notes.quote
    assert str(notes.location) == "slide 1, Opening of the shop"
    assert (flour.quote, str(flour.location)) == ("The flour comes from the mill of Serpa.", "slide 3, Suppliers")
