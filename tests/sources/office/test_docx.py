"""Word documents: what their text becomes, and what broken, locked and hostile ones are told."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from docx import Document as Word
from hypothesis import given
from hypothesis import strategies as st
from made_files import edited, with_body, zipped
from property_settings import examples
from reading_here import read_file

from answerable.datatypes import DocumentType, PartKind
from answerable.errors import (
    DamagedSource,
    EmptySource,
    EncryptedSource,
    SourceError,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.office.docx import read_docx
from answerable.splitting.by_type import SplitterByType


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def word(*paragraphs: str) -> bytes:
    document = Word()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    return saved(document)


def manual() -> bytes:
    document = Word()
    document.core_properties.title = "Manual de riego"
    document.core_properties.author = "Ana Núñez"
    document.core_properties.created = datetime(2024, 3, 5)
    document.add_heading("Riego", 0)
    document.add_paragraph("Introducción.")
    document.add_heading("Instalação", 1)
    document.add_paragraph("A bomba custa 300 euros.")
    for text in ("válvula", "tubo"):
        document.add_paragraph(text, style="List Bullet")
    document.add_paragraph("curva", style="List Bullet 2")
    document.add_paragraph("Depois:")
    for text in ("abrir", "fechar"):
        document.add_paragraph(text, style="List Number")
    document.add_heading("Peças", 2)
    table = document.add_table(2, 2)
    for number, text in enumerate(("Nome", "a|b", "Bomba", "300")):
        table.cell(number // 2, number % 2).text = text
    document.add_heading("Fin", 1)
    document.add_paragraph("Adiós.")
    return saved(document)


def text_of(data: bytes) -> str:
    return read_docx(data, "/x/a.docx").content


def test_headings_lists_tables_and_properties() -> None:
    document = read_docx(manual(), "/x/riego.docx")
    assert document.content == (
        "# Riego\n\nIntroducción.\n\n## Instalação\n\nA bomba custa 300 euros.\n\n- válvula\n- tubo\n- curva\n\n"
        "Depois:\n\n1. abrir\n2. fechar\n\n### Peças\n\n| Nome | a\\|b |\n| --- | --- |\n| Bomba | 300 |\n\n"
        "## Fin\n\nAdiós."
    )
    assert (document.type, document.title) == (DocumentType.DOCX, "Manual de riego")
    assert document.metadata == {"author": "Ana Núñez", "date": "2024-03-05"}
    assert [part.headings for part in document.parts] == [
        ("Riego",),
        ("Riego", "Instalação"),
        ("Riego", "Instalação", "Peças"),
        ("Riego", "Fin"),
    ]
    assert "".join(document.content[part.start : part.end] for part in document.parts) == document.content
    assert {part.kind for part in document.parts} == {PartKind.SECTION}
    chunk = SplitterByType().split(document)[1]
    assert (str(chunk.location), chunk.context) == ("Riego › Instalação", "Manual de riego › Riego › Instalação")


@pytest.mark.parametrize(
    ("style", "level"),
    [
        ('<w:name w:val="Título 2"/>', 2),
        ('<w:name w:val="heading 3"/>', 3),
        ('<w:name w:val="Mine"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr>', 2),
        ('<w:name w:val="Mine"/><w:basedOn w:val="Heading4"/>', 4),
        ('<w:name w:val="Mine"/><w:basedOn w:val="Mine"/>', None),
        ('<w:name w:val="TOC Heading"/><w:basedOn w:val="Heading1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>', None),
    ],
)
def test_headings_by_style_in_any_language(style: str, level: int | None) -> None:
    document = word()
    document = edited(
        with_body(document, '<w:p><w:pPr><w:pStyle w:val="X"/></w:pPr><w:r><w:t>Cómo</w:t></w:r></w:p>'),
        styles=lambda text: text.replace(
            "</w:styles>", f'<w:style w:type="paragraph" w:styleId="X">{style}</w:style></w:styles>'
        ),
    )
    assert text_of(document) == ("#" * level + " Cómo" if level else "Cómo")


def test_what_is_deleted_hidden_or_repeated_is_left_out() -> None:
    data = with_body(
        word("End."),
        """<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr>
        <w:sdtContent><w:p><w:r><w:t>Contents 1</w:t></w:r></w:p></w:sdtContent></w:sdt>
        <w:p><w:r><w:t>It costs </w:t></w:r><w:del><w:r><w:delText>20</w:delText></w:r></w:del>
        <w:ins><w:r><w:t>30</w:t></w:r></w:ins>
        <w:r><w:t xml:space="preserve"> euros</w:t><w:br/><w:t>a month.</w:t></w:r>
        <w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom></w:p>
        <w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t xml:space="preserve">One </w:t></w:r></w:p>
        <w:p><w:r><w:t>sentence.</w:t></w:r></w:p>
        <w:tbl><w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr>
        <w:r><w:t>framed</w:t></w:r></w:p></w:tc></w:tr></w:tbl>""",
    )
    assert text_of(data) == "It costs 30 euros\na month.\n\nOne sentence.\n\nframed\n\nEnd."


def test_text_boxes_fields_and_merged_cells() -> None:
    data = with_body(
        word(),
        """<w:p><w:r><w:t>Around.</w:t></w:r><w:r><mc:AlternateContent
        xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"><mc:Choice Requires="wps"><w:drawing>
        <w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent></w:drawing></mc:Choice><mc:Fallback>
        <w:pict><w:txbxContent><w:p><w:r><w:t>In the box.</w:t></w:r></w:p></w:txbxContent></w:pict></mc:Fallback>
        </mc:AlternateContent></w:r></w:p>
        <w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText><w:fldChar w:fldCharType="end"/>
        <w:t>Field.</w:t></w:r></w:p>
        <w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="2"/></w:tcPr><w:p><w:r><w:t>wide</w:t></w:r></w:p></w:tc></w:tr>
        <w:tr><w:tc><w:tcPr><w:vMerge/></w:tcPr><w:p/></w:tc><w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p><w:tbl><w:tr><w:tc>
        <w:p><w:r><w:t>inner</w:t></w:r></w:p></w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>""",
    )
    assert text_of(data) == "Around.\n\nIn the box.\n\nField.\n\n| wide |  |\n| --- | --- |\n|  | x inner |"


def test_notes_stand_at_the_end_in_a_part_of_their_own() -> None:
    data = with_body(
        word("End."),
        '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Top</w:t></w:r></w:p>'
        '<w:p><w:r><w:t>Said</w:t><w:footnoteReference w:id="2"/><w:t> so</w:t>'
        '<w:footnoteReference w:id="9"/></w:r></w:p>',
    )
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    members["word/_rels/document.xml.rels"] = members["word/_rels/document.xml.rels"].replace(
        b"</Relationships>",
        f'<Relationship Id="n" Type="{relation}" Target="footnotes.xml"/>'
        '<Relationship Id="bad" Type="x/image" Target="NULL"/></Relationships>'.encode(),
    )
    members["word/footnotes.xml"] = (
        f'<w:footnotes {namespace}><w:footnote w:id="1"><w:p><w:r><w:t>unused</w:t></w:r></w:p></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>By Ana.</w:t></w:r></w:p></w:footnote></w:footnotes>'
    ).encode()
    document = read_docx(zipped(members), "a.docx")
    assert document.content == "# Top\n\nSaid[^1] so[^2]\n\nEnd.\n\n[^1]: By Ana."
    assert [part.headings for part in document.parts] == [("Top",), ()]
    assert document.content[document.parts[1].start :] == "[^1]: By Ana."


def test_documents_with_macros_and_of_the_strict_standard() -> None:
    data = word("Olá.")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    transitional = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    members["word/document.xml"] = members["word/document.xml"].replace(
        transitional, b"http://purl.oclc.org/ooxml/wordprocessingml/main"
    )
    members["[Content_Types].xml"] = members["[Content_Types].xml"].replace(
        b"vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
        b"vnd.ms-word.document.macroEnabled.main+xml",
    )
    members["word/vbaProject.bin"] = b"MsgBox"
    assert text_of(zipped(members)) == "Olá."


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b"PK\x03\x04 cut off", DamagedSource, "not a valid zip file.*save it again"),
        (b"not a zip at all", DamagedSource, "save it again"),
        (zipped({"a.txt": "x"}), DamagedSource, r"lacks '_rels/.rels'.*save it again"),
        (zipped({"[Content_Types].xml": "<x/>", "_rels/.rels": "<x/>"}), DamagedSource, "names no main document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), EncryptedSource, "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"WordDocument", UnsupportedSource, r"old Word document \(\.doc\)"),
        (word(), EmptySource, "holds no text.*OCR"),
        (edited(word("x"), document=lambda text: text[: len(text) // 2]), DamagedSource, "not a valid Word document"),
        (edited(word("x"), document=lambda text: "<a/>"), DamagedSource, "not a valid Word document"),
        (
            with_body(word("x"), "<w:tbl><w:tr><w:tc>" * 200 + "</w:tc></w:tr></w:tbl>" * 200),
            DamagedSource,
            "not a valid Word document",
        ),
        (zipped({"../evil": "x"}), DamagedSource, "points outside.*save it again"),
    ],
)
def test_bad_files(tmp_path: Path, data: bytes, error: type[SourceError], match: str) -> None:
    path = tmp_path / "report.docx"
    path.write_bytes(data)
    with pytest.raises(error, match=rf"report\.docx.*{match}"):
        read_file(path)


def test_a_bomb() -> None:
    data = with_body(word("x"), f"<w:p><w:r><w:t>{' ' * 30_000_000}</w:t></w:r></w:p>")
    with pytest.raises(DamagedSource, match=r"200 times its size.*save it again"):
        read_docx(data, "a.docx")
    with pytest.raises(SourceTooLarge, match="max_file_size"):
        read_docx(word("x" * 50_000), "a.docx", ReadContext(ReadLimits(max_file_size=20_000)))


def test_entities_are_not_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t")
    declaration = f'<!DOCTYPE d [<!ENTITY a SYSTEM "{secret.as_uri()}"><!ENTITY b "bomb">]>'
    data = with_body(word("Seen."), "<w:p><w:r><w:t>&a;&b;</w:t></w:r></w:p>")
    data = edited(data, document=lambda text: text.replace("<w:document", declaration + "<w:document", 1))
    content = text_of(data)
    assert "Seen." in content
    assert not any(word in content for word in ("s3cr3t", "bomb"))


@examples(30)
@given(st.integers(0, 10_000), st.integers(0, 255), st.sampled_from(["document", "styles", "numbering"]))
def test_a_damaged_part_never_crashes(position: int, value: int, name: str) -> None:
    def damage(text: str) -> str:
        place = position % len(text)
        return text[:place] + chr(value) + text[place + 1 :]

    try:
        document = read_docx(edited(manual(), **{name: damage}), "a.docx")
    except SourceError:
        return
    assert document.content == document.content.strip()


@examples(30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["Normal", "Heading 1", "Heading 2", "List Bullet", "List Number", "Title"]),
            st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60),
        ),
        max_size=12,
    )
)
def test_parts_and_chunks_cover_the_content(paragraphs: list[tuple[str, str]]) -> None:
    document = Word()
    for style, text in paragraphs:
        document.add_paragraph(text, style=style)
    try:
        read = read_docx(saved(document), "a.docx")
    except EmptySource:
        return
    assert "".join(read.content[part.start : part.end] for part in read.parts) == read.content
    for chunk in SplitterByType(80, 10).split(read):
        assert read.content[chunk.start : chunk.end] == chunk.content
