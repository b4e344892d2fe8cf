"""Office documents with states, as their programs write them: struck text, boxes, fields, numbers, exponents, notes."""

from __future__ import annotations

from docx import Document as Word
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from made_files import zipped
from made_office_files import MIMETYPE, saved, workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.styles import Font
from pptx import Presentation

from format_files.sample import Sample, State

TICKED, EMPTY = "ticked", "empty"
_WORDS = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_WORD_2010 = "http://schemas.microsoft.com/office/word/2010/wordml"
_STRIKE = "<w:strike/>"
_NUMBERED = "{http://schemas.openxmlformats.org/drawingml/2006/main}buAutoNum"


def office_states() -> list[Sample]:
    """Documents of Word, Excel, PowerPoint and OpenDocument."""
    return [_docx(), _xlsx(), _pptx(), _odt()]


def _run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def _paragraph(*runs: str, level: int | None = None) -> str:
    numbered = "" if level is None else f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="70"/></w:numPr>'
    return f'<w:p xmlns:w="{_WORDS}" xmlns:w14="{_WORD_2010}"><w:pPr>{numbered}</w:pPr>{"".join(runs)}</w:p>'


def _level(depth: int, shape: str, text: str, start: int = 1) -> str:
    kind = f'<w:start w:val="{start}"/><w:numFmt w:val="{shape}"/>'
    return f'<w:lvl w:ilvl="{depth}">{kind}<w:lvlText w:val="{text}"/></w:lvl>'


def _field(data: str, *shown: str) -> str:
    """A field of a form as Word wrote them until 2007."""
    kind = {"<w:c": "FORMCHECKBOX", "<w:t": "FORMTEXT"}[data[:4]]
    begun = f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:enabled/>{data}</w:ffData></w:fldChar></w:r>'
    told = f"<w:r><w:instrText> {kind} </w:instrText></w:r>"
    between, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("separate", "end"))
    return "".join((begun, told, between, *shown, end))


def _control(properties: str, *shown: str) -> str:
    """A field of a form as Word has written them since."""
    return f"<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{''.join(shown)}</w:sdtContent></w:sdt>"


def _old_box(is_ticked: bool) -> str:
    checked = '<w:checked w:val="1"/>' if is_ticked else '<w:checked w:val="0"/>'
    return _field(f'<w:checkBox><w:sizeAuto/><w:default w:val="0"/>{checked}</w:checkBox>')


def _box(is_ticked: bool) -> str:
    checked = f'<w14:checkbox><w14:checked w14:val="{int(is_ticked)}"/></w14:checkbox>'
    return _control(checked, _run("☒" if is_ticked else "☐"))


_CHOICE = (
    '<w:dropDownList><w:listItem w:displayText="Gas" w:value="1"/><w:listItem w:displayText="Oil" w:value="2"/>'
    "</w:dropDownList>"
)
_LEASE = (
    _paragraph(_run("Lease of the mill house"))
    + _paragraph(_run("Heating"), level=0)
    + _paragraph(_run("The boiler is serviced in May."), level=1)
    + _paragraph(_run("The tenant pays for"), level=1)
    + _paragraph(_run("filters of the pump, and"), level=2)
    + _paragraph(_run("keys that are lost."), level=2)
    + _paragraph(_run("Garden"), level=0)
    + _paragraph(_run("Hedges are cut in June."), level=1)
    + _paragraph(_run("The rent is "), _run("600 euros", _STRIKE), _run(" 650 euros a month."))
    + _paragraph(_run("Dogs are ", _STRIKE), _run("forbidden.", f"<w:b/>{_STRIKE}"))
    + _paragraph(_run("Meters are read "), _run("twice", "<w:dstrike/>"), _run(" once a year."))
    + _paragraph(_box(True), _run(" Deposit paid"))
    + _paragraph(_box(False), _run(" Cellar included"))
    + _paragraph(_run("Lift: "), _old_box(True))
    + _paragraph(_old_box(False), _run(" Balcony"))
    + _paragraph(_run("Tenant: "), _control("<w:text/>", _run("Marta Quint")))
    + _paragraph(_run("Guarantor: "), _field("<w:textInput/>", _run("Otto Brandt")))
    + _paragraph(_run("Fuel: "), _control(_CHOICE, _run("Oil")))
    + _paragraph(
        _run("The boiler gives 10"),
        _run("6", '<w:vertAlign w:val="superscript"/>'),
        _run(" joules, and warms 80 m"),
        _run("3", '<w:vertAlign w:val="superscript"/>'),
        _run(". It may emit CO"),
        _run("2", '<w:vertAlign w:val="subscript"/>'),
        _run("."),
    )
    + _paragraph(_run("Pets are welcome"), '<w:r><w:footnoteReference w:id="2"/></w:r>', _run(" in the yard."))
)


