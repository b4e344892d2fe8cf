"""E-books: chapters in order, titles from the contents, and what locked and hostile ones are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_files import epub, zipped
from property_settings import examples
from reading_here import read_file

from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource, EncryptedSource, SourceError
from answerable.sources.office.epub import read_epub
from answerable.splitting.by_type import SplitterByType

NAV = """<nav epub:type="toc"><ol><li><a href="../one.xhtml">Uno</a><ol><li><a href="../two.xhtml#x">Dos</a></li></ol>
</li><li><a href="../three%20b.xhtml">Três</a></li></ol></nav><nav epub:type="landmarks"><ol><li><a href="../one.xhtml">
Start</a></li></ol></nav>"""
NAV_ITEM = '<item id="nav" href="toc/nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
NCX_ITEM = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
SPINE_OF_NAV = '<itemref idref="nav"/>'


def page(body: str) -> str:
    return f'<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>{body}</body></html>'


def test_a_book() -> None:
    metadata = (
        "<dc:title>Cien días</dc:title><dc:creator>Ana Núñez</dc:creator><dc:creator>João</dc:creator>"
        "<dc:language>es-MX</dc:language><dc:date>2019-05-01T00:00:00Z</dc:date>"
    )
    chapters = {
        "one.xhtml": '<h1 id="a">Uno</h1><p>La bomba <a id="n"/>cuesta <b>300</b> euros.'
        '<span epub:type="pagebreak">12</span></p>',
        "two.xhtml": "<p>Motto</p><h2>Dos</h2><ul><li>x</li></ul>",
        "three b.xhtml": "<p>Fim.</p>",
    }
    document = read_epub(
        epub(chapters, metadata, NAV_ITEM, SPINE_OF_NAV, extra={"OEBPS/toc/nav.xhtml": page(NAV)}), "/x/book.epub"
    )
    assert document.content == "# Uno\n\nLa bomba cuesta 300 euros.\n\nMotto\n\n## Dos\n\n- x\n\n# Três\n\nFim."
    assert (document.title, document.type, document.language) == ("Cien días", DocumentType.EPUB, "es")
    assert document.metadata == {"author": "Ana Núñez, João", "date": "2019-05-01"}
    assert [(part.headings, part.anchor) for part in document.parts] == [
        (("Uno",), "a"),
        (("Uno", "Dos"), None),
        (("Três",), None),
    ]
    assert document.content[document.parts[1].start :].startswith("Motto")
    chunks = SplitterByType().split(document)
    assert [str(chunk.location) for chunk in chunks] == ["Uno", "Uno › Dos", "Três"]


def test_notes_in_the_chapter_and_at_the_end_of_the_book() -> None:
    chapters = {
        "one.xhtml": '<h1>Wells</h1><p>It was dug<a epub:type="noteref" href="#a1">1</a> by hand.</p>'
        '<aside epub:type="footnote" id="a1"><p>In one summer.</p></aside>'
        '<p>It is dry<a href="end%20notes.xhtml#b2" id="r2"><sup>2</sup></a>.</p>',
        "end notes.xhtml": '<h1>Notes</h1><p id="b2"><a href="one.xhtml#r2">2</a>. Since 1911.</p>',
    }
    assert read_epub(epub(chapters), "/x/wells.epub").content == (
        "# Wells\n\nIt was dug[^1] by hand.\n\n[^1]: In one summer.\n\nIt is dry[^2].\n\n# Notes\n\n[^2]: Since 1911."
    )


def test_titles_with_marked_words_are_whole() -> None:
    nav = '<nav epub:type="toc"><ol><li><a href="../one.xhtml">The <i>Art</i> of War</a></li></ol></nav>'
    files = {"OEBPS/toc/nav.xhtml": page(nav)}
    book = read_epub(epub({"one.xhtml": "<p>Text.</p>"}, "", NAV_ITEM, SPINE_OF_NAV, extra=files), "/x/book.epub")
    assert [part.headings for part in book.parts] == [("The Art of War",)]


def test_titles_from_the_contents_of_epub_2() -> None:
    ncx = """<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">
    <ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Chapter 1</text></navLabel>
    <content src="a.xhtml"/></navPoint><navPoint><navLabel><text>Chapter 2</text></navLabel><content src="b.xhtml#p"/>
    </navPoint></navMap></ncx>"""
    chapters = {
        "a.xhtml": "<p>CHAPTER 1</p><p>It rains.</p>",
        "a2.xhtml": "<p>Still.</p>",
        "b.xhtml": "<h3>Sun</h3><p>x</p>",
    }
    document = read_epub(epub(chapters, manifest=NCX_ITEM, extra={"OEBPS/toc.ncx": ncx}), "book.epub")
    assert document.content == "# Chapter 1\n\nIt rains.\n\nStill.\n\n### Sun\n\nx"
    assert [part.headings for part in document.parts] == [("Chapter 1",), ("Sun",)]


def test_cover_and_contents_are_left_out() -> None:
    guide = '<reference type="cover" href="cover.xhtml"/><reference type="toc" href="list.xhtml"/>'
    chapters = {"cover.xhtml": "<p>Cover</p>", "list.xhtml": "<p>1</p>", "a.xhtml": "<h1>A</h1><p>b</p>"}
    assert read_epub(epub(chapters, guide=guide), "a.epub").content == "# A\n\nb"


def encryption(algorithm: str, path: str) -> dict[str, str | bytes]:
    return {
        "META-INF/encryption.xml": '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData>'
        f'<e:EncryptionMethod Algorithm="{algorithm}"/><e:CipherData><e:CipherReference URI="{path}"/></e:CipherData>'
        "</e:EncryptedData></encryption>"
    }


AES = "http://www.w3.org/2001/04/xmlenc#aes256-cbc"
SPINE_OUTSIDE = '<item id="evil" href="../../etc/passwd.html" media-type="text/html"/>'


@pytest.mark.parametrize(
    ("data", "error", "match"),
    [
        (b"PK\x03\x04 cut off", DamagedSource, "not a valid zip file.*Calibre"),
        (b"no zip", DamagedSource, "Calibre"),
        (zipped({"a.txt": "x"}), DamagedSource, "no package file.*Calibre"),
        (zipped({"META-INF/container.xml": "", "x.opf": "<p/>"}), DamagedSource, "container.xml.*Calibre"),
        (zipped({"x.opf": "<package/>"}), DamagedSource, "names no chapters"),
        (epub(extra=encryption(AES, "OEBPS/one.xhtml")), EncryptedSource, "DRM"),
        (epub(manifest=SPINE_OUTSIDE, spine='<itemref idref="evil"/>'), DamagedSource, "points outside the book"),
        (
            epub(extra={"META-INF/container.xml": '<c><rootfile full-path="/etc/x"/></c>'}),
            DamagedSource,
            "points outside",
        ),
        (epub(extra={"../evil": "x"}), DamagedSource, "points outside"),
        (epub({"a.xhtml": "<img src='x.png'/>"}), EmptySource, "holds no text.*OCR"),
        (
            epub(manifest='<item id="x" href="gone.xhtml" media-type="text/html"/>', spine='<itemref idref="x"/>'),
            DamagedSource,
            "lacks 'OEBPS/gone.xhtml'",
        ),
        (epub({"a.xhtml": "<b>" * 20_000}), DamagedSource, "nests its elements"),
        (epub({"a.xhtml": " " * 30_000_000}), DamagedSource, "200 times its size"),
    ],
)
def test_bad_books(tmp_path: Path, data: bytes, error: type[SourceError], match: str) -> None:
    path = tmp_path / "book.epub"
    path.write_bytes(data)
    with pytest.raises(error, match=rf"(?s)book\.epub.*{match}"):
        read_file(path)


def test_scrambled_fonts_are_no_lock() -> None:
    extra = encryption("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    assert "300 euros" in read_epub(epub(extra=extra), "a.epub").content


def test_entities_are_not_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cr3t")
    declaration = f'<!DOCTYPE package [<!ENTITY a SYSTEM "{secret.as_uri()}"><!ENTITY b "bomb">]>'
    chapter = declaration + page("<p>Seen&a;&b;</p>")
    data = epub(metadata="<dc:title>T&a;&b;</dc:title>", extra={"OEBPS/one.xhtml": chapter})
    document = read_epub(data, "a.epub")
    assert "Seen" in document.content
    assert not any(word in document.content + document.title for word in ("s3cr3t", "bomb"))


def test_a_book_in_an_archive(tmp_path: Path) -> None:
    path = tmp_path / "all.zip"
    path.write_bytes(zipped({"shelf/book.epub": epub()}))
    (document,) = read_file(path)
    assert (document.type, document.source) == (DocumentType.EPUB, f"{path.as_posix()}!/shelf/book.epub")


BLOCKS = st.sampled_from(["<h1>{}</h1>", "<h2>{}</h2>", "<p>{}</p>", "<ul><li>{}</li></ul>", "{}", "<pre>{}</pre>"])
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<&"), max_size=20)


@examples(60)
@given(st.lists(st.lists(st.tuples(BLOCKS, TEXTS), max_size=5), min_size=1, max_size=5), st.booleans())
def test_parts_cover_the_content(chapters: list[list[tuple[str, str]]], with_contents: bool) -> None:
    files = {
        f"{number}.xhtml": "".join(block.format(text) for block, text in blocks)
        for number, blocks in enumerate(chapters)
    }
    links = "".join(f'<li><a href="../{name}">T {name}</a></li>' for name in files)
    extra: dict[str, str | bytes] = {"OEBPS/toc/nav.xhtml": page(f'<nav epub:type="toc"><ol>{links}</ol></nav>')}
    try:
        document = read_epub(epub(files, manifest=NAV_ITEM if with_contents else "", extra=extra), "a.epub")
    except EmptySource:
        return
    assert "".join(document.content[part.start : part.end] for part in document.parts) == document.content
    for chunk in SplitterByType(80, 10).split(document):
        assert document.content[chunk.start : chunk.end] == chunk.content
