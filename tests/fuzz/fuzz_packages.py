"""Fuzz archives (zip, tar, compressed files), Word documents and e-books."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from docx import Document as Word
from draw import Draw
from fuzz_targets import Target
from fuzz_texts import HTML
from made_files import edited, epub, zipped
from soundness import assert_same_again, assert_sound

from answerable.datatypes import Document
from answerable.sources.archives.read import read_archive
from answerable.sources.context import Beside, ReadContext, ReadLimits
from answerable.sources.dispatch import read_bytes
from answerable.sources.formats import SAMPLE, recognise, why_unread
from answerable.sources.office.docx import read_docx
from answerable.sources.office.epub import read_epub

LIMIT = 2_000_000
LIMITS = ReadLimits(max_file_size=LIMIT)
NAMES = (
    "a.md",
    "_chat.txt",
    "folder/b.html",
    "c.csv",
    "../up.txt",
    "/etc/passwd",
    "C:\\x.txt",
    "a\\b.md",
    "x/../y.md",
    "nul\0.md",
    "\u202etxt.md",
    "ñ.md",
    "d.zip",
    "e.docx",
    "mimetype",
    ".hidden.md",
    "folder/",
    "a" * 3_000 + ".md",
)
CONTENTS = (
    "# Title\n\nText.\n",
    "12/31/21, 10:00 PM - Ana: hello\n",
    "a,b\n1,2\n3,4\n",
    "\0",
    "0" * 100_000,
    "word ",
    "\n",
)
MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
WORD_XML = (
    "<w:p><w:r><w:t>Text</w:t></w:r></w:p>",
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p>',
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="99999999999"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>i',
    '<w:p><w:pPr><w:outlineLvl w:val="-3"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>',
    '<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/><w:vMerge/></w:tcPr><w:p/></w:tc></w:tr></w:tbl>',
    "<w:tbl><w:tr><w:tc>",
    "</w:tc></w:tr></w:tbl>",
    '<w:r><w:footnoteReference w:id="1"/></w:r>',
    "<w:ins><w:p>",
    "</w:p></w:ins>",
    "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>joined</w:t></w:r></w:p>",
    "<w:sdt><w:sdtContent>",
    "</w:sdtContent></w:sdt>",
    "<w:p><w:r><w:pict><w:txbxContent>",
    "</w:txbxContent></w:pict></w:r></w:p>",
    "<w:r><w:tab/><w:br/><w:t/></w:r>",
    '<w:fldSimple w:instr="x"><w:fldChar w:fldCharType="begin"/><w:instrText>PAGE</w:instrText>',
    '<w:r><w:rPr><w:strike/><w:vertAlign w:val="superscript"/></w:rPr><w:t>2</w:t></w:r>',
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:default w:val="x"/></w:checkBox></w:ffData>',
    '<w:ffData><w:ddList><w:result w:val="-9"/><w:listEntry w:val="a"/></w:ddList></w:ffData>',
    "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent><w:r><w:t>Click here</w:t></w:r></w:sdtContent></w:sdt>",
    '<w:sym w:font="Wingdings" w:char="F0FEF0FE"/>',
    f"<m:oMath {MATH}><m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num>",
    "<m:sSup><m:e/><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:f></m:oMath>",
    f'<m:nary {MATH}><m:naryPr><m:chr m:val="{{0}}"/></m:naryPr><m:sub/></m:nary>',
    '<w:sectPr><w:headerReference w:type="default" r:id="rId1"/><w:footerReference r:id="x"/></w:sectPr>',
    "&a;",
    "<!-- c -->",
    "<?pi x?>",
    "</w:body>",
)
LISTS_XML = (
    '<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1.%9 %2"/>',
    '<w:start w:val="99999999999999999999"/><w:isLgl/><w:lvlRestart w:val="-1"/><w:suff w:val="tab"/></w:lvl>',
    '<w:lvl w:ilvl="-1"><w:numFmt w:val="lowerLetter"/><w:pStyle w:val="Heading1"/></w:lvl>',
    '<w:numStyleLink w:val="Heading1"/>',
    "</w:abstractNum>",
    '<w:num w:numId="1"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="x"/>',
    "</w:lvlOverride></w:num>",
    "&a;",
)
STYLES_XML = (
    '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/><w:basedOn w:val="Heading1"/></w:style>',
    '<w:style w:styleId="B"><w:basedOn w:val="A"/></w:style><w:style w:styleId="A"><w:basedOn w:val="B"/></w:style>',
    '<w:style w:type="paragraph"><w:pPr><w:outlineLvl w:val="x"/></w:pPr></w:style>',
    "<w:style>",
    "</w:style>",
)
BOOK_XML = (
    "<dc:title>T</dc:title>",
    "<dc:language>x-klingon-é</dc:language>",
    "<dc:date>9999-99-99</dc:date>",
    "<dc:creator>A",
    '<item id="nav" href="one.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
    '<item id="c0" href="../../../etc/passwd" media-type="application/xhtml+xml"/>',
    '<item id="c0" href="//host/x" media-type="text/html"/>',
    '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
    '<itemref idref="c0"/>',
    '<reference type="cover" href="%2e%2e/x"/>',
    "</metadata>",
    "<manifest>",
    "&a;",
)
NAV_XML = (
    "<nav epub:type='toc'>",
    "<ol><li>",
    "<a href='one.xhtml#x'>One</a>",
    "<a href='../../../x'>Up</a>",
    "</li></ol>",
    "</nav>",
    "<navPoint><navLabel><text>N</text></navLabel><content src='one.xhtml'/>",
    "</navPoint>",
)


def _word() -> bytes:
    document = Word()
    document.add_heading("Title", 1)
    document.add_paragraph("item", style="List Bullet")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


WORD = _word()


def spoilt(draw: Draw, data: bytes) -> bytes:
    """The file with some of its bytes changed, cut or repeated; half of the time as it is."""
    for _ in range(draw.number(4) if draw.number(1) else 0):
        place = draw.number(65_535) % max(len(data), 1)
        match draw.number(3):
            case 0:
                data = data[:place] + draw.take(1) + data[place + 1 :]
            case 1:
                # Sizes, offsets and counts are numbers of four bytes.
                number = struct.pack("<I", draw.pick((0, 1, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, place)))
                data = data[:place] + number + data[place + 4 :]
            case 2:
                data = data[:place]
            case _:
                data = data[:place] + data[place // 2 :]
    return data


def _archive(draw: Draw) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for _ in range(1 + draw.number(5)):
            info = zipfile.ZipInfo("x")
            # Set afterwards: it would mend them.
            info.filename = info.orig_filename = draw.pick(NAMES)
            info.compress_type = draw.pick((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA))
            info.external_attr = draw.pick((0, 0o120777 << 16, 0o100644 << 16))
            info.create_system = 3
            archive.writestr(info, draw.text(CONTENTS, 4).encode("utf-8", "surrogatepass"))
    return buffer.getvalue()


def _zip(draw: Draw) -> None:
    _attempt(spoilt(draw, _archive(draw)) if draw.number(3) else draw.rest(), "/in/a.zip")


def _attempt(data: bytes, name: str) -> None:
    """Read an archive: its documents are sound, and what is unpacked is within the limit and the archive."""
    context = ReadContext(LIMITS)
    members: list[tuple[str, bytes]] = []

    def read(data: bytes | Document, source: str, *, beside: Beside | None = None, **_: Any) -> list[Document]:
        assert isinstance(data, bytes)
        members.append((source.partition("!/")[2], data))
        return read_bytes(data, source, replace(context, beside=beside))

    for document in read_archive(data, name, read, context):
        assert_sound(document)
        assert document.source.startswith(f"{name}!/")
    assert sum(len(content) for _, content in members) <= LIMIT
    assert not any(name.startswith("/") or ".." in name.split("/") for name, _ in members)


def _tar_archive(draw: Draw) -> bytes:
    buffer = io.BytesIO()
    form = draw.pick((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    with tarfile.open(fileobj=buffer, mode="w", format=form, encoding="utf-8", errors="replace") as archive:
        for _ in range(1 + draw.number(5)):
            info = tarfile.TarInfo(draw.pick(NAMES)[: 90 if form == tarfile.USTAR_FORMAT else None])
            info.type = draw.pick(
                (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE, b"V", b"x", b"L")
            )
            if form == tarfile.PAX_FORMAT and not draw.number(3):
                info.pax_headers = {draw.pick(("path", "size", "GNU.sparse.map", "mtime")): draw.pick(("-1", "9", "x"))}
            content = draw.text(CONTENTS, 4).encode("utf-8", "surrogatepass")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def _tar(draw: Draw) -> None:
    if draw.number(3):
        data = draw.pick((bytes, gzip.compress, bz2.compress, lzma.compress))(spoilt(draw, _tar_archive(draw)))
        data = spoilt(draw, data)
    else:
        data = draw.rest()
    name = draw.pick(("/in/a.tar", "/in/a.tar.gz", "/in/a.bz2", "/in/a.xz"))
    if not why_unread(data[:SAMPLE], name, None) and recognise(data[:SAMPLE], name).is_archive:
        _attempt(data, name)


def _docx(draw: Draw) -> None:
    data = WORD if draw.number(7) else draw.rest()
    if data is WORD:
        body, styles = _xml(draw, WORD_XML), _xml(draw, STYLES_XML) if draw.number(1) else ""
        lists = _xml(draw, LISTS_XML) if draw.number(1) else ""
        declared = '<!DOCTYPE d [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;">]>' if not draw.number(9) else ""
        data = edited(
            WORD,
            document=lambda text: text.replace("<w:document", f"{declared}<w:document", 1).replace(
                "<w:body>", f"<w:body>{body}", 1
            ),
            styles=lambda text: text.replace("<w:style ", f"{styles}<w:style ", 1),
            numbering=lambda text: text.replace("<w:abstractNum ", f"{lists}<w:abstractNum ", 1),
        )
    data = spoilt(draw, data)
    assert_same_again(partial(read_docx, data, "/in/a.docx", ReadContext(LIMITS)))


def _epub(draw: Draw) -> None:
    if not draw.number(7):
        data = draw.rest()
    else:
        chapters = {
            name: _xml(draw, HTML) for name in ("one.xhtml", "two.xhtml", "../three.xhtml")[: 1 + draw.number(2)]
        }
        extra: Mapping[str, str | bytes] = {"OEBPS/toc.ncx": f"<ncx>{_xml(draw, NAV_XML)}</ncx>"}
        data = epub(
            {name: body.replace("{", "").replace("}", "") for name, body in chapters.items()},
            metadata=_xml(draw, BOOK_XML),
            manifest=_xml(draw, BOOK_XML),
            guide=_xml(draw, NAV_XML),
            extra=extra,
        )
    assert_same_again(partial(read_epub, spoilt(draw, data), "/in/a.epub", ReadContext(LIMITS)))


def _xml(draw: Draw, grammar: tuple[str, ...]) -> str:
    """A text that a zip archive takes as UTF-8."""
    return draw.text(grammar, 12).encode("utf-8", "replace").decode()


TARGETS = {
    "zip": Target(_zip, (b"\x01" * 40, b"\0" + zipped({"a.md": "# A", "b.txt": "text"}))),
    "tar": Target(_tar, (b"\x01" * 40, b"\0" + gzip.compress(b"text"))),
    "docx": Target(_docx, (b"\x01" * 60, b"\0" + WORD)),
    "epub": Target(_epub, (b"\x01" * 60, b"\0" + epub())),
}
