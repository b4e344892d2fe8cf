"""Word documents show more than their text: numbers of clauses, struck and raised text, boxes, headers, equations."""

from __future__ import annotations

import io
import time
from typing import Any

import pytest
from docx import Document as Word
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from lxml import etree
from made_files import edited, with_body

from answerable.sources.office.docx import read_docx

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def paragraph(*runs: str, properties: str = "") -> str:
    return f"<w:p {W}><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def item(text: str, level: int, number: int = 70, style: str = "") -> str:
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    numbered = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'
    return paragraph(run(text), properties=style + numbered)


def level(depth: int, shape: str, text: str, more: str = "", start: int = 1) -> str:
    kind = f'<w:start w:val="{start}"/><w:numFmt w:val="{shape}"/>'
    return f'<w:lvl w:ilvl="{depth}">{kind}{more}<w:lvlText w:val="{text}"/></w:lvl>'


def shown(body: str, levels: str = "", numbers: str = "", styles: str = "") -> str:
    """The content of a document with this body, and with lists of one kind: number 70, and those in `numbers`."""
    data = edited(
        with_body(saved(Word()), body),
        numbering=lambda text: text.replace(
            "</w:numbering>",
            f'<w:abstractNum w:abstractNumId="70">{levels}</w:abstractNum><w:num w:numId="70"><w:abstractNumId '
            f'w:val="70"/></w:num>{numbers}</w:numbering>',
        ),
        styles=lambda text: text.replace("</w:styles>", f"{styles}</w:styles>"),
    )
    return read_docx(data, "a.docx").content


CLAUSES = level(0, "decimal", "%1.", start=6) + level(1, "decimal", "%1.%2") + level(2, "lowerLetter", "(%3)")


def test_clauses_have_the_numbers_that_word_shows() -> None:
    body = (
        item("Heating", 0, style="Heading1")
        + item("The boiler is serviced in May.", 1)
        + item("The tenant pays for", 1)
        + item("filters, and", 2)
        + item("keys.", 2)
        + item("Garden", 0, style="Heading1")
        + item("Hedges are cut in June.", 1)
        + item("The owner brings", 1)
        + item("tools.", 2)
    )
    assert shown(body, CLAUSES) == (
        "# 6. Heating\n\n6.1 The boiler is serviced in May.\n6.2 The tenant pays for\n  (a) filters, and\n  (b) keys.\n"
        "\n# 7. Garden\n\n7.1 Hedges are cut in June.\n7.2 The owner brings\n  (a) tools."
    )


@pytest.mark.parametrize(
    ("levels", "items", "content"),
    [
        (level(0, "decimal", "Section %1:"), (0, 0), "Section 1: a\n\nSection 2: b"),
        (level(0, "upperRoman", "%1.") + level(1, "lowerRoman", "%1-%2)"), (0, 1, 1), "I. a\n\nI-i) b\n\nI-ii) c"),
        (
            level(0, "upperRoman", "%1.") + level(1, "decimal", "%1.%2", "<w:isLgl/>"),
            (0, 0, 1, 1),
            "I. a\n\nII. b\n\n2.1 c\n2.2 d",
        ),
        (level(0, "decimalZero", "%1"), (0,), "01 a"),
        (level(0, "none", "Note:"), (0,), "Note: a"),
        (level(0, "none", ""), (0, 0), "a\n\nb"),
        (level(0, "decimal", "§%1", '<w:suff w:val="nothing"/>'), (0,), "§1a"),
        (level(0, "bullet", "\uf0b7"), (0, 0), "- a\n- b"),
        (level(0, "bullet", "\uf0a8"), (0,), "- ☐ a"),
        (
            level(0, "decimal", "%1.") + level(1, "decimal", "%2)", '<w:lvlRestart w:val="0"/>'),
            (0, 1, 0, 1),
            "1. a\n  1) b\n2. c\n  2) d",
        ),
    ],
)
def test_numbers_in_other_forms(levels: str, items: tuple[int, ...], content: str) -> None:
    assert shown("".join(item("abcd"[place], depth) for place, depth in enumerate(items)), levels) == content