_CLAUSES = _level(0, "decimal", "%1.", start=6) + _level(1, "decimal", "%1.%2") + _level(2, "lowerLetter", "(%3)")
_NOTE = (
    f'<w:footnotes xmlns:w="{_WORDS}"><w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p>'
    '</w:footnote><w:footnote w:id="2"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t xml:space="preserve"> Cats only.</w:t>'
    "</w:r></w:p></w:footnote></w:footnotes>"
)


def _docx() -> Sample:
    made = Word()
    for place, each in enumerate(parse_xml(f'<w:body xmlns:w="{_WORDS}">{_LEASE}</w:body>')):
        made.element.body.insert(place, each)
    lists = made.part.numbering_part.element
    # Word wants what describes a list before what uses it.
    lists.insert(0, parse_xml(f'<w:abstractNum xmlns:w="{_WORDS}" w:abstractNumId="70">{_CLAUSES}</w:abstractNum>'))
    lists.append(parse_xml(f'<w:num xmlns:w="{_WORDS}" w:numId="70"><w:abstractNumId w:val="70"/></w:num>'))
    notes = Part(PackURI("/word/footnotes.xml"), CONTENT_TYPE.WML_FOOTNOTES, _NOTE.encode(), made.part.package)
    made.part.relate_to(notes, RELATIONSHIP_TYPE.FOOTNOTES)
    states = (
        State("number", "Heating", "6"),
        State("number", "The boiler is serviced in May.", "6.1"),
        State("number", "The tenant pays for", "6.2"),
        State("number", "filters of the pump, and", "a"),
        State("number", "keys that are lost.", "b"),
        State("number", "Garden", "7"),
        State("number", "Hedges are cut in June.", "7.1"),
        State("struck", "600 euros"),
        State("struck", "Dogs are forbidden."),
        State("struck", "twice"),
        State("box", "Deposit paid", TICKED),
        State("box", "Cellar included", EMPTY),
        State("box", "Lift", TICKED),
        State("box", "Balcony", EMPTY),
        State("field", "Tenant", "Marta Quint"),
        State("field", "Guarantor", "Otto Brandt"),
        State("field", "Fuel", "Oil"),
        State("raised", "gives 10", "6"),
        State("raised", "80 m", "3"),
        State("lowered", "CO", "2"),
        State("note", "Pets are welcome", "Cats only."),
    )
    return Sample("lease.docx", "docx", (), saved(made), states=states)


def _xlsx() -> Sample:
    book = workbook({"Prices": [["Tool", "Owner", "Price"], ["Saw", "Ines", 80], ["Drill", "Tomas", 120]]})
    sheet = book["Prices"]
    sheet["C2"].font = sheet["A3"].font = Font(strike=True)
    sheet["A4"] = CellRichText(TextBlock(InlineFont(strike=True), "by post"), " by hand")
    sheet["B4"] = CellRichText("area in m", TextBlock(InlineFont(vertAlign="superscript"), "2"))
    states = (
        State("struck", "80"),
        State("struck", "Drill"),
        State("struck", "by post"),
        State("raised", "area in m", "2"),
    )
    return Sample("prices.xlsx", "xlsx", (), saved(book), states=states)


def _pptx() -> Sample:
    made = Presentation()
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Summer party"
    frame = slide.placeholders[1].text_frame
    lines: tuple[tuple[tuple[str, dict[str, str]], ...], ...] = (
        (("Doors open ", {}), ("at seven", {"strike": "sngStrike"}), (" at eight", {})),
        (("Bring your own cups", {"strike": "sngStrike"}),),
        (("The tent covers 60 m", {}), ("2", {"baseline": "30000"}), (" of the lawn", {})),
        (("Tables are set up", {}),),
        (("Lanterns are hung", {}),),
    )
    for number, line in enumerate(lines):
        paragraph = frame.add_paragraph() if number else frame.paragraphs[0]
        if number > 2:
            paragraph._p.get_or_add_pPr().append(paragraph._p.makeelement(_NUMBERED, type="arabicPeriod", startAt="3"))
        for text, look in line:
            run = paragraph.add_run()
            run.text = text
            run.font._element.attrib.update(look)
    states = (
        State("struck", "at seven"),
        State("struck", "Bring your own cups"),
        State("raised", "covers 60 m", "2"),
        State("number", "Tables are set up", "3"),
        State("number", "Lanterns are hung", "4"),
    )
    return Sample("party.pptx", "pptx", (), saved(made), states=states)


