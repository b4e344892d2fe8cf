"""OpenDocument texts."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_office_files import opendocument, table
from reading_here import read_file

import answerable
from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource
from answerable.sources.office.odf import read_odt

NUMBERED = (
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1"/>'
    "</text:list-style>"
)
LEASE = (
    '<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:h text:outline-level="1">Lease</text:h>'
    '<text:h text:outline-level="2">Rent</text:h>'
    "<text:p>The rent is <text:span>950<text:s/>€</text:span> a month."
    "<text:note><text:note-citation>1</text:note-citation>"
    "<text:note-body><text:p>Water included.</text:p></text:note-body></text:note>"
    "<office:annotation><text:p>check this</text:p></office:annotation></text:p>"
    "<text:table-of-content><text:index-body><text:p>Contents</text:p></text:index-body></text:table-of-content>"
)


def test_headings_notes_and_what_is_left_out() -> None:
    document = read_odt(opendocument("text", LEASE), "/in/lease.odt")
    assert document.content == "# Lease\n\n## Rent\n\nThe rent is 950 € a month.[^1]\n\n[^1]: Water included."
    assert [part.headings for part in document.parts] == [("Lease",), ("Lease", "Rent"), ()]
    assert (document.type, document.title) == (DocumentType.ODT, "Lease")


def test_lists_tables_and_boxes() -> None:
    inner = "<text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list>"
    item = "<text:list-item><text:p>{}</text:p>{}</text:list-item>"
    items = item.format("one", inner) + item.format("two", "")
    body = (
        f'<text:list text:style-name="L1">{items}</text:list><text:section><text:p>a<text:line-break/>b</text:p>'
        f"</text:section>{table([['Item', 'Price'], ['Bread', '2 €']])}"
        "<text:p>Beside<draw:frame><draw:text-box><text:p>In a box</text:p></draw:text-box></draw:frame></text:p>"
    )
    assert read_odt(opendocument("text", body, NUMBERED), "a.odt").content == (
        "1. one\n  - inner\n2. two\n\na\nb\n\n| Item | Price |\n| --- | --- |\n| Bread | 2 € |\n\nBeside\n\nIn a box"
    )


LOOKS = (
    '<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<style:style style:name="H"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="L"><style:text-properties style:text-position="-33% 58%"/></style:style>'
    '<style:style style:name="N" style:parent-style-name="S"><style:text-properties '
    'style:text-line-through-style="none"/></style:style>'
)
CLAUSES = (
    '<text:list-style style:name="C"><text:list-level-style-number text:level="1" style:num-format="1" '
    'style:num-suffix="." text:start-value="3"/><text:list-level-style-number text:level="2" style:num-format="1" '
    'text:display-levels="2"/><text:list-level-style-number text:level="3" style:num-format="a" style:num-prefix="(" '
    'style:num-suffix=")"/></text:list-style>'
    '<text:outline-style><text:outline-level-style text:level="1" style:num-format="I" style:num-suffix="."/>'
    '<text:outline-level-style text:level="2" style:num-format=""/></text:outline-style>'
)


def test_struck_raised_and_lowered_text_and_notes_after_their_word() -> None:
    note = "<text:note><text:note-body><text:p>Without meals.</text:p></text:note-body></text:note>"
    body = (
        '<text:p>The bed is <text:span text:style-name="S">30</text:span> 35 a night'
        f'{note}, 4 m<text:span text:style-name="H">2</text:span>, CO<text:span text:style-name="L">2</text:span>.'
        "</text:p>"
        '<text:p text:style-name="S">No dogs.</text:p><text:p text:style-name="N">Cats.</text:p>'
        '<text:p text:style-name="S">Till ten. <text:span text:style-name="N">Till nine.</text:span></text:p>'
    )
    assert read_odt(opendocument("text", body, LOOKS), "a.odt").content == (
        "The bed is ~~30~~ 35 a night[^1], 4 m², CO₂.\n\n~~No dogs.~~\n\nCats.\n\n~~Till ten.~~ Till nine."
        "\n\n[^1]: Without meals."
    )


def test_fields_of_forms() -> None:
    fields = (
        '<form:checkbox form:id="a" form:label="Insured" form:current-state="checked"/><form:checkbox form:id="b"/>'
        '<form:radio form:id="c" form:label="by day" form:current-selected="true"/><form:text form:id="d" '
        'form:current-value="Ilse Marten" form:value="none"/><form:listbox form:id="e"><form:option form:label="quay"/>'
        '<form:option form:label="buoy" form:current-selected="true"/></form:listbox>'
        '<form:password form:id="f" form:current-value="secret"/>'
    )
    controls = {each: f'<draw:control draw:control="{each}"/>' for each in "abcdefg"}
    body = (
        f'<office:forms xmlns:form="urn:oasis:names:tc:opendocument:xmlns:form:1.0"><form:form>{fields}</form:form>'
        f"</office:forms><text:p>{controls['a']}</text:p><text:p>{controls['b']}Overnight</text:p>"
        f"<text:p>Paid {controls['c']}</text:p><text:p>Skipper: {controls['d']}</text:p>"
        f"<text:p>Place: {controls['e']}{controls['f']}{controls['g']}</text:p>"
    )
    assert read_odt(opendocument("text", body), "a.odt").content == (
        "☒ Insured\n\n☐ Overnight\n\nPaid ☒ by day\n\nSkipper: Ilse Marten\n\nPlace: buoy"
    )


def test_numbers_of_clauses_and_headings() -> None:
    def item(text: str, inner: str = "") -> str:
        return f"<text:list-item><text:p>{text}</text:p>{inner}</text:list-item>"

    def items(*each: str, more: str = "") -> str:
        return f"<text:list {more}>{''.join(each)}</text:list>"

    style = 'text:style-name="C"'
    body = (
        '<text:h text:outline-level="1">Rules</text:h>'
        + items(item("Rest", items(item("Hours", items(item("night"), item("noon"))), item("Noise"))), more=style)
        + '<text:h text:outline-level="1">Keys</text:h><text:h text:outline-level="2">Lost</text:h>'
        + items(item("Ask"), more=f'{style} text:continue-numbering="true"')
        + "<text:p>And:</text:p>"
        + items(item("Pay"), more=style)
    )
    assert read_odt(opendocument("text", body, CLAUSES), "a.odt").content == (
        "# I. Rules\n\n3. Rest\n  3.1 Hours\n    (a) night\n    (b) noon\n  3.2 Noise\n\n# II. Keys\n\n## Lost\n\n"
        "4. Ask\n\nAnd:\n\n3. Pay"
    )


def test_headers_and_footers_follow_without_page_numbers() -> None:
    page = (
        "<office:master-styles><style:master-page><style:header><text:p>Plan B-7</text:p></style:header>"
        '<style:header-left style:display="false"><text:p>unused</text:p></style:header-left><style:footer>'
        "<text:p>Drawn by Ngozi<text:tab/>page <text:page-number>2</text:page-number> of "
        "<text:page-count>5</text:page-count></text:p></style:footer></style:master-page></office:master-styles>"
    )
    document = read_odt(opendocument("text", "<text:p>Build it.</text:p>", page), "a.odt")
    assert document.content == "Build it.\n\nPlan B-7\n\nDrawn by Ngozi"
    assert [(part.start, part.end) for part in document.parts] == [(0, 11), (11, 35)]


def test_merged_cells() -> None:
    def cell(text: str, more: str = "") -> str:
        return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"

    wide, high = 'table:number-columns-spanned="2"', 'table:number-rows-spanned="2"'
    covered = "<table:covered-table-cell/>"
    rows = (
        (cell("Hut", high), cell("Bunks", wide), covered),
        (covered, cell("Old"), cell("New")),
        (cell("Alp", high), cell("4"), cell("6")),
        (covered, cell("2"), cell("8")),
    )
    body = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
    assert read_odt(opendocument("text", f"<table:table>{body}</table:table>"), "a.odt").content == (
        "| Hut | Bunks Old | Bunks New |\n| --- | --- | --- |\n| Alp | 4 | 6 |\n| Alp | 2 | 8 |"
    )


def test_files_that_are_not_read() -> None:
    with pytest.raises(EmptySource, match="holds no text"):
        read_odt(opendocument("text", ""), "a.odt")
    with pytest.raises(DamagedSource, match="entities"):
        read_odt(opendocument("text", LEASE, prolog='<!DOCTYPE d [<!ENTITY a "lol">]>'), "a.odt")
    manifest = '<m:manifest xmlns:m="urn:x"><m:file-entry><m:encryption-data/></m:file-entry></m:manifest>'
    with pytest.raises(EncryptedSource, match="without one"):
        read_odt(opendocument("text", LEASE, manifest=manifest), "a.odt")


def test_tables_in_tables_do_not_multiply() -> None:
    row = '<table:table-row table:number-rows-repeated="1000000"><table:table-cell table:number-columns-repeated="99">'
    body = (
        f"<table:table>{row}" * 20 + "<text:p>x</text:p>" + "</table:table-cell></table:table-row></table:table>" * 20
    )
    assert len(read_odt(opendocument("text", body), "a.odt").content) < 1_000


def test_an_answer_from_it(tmp_path: Path) -> None:
    path = tmp_path / "lease.bak"
    path.write_bytes(opendocument("text", LEASE))
    assert read_file(path)[0].type is DocumentType.ODT
    with answerable.open(":memory:") as library:
        assert library.add(path).failures == []
        citation = library.ask("How much is the rent?").citations[0]
    assert "950 €" in citation.quote
    assert str(citation.location) == "Lease › Rent"