def test_lists_that_restart_continue_or_hold_empty_items() -> None:
    again = (
        '<w:num w:numId="71"><w:abstractNumId w:val="70"/><w:lvlOverride w:ilvl="1"><w:startOverride w:val="4"/>'
        '</w:lvlOverride></w:num><w:num w:numId="72"><w:abstractNumId w:val="70"/></w:num>'
    )
    body = item("a", 0) + item("b", 1) + item("c", 1, 71) + item("d", 1, 71) + item("", 0) + item("e", 0, 72)
    assert shown(body, CLAUSES, again) == "6. a\n  6.1 b\n  6.4 c\n  6.5 d\n\n8. e"


def test_numbers_of_styles_of_headings_and_in_tables() -> None:
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{name}"/>{base}<w:pPr><w:numPr>'
        f"{number}</w:numPr></w:pPr></w:style>"
        for name, base, number in (
            ("Part", '<w:basedOn w:val="Heading1"/>', '<w:numId w:val="70"/>'),
            ("Clause", "", '<w:numId w:val="70"/>'),
            ("Loose", '<w:basedOn w:val="Clause"/>', '<w:numId w:val="0"/>'),
        )
    )
    levels = level(0, "upperLetter", "Part %1", '<w:pStyle w:val="Part"/>')
    levels += level(1, "decimal", "%1.%2", '<w:pStyle w:val="Clause"/>')
    texts = (("Part", "Water"), ("Clause", "Drink it."), ("Clause", "Save it."), ("Loose", "Or not."), ("Part", "Air"))
    body = "".join(paragraph(run(text), properties=f'<w:pStyle w:val="{name}"/>') for name, text in texts)
    number = paragraph(properties='<w:pStyle w:val="Clause"/>')
    row = f"<w:tr><w:tc>{number}</w:tc><w:tc>{paragraph(run('Open windows'))}</w:tc></w:tr>"
    content = shown(f"{body}<w:tbl>{row}</w:tbl>", levels, styles=styles)
    assert content == (
        "# Part A Water\n\nA.1 Drink it.\n\nA.2 Save it.\n\nOr not.\n\n# Part B Air\n\n"
        "| B.1 | Open windows |\n| --- | --- |"
    )


def test_struck_raised_and_lowered_text() -> None:
    high, low = '<w:vertAlign w:val="superscript"/>', '<w:vertAlign w:val="subscript"/>'
    styles = (
        '<w:style w:type="character" w:styleId="Old"><w:rPr><w:dstrike/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="Void"><w:rPr><w:strike/></w:rPr></w:style>'
    )
    body = (
        paragraph(
            run("Entry costs "),
            run("8", "<w:strike/>"),
            run(" euros ", "<w:dstrike/>"),
            run("9 euros", '<w:strike w:val="0"/>'),
        )
        + paragraph(run("Open "), run("daily", '<w:rStyle w:val="Old"/>'), run("."))
        + paragraph(
            run("No swimming."), run(" Kept", '<w:strike w:val="false"/>'), properties='<w:pStyle w:val="Void"/>'
        )
        + paragraph(run("10"), run("-", high), run("6", high), run(" m"), run("2", high), run(" of CO"), run("2", low))
        + paragraph(
            run("the 2"),
            run("nd", high),
            run(" Brand"),
            run("®", high),
            run(" k"),
            run("2x", high),
            run(" v"),
            run("max", low),
        )
    )
    assert shown(body, styles=styles) == (
        "Entry costs ~~8 euros~~ 9 euros\n\nOpen ~~daily~~.\n\n~~No swimming.~~ Kept\n\n10⁻⁶ m² of CO₂\n\n"
        "the 2nd Brand® k^(2x) vmax"
    )


def test_raised_numbers_are_notes_where_a_note_stands_below() -> None:
    high = '<w:vertAlign w:val="superscript"/>'
    body = (
        paragraph(
            run("It lasts a decade"), run("4", high), run(" on 5 km"), run("4", high), run(", see 10"), run("7", high)
        )
        + paragraph(run("Unlike others"), run("5", high))
        + paragraph(run("4", high), run(" Except batteries."))
    )
    assert shown(body) == ("It lasts a decade[^4] on 5 km⁴, see 10⁷\n\nUnlike others⁵\n\n[^4]: Except batteries.")