_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
_SPACES = " ".join(
    [
        *(f'xmlns:{name}="{_OASIS}{name}:1.0"' for name in ("office", "text", "table", "style", "form", "manifest")),
        f'xmlns:draw="{_OASIS}drawing:1.0" xmlns:svg="{_OASIS}svg-compatible:1.0" office:version="1.3"',
        'xmlns:loext="urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0"',
    ]
)
_LOOKS = (
    '<style:style style:name="S" style:family="text"><style:text-properties style:text-line-through-style="solid"/>'
    '</style:style><style:style style:name="H" style:family="text"><style:text-properties style:text-position="super '
    '58%"/></style:style><text:list-style style:name="C"><text:list-level-style-number text:level="1" '
    'style:num-format="1" style:num-suffix="." text:start-value="3"/><text:list-level-style-number text:level="2" '
    'style:num-format="1" text:display-levels="2"/></text:list-style>'
)
_FORM = (
    '<office:forms><form:form form:name="f"><form:checkbox form:name="a" form:id="c1" form:label="Insured" '
    'form:current-state="checked"/><form:checkbox form:name="b" form:id="c2"/><form:text form:name="c" form:id="c3" '
    'form:current-value="Ilse Marten"/></form:form></office:forms>'
)


def _control_of(name: str) -> str:
    return f'<draw:control text:anchor-type="as-char" draw:control="{name}" svg:width="1cm" svg:height="1cm"/>'


def _items(*items: str) -> str:
    return "".join(f"<text:list-item>{item}</text:list-item>" for item in items)


def _odt() -> Sample:
    def box(glyph: str, checked: str) -> str:
        return f'<loext:content-control loext:checkbox="true" loext:checked="{checked}">{glyph}</loext:content-control>'

    inner = _items("<text:p>Boats are moored at the quay.</text:p>", "<text:p>Fires are lit on the beach.</text:p>")
    note = (
        '<text:note text:id="n" text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>'
        "<text:p>Not on Sundays.</text:p></text:note-body></text:note>"
    )
    body = (
        f'{_FORM}<text:list text:style-name="C">{_items(f"<text:p>Harbour</text:p><text:list>{inner}</text:list>")}'
        f"{_items('<text:p>Campsite</text:p>')}</text:list>"
        '<text:p>A berth costs <text:span text:style-name="S">14 euros</text:span> 16 euros.</text:p>'
        '<text:p><text:span text:style-name="S">Dinghies are free.</text:span></text:p>'
        f"<text:p>{box('☒', 'true')} Water on board</text:p><text:p>{box('☐', 'false')} Mast lowered</text:p>"
        f"<text:p>{_control_of('c1')}</text:p><text:p>{_control_of('c2')} Overnight</text:p>"
        f"<text:p>Skipper: {_control_of('c3')}</text:p>"
        '<text:p>Boat: <text:text-input text:description="name">Kittiwake</text:text-input></text:p>'
        '<text:p>The quay is 10<text:span text:style-name="H">3</text:span> feet long.</text:p>'
        f"<text:p>Fuel is sold at noon{note} here.</text:p>"
    )
    content = (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {_SPACES}><office:automatic-styles>{_LOOKS}'
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    manifest = (
        f'<?xml version="1.0" encoding="UTF-8"?><manifest:manifest xmlns:manifest="{_OASIS}manifest:1.0" '
        f'manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="{MIMETYPE}text"/>'
        '<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>'
    )
    members = {"mimetype": f"{MIMETYPE}text", "META-INF/manifest.xml": manifest, "content.xml": content}
    states = (
        State("number", "Harbour", "3"),
        State("number", "Boats are moored at the quay.", "3.1"),
        State("number", "Fires are lit on the beach.", "3.2"),
        State("number", "Campsite", "4"),
        State("struck", "14 euros"),
        State("struck", "Dinghies are free."),
        State("box", "Water on board", TICKED),
        State("box", "Mast lowered", EMPTY),
        State("box", "Insured", TICKED),
        State("box", "Overnight", EMPTY),
        State("field", "Skipper", "Ilse Marten"),
        State("field", "Boat", "Kittiwake"),
        State("raised", "quay is 10", "3"),
        State("note", "Fuel is sold at noon", "Not on Sundays."),
    )
    return Sample("harbour.odt", "odt", (), zipped(members), states=states)