def test_form_fields_and_symbols() -> None:
    def field(data: str, result: str = "") -> str:
        return (
            f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'
            f'<w:r><w:instrText> FORM </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>{result}'
            '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
        )

    choice = '<w:ddList><w:result w:val="1"/><w:listEntry w:val="Oil"/><w:listEntry w:val="Wood"/></w:ddList>'
    empty = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>"
    body = (
        paragraph(field('<w:checkBox><w:default w:val="1"/></w:checkBox>'), run("Lift"))
        + paragraph(field('<w:checkBox><w:default w:val="1"/><w:checked w:val="0"/></w:checkBox>'), run("Cellar"))
        + paragraph(run("Fuel: "), field(choice))
        + paragraph(run("Guest: "), field("<w:textInput/>", run("Ada")))
        + paragraph(run("Room: "), empty.format(run("Click here to enter text.")))
        + empty.format(paragraph(run("Choose an item.")))
        + paragraph('<w:r><w:sym w:font="Wingdings 2" w:char="F052"/></w:r>', run("Towels"))
        + paragraph('<w:r><w:sym w:font="Wingdings" w:char="F06F"/></w:r>', run(" Sauna"))
        + paragraph(run("Age "), '<w:r><w:sym w:font="Symbol" w:char="F0B3"/></w:r>', run(" 18"))
        + paragraph('<w:r><w:sym w:font="Wingdings" w:char="F04A"/></w:r>', run("Smile \uf0fc"))
    )
    assert shown(body) == (
        "☒ Lift\n\n☐ Cellar\n\nFuel: Wood\n\nGuest: Ada\n\nRoom:\n\n☒ Towels\n\n☐ Sauna\n\nAge ≥ 18\n\nSmile ✓"
    )


def part(name: str, inside: str) -> str:
    return f"<m:{name}>{inside}</m:{name}>"


def letters(text: str) -> str:
    return part("r", f"<w:rPr/>{part('t', text)}")


HALF = part("f", part("num", letters("1")) + part("den", letters("2")))


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (letters("v=") + part("f", part("num", letters("s")) + part("den", letters("t"))), "v=s/t"),
        (part("f", part("num", letters("a+b")) + part("den", letters("2c"))), "(a+b)/(2c)"),
        (letters("E=") + HALF + letters("mv"), "E=(1/2)mv"),
        (letters("3") + HALF + letters("+x"), "3(1/2)+x"),
        (part("rad", part("e", part("f", part("num", letters("2h")) + part("den", letters("g"))))), "√(2h/g)"),
        (part("f", part("num", part("d", part("e", letters("a+b")))) + part("den", letters("3"))), "(a+b)/3"),
        (part("sSup", part("e", letters("r")) + part("sup", letters("2"))) + letters("π"), "r²π"),
        (part("sSup", part("e", letters("e")) + part("sup", letters("kt"))), "e^(kt)"),
        (part("sSubSup", part("e", letters("x")) + part("sub", letters("1")) + part("sup", letters("2"))), "x₁²"),
        (part("rad", part("deg", letters("3")) + part("e", letters("8"))), "³√8"),
        (part("rad", part("deg", "") + part("e", letters("b−4"))), "√(b−4)"),
        (
            part(
                "nary",
                '<m:naryPr><m:chr m:val="∑"/></m:naryPr>'
                + part("sub", letters("i=1"))
                + part("sup", "")
                + part("e", letters("i")),
            ),
            "∑_(i=1) i",
        ),
        (part("func", part("fName", letters("cos")) + part("e", letters("x"))), "cos x"),
        (part("m", part("mr", part("e", letters("1")) + part("e", letters("2"))) * 2), "1, 2; 1, 2"),
    ],
)
def test_equations_in_reading_order(inside: str, text: str) -> None:
    body = paragraph(run("Here "), f"<m:oMath {M}>{inside}</m:oMath>", run(" holds."))
    assert shown(body) == f"Here {text} holds."


def test_headers_and_footers_are_a_part_of_their_own() -> None:
    document = Word()
    document.add_heading("Ladder", 1)
    document.add_paragraph("It is 3 m high.")
    for number in range(2):
        section = document.sections[0] if number == 0 else document.add_section()
        section.header.is_linked_to_previous = section.footer.is_linked_to_previous = False
        section.first_page_header.paragraphs[0].text = "Never shown"
        section.header.paragraphs[0].text = "Form L-9\tIssued by Kofi Mensah"
        for footer in (
            "Approved by Lin\tPage <w:fldSimple w:instr=' PAGE '><w:r><w:t>7</w:t></w:r></w:fldSimple> of "
            "<w:r><w:fldChar w:fldCharType='begin'/><w:instrText>NUMPAGES \\* Arabic</w:instrText>"
            "<w:fldChar w:fldCharType='separate'/></w:r><w:r><w:t>9</w:t></w:r>"
            "<w:r><w:fldChar w:fldCharType='end'/></w:r>",
            "- <w:fldSimple w:instr='page'><w:r><w:t>7</w:t></w:r></w:fldSimple> -",
            "<w:fldSimple w:instr='PAGE'><w:r><w:t>7</w:t></w:r></w:fldSimple><w:r><w:t> | Page</w:t></w:r>",
            "<w:r><w:pict><w:txbxContent><w:p><w:r><w:t>Call 555 0199</w:t></w:r></w:p></w:txbxContent></w:pict></w:r>",
        ):
            text, mark, rest = footer.partition("<")
            runs = run(text).replace("\t", "</w:t><w:tab/><w:t xml:space='preserve'>") + (mark + rest).replace(
                " of ", run(" of ")
            )
            section.footer._element.append(etree.fromstring(paragraph(runs)))
    read = read_docx(saved(document), "ladder.docx")
    assert read.content == (
        "# Ladder\n\nIt is 3 m high.\n\nForm L-9 Issued by Kofi Mensah\n\nApproved by Lin\n\nCall 555 0199"
    )
    assert [part.headings for part in read.parts] == [("Ladder",), ()]
    assert read.content[read.parts[1].start : read.parts[1].end].startswith("Form L-9")


def cells(*texts: str) -> str:
    """A row; `2×name` is merged over two columns, `↓name` is the first of cells merged over rows, `↑` another one."""
    merges = {"↓": '<w:vMerge w:val="restart"/>', "↑": "<w:vMerge/>"}
    wide = '<w:gridSpan w:val="2"/>'
    found = (
        (wide * text.startswith("2×") + merges.get(text[:1], ""), text.removeprefix("2×").strip("↓↑")) for text in texts
    )
    return (
        f"<w:tr>{''.join(f'<w:tc><w:tcPr>{how}</w:tcPr>{paragraph(run(text))}</w:tc>' for how, text in found)}</w:tr>"
    )


ROWS = cells("North", "31", "2", "44", "6") + cells("South", "28", "3", "39", "5")
NAMES = "| Site | May Visits | May Sales | June Visits | June Sales |\n| --- | --- | --- | --- | --- |\n"
SHOWN = NAMES + "| North | 31 | 2 | 44 | 6 |\n| South | 28 | 3 | 39 | 5 |"


@pytest.mark.parametrize(
    ("rows", "content"),
    [
        (cells("↓Site", "2×May", "2×June") + cells("↑", "Visits", "Sales", "Visits", "Sales") + ROWS, SHOWN),
        (cells("", "2×May", "2×June") + cells("Site", "Visits", "Sales", "Visits", "Sales") + ROWS, SHOWN),
        (cells("Site", "May", "", "June", "") + cells("", "Visits", "Sales", "Visits", "Sales") + ROWS, SHOWN),
        (
            cells("2×Fees") + cells("Who", "Fee") + cells("Adult", "9"),
            "Fees\n\n| Who | Fee |\n| --- | --- |\n| Adult | 9 |",
        ),
        (
            cells("Name", "2×Contact") + cells("Ida", "Oslo", "ida@x.no") + cells("Bo", "Bergen", "bo@x.no"),
            "| Name | Contact |  |\n| --- | --- | --- |\n| Ida | Oslo | ida@x.no |\n| Bo | Bergen | bo@x.no |",
        ),
        (
            cells("Hall", "Day") + cells("↓Blue", "Monday") + cells("↑", "Friday"),
            "| Hall | Day |\n| --- | --- |\n| Blue | Monday |\n| Blue | Friday |",
        ),
    ],
)
def test_headers_of_two_rows_and_merged_cells(rows: str, content: str) -> None:
    assert shown(f"<w:tbl>{rows}</w:tbl>") == content


def test_hostile_documents_take_no_time() -> None:
    begun = time.monotonic()
    wide = "<w:tr>" + f"<w:tc>{paragraph(run('x'))}</w:tc>" * 3_000 + "</w:tr>"
    fields = '<w:r><w:fldChar w:fldCharType="begin"/><w:instrText>x</w:instrText></w:r>' * 20_000
    many = run("7", '<w:strike/><w:vertAlign w:val="superscript"/>') * 20_000
    letter = level(0, "upperLetter", "%1" * 5_000, start=99_999_999)
    content = shown(f"<w:tbl>{wide * 3}</w:tbl>" + paragraph(fields) + paragraph(many) + item("y", 0) * 500, letter)
    assert f"~~{'⁷' * 20_000}~~" in content
    assert len(content) < 800_000
    assert time.monotonic() - begun < 20


def test_a_chart_is_a_table_of_its_values() -> None:
    made = Word()
    made.add_paragraph("Visitors of the mill")
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/chart"
    c = "http://schemas.openxmlformats.org/drawingml/2006/chart"
    points = "".join(f'<c:pt idx="{number}"><c:v>{text}</c:v></c:pt>' for number, text in enumerate(("May", "June")))
    figures = "".join(f'<c:pt idx="{number}"><c:v>{text}</c:v></c:pt>' for number, text in enumerate((41, 58)))
    series = (
        f"<c:ser><c:tx><c:v>Adults</c:v></c:tx><c:cat><c:strLit>{points}</c:strLit></c:cat>"
        f"<c:val><c:numLit>{figures}</c:numLit></c:val></c:ser>"
    )
    chart = f'<c:chartSpace xmlns:c="{c}"><c:chart><c:plotArea><c:pieChart>{series}</c:pieChart></c:plotArea></c:chart>'
    name = PackURI("/word/charts/chart1.xml")
    part = Part(name, "application/xml", f"{chart}</c:chartSpace>".encode(), made.part.package)
    key = made.part.relate_to(part, kind)
    drawing = f'<w:r {W}><w:drawing><c:chart xmlns:c="{c}" xmlns:r="{R}" r:id="{key}"/></w:drawing></w:r>'
    made.paragraphs[0]._p.append(etree.fromstring(drawing))
    assert read_docx(saved(made), "a.docx").content == (
        "Visitors of the mill\n\n|  | Adults |\n| --- | --- |\n| May | 41 |\n| June | 58 |"
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (("Task Person", "Lunches Miriam", "Children Oscar"), "Task · Person; Lunches · Miriam; Children · Oscar"),
        (("Task Person Day", "Lunches Miriam Monday"), "Task: Lunches · Person: Miriam · Day: Monday"),
        (("Lunches", "Children"), "Lunches; Children"),
    ],
)
def test_the_rows_of_a_table_in_a_cell_stay_apart(rows: tuple[str, ...], expected: str) -> None:
    made = Word()
    outer = made.add_table(2, 2)
    for place, text in enumerate(("Day", "Jobs", "Friday", "")):
        outer.cell(place // 2, place % 2).text = text
    inner = outer.cell(1, 1).add_table(len(rows), len(rows[0].split()))
    for number, row in enumerate(rows):
        for column, text in enumerate(row.split()):
            inner.cell(number, column).text = text
    assert read_docx(saved(made), "a.docx").content.endswith(f"| Friday | {expected} |")
