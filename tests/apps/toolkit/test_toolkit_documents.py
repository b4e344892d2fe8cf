"""Documents from texts and from files of every kind."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolkit_parts import embed_words, example, locked_pdf, small_pdf

from answerable.datatypes import DocumentType as EngineType
from answerable.errors import AnswerableError, DamagedSource, EmptySource, EncryptedSource, SourceNotFound
from codomyrmex.llm.rag import Document, DocumentType, RAGPipeline, RecursiveTextSplitter
from codomyrmex.llm.rag._documents import type_of

TEXT = "Olá, São Paulo.\nAção à noite: 20 €.\n"


def test_from_text_keeps_the_text_and_the_metadata() -> None:
    document = Document.from_text("Hello.\r\n", "d1", author="Ana", date="2024-03-05")
    assert (document.id, document.content, document.doc_type) == ("d1", "Hello.\r\n", DocumentType.TEXT)
    assert document.metadata == {"author": "Ana", "date": "2024-03-05"}


def test_an_id_that_is_not_given_follows_from_source_and_text() -> None:
    one, same = Document.from_text("Hello.", source="a"), Document.from_text("Hello.", source="a", author="Ana")
    assert one.id == same.id
    assert len({one.id, Document.from_text("Hello.").id, Document.from_text("Bye.", source="a").id}) == 3


def test_source_and_type_are_taken_from_the_metadata() -> None:
    document = Document.from_text("# Hi", source="notes", doc_type="markdown")
    assert (document.source, document.doc_type) == ("notes", DocumentType.MARKDOWN)
    assert document.metadata["source"] == "notes"
    with pytest.raises(ValueError, match="letter"):
        Document.from_text("Hi", doc_type="letter")


def test_a_text_that_is_no_unicode_is_refused() -> None:
    with pytest.raises(ValueError, match="lone surrogate at character 1"):
        Document.from_text("a\ud800b")


@pytest.mark.parametrize(
    ("name", "text", "doc_type"),
    [
        ("a.md", "# Title\n\nText.", DocumentType.MARKDOWN),
        ("a.py", "def run() -> None:\n    pass\n", DocumentType.CODE),
        ("a.csv", "name,price\nsaw,12\n", DocumentType.TEXT),
    ],
)
def test_files_of_text_are_read_as_they_are(tmp_path: Path, name: str, text: str, doc_type: DocumentType) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    document = Document.from_file(str(tmp_path / name))
    assert (document.content, document.doc_type) == (text, doc_type)
    assert document.source == (tmp_path / name).as_posix()


BOOKMARKS = '<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<TITLE>B</TITLE><DL><p><DT><A HREF="https://a.example/">Saws</A></DL>'
NOTEBOOK = '{"cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# Saws"]}], "metadata": {}, "nbformat": 4}'
OUTLINE = '<opml version="2.0"><head><title>T</title></head><body><outline text="Saws"/></body></opml>'
TIMED = "00:00:01{0}000 --> 00:00:02{0}000\nSaws\n"
OF_EACH_FORMAT = {
    "a.rst": ("Saws\n====\n\nText.\n", "text"),
    "a.org": ("* Saws\nText.\n", "text"),
    "a.adoc": ("= Saws\n\nText.\n", "text"),
    "a.tex": ("\\section{Saws}\nText.\n", "text"),
    "a.ipynb": (NOTEBOOK, "markdown"),
    "a.srt": ("1\n" + TIMED.format(","), "text"),
    "a.vtt": ("WEBVTT\n\n" + TIMED.format("."), "text"),
    "a.opml": (OUTLINE, "markdown"),
    "bookmarks.html": (BOOKMARKS, "markdown"),
    "a.ics": ("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Saws\nEND:VEVENT\nEND:VCALENDAR\n", "text"),
    "a.vcf": ("BEGIN:VCARD\nVERSION:3.0\nFN:Saws\nEND:VCARD\n", "text"),
    "a.eml": ("From: a@b.example\nSubject: Saws\nMessage-ID: <1@b.example>\n\nText.\n", "text"),
    "a.rtf": ("{\\rtf1 Saws}", "markdown"),
    "a.json": ('{"name": "Saws"}', "text"),
    "a.txt": ("Saws", "text"),
}


def test_a_file_of_any_format_that_the_engine_reads_has_a_type(tmp_path: Path) -> None:
    wrong = {}
    for name, (text, doc_type) in OF_EACH_FORMAT.items():
        (tmp_path / name).write_text(text, "utf-8")
        for encoding in ("utf-8", "latin-1"):
            document = Document.from_file(str(tmp_path / name), encoding)
            if document.doc_type.value != doc_type or "Saws" not in document.content:
                wrong[name, encoding] = document
            RAGPipeline(embed_words).index_document(document)
    assert not wrong
    # A plug-in may give any.
    kinds = [*map(str, EngineType), "blueprint", ""]
    assert {kind: type_of(kind) for kind in kinds if isinstance(type_of(kind), DocumentType)}.keys() == set(kinds)
    assert (type_of("pdf"), type_of("epub"), type_of("blueprint")) == (
        DocumentType.PDF,
        DocumentType.MARKDOWN,
        DocumentType.TEXT,
    )


def test_html_is_read_as_what_it_shows() -> None:
    document = example("horta-na-varanda.html")
    assert document.doc_type is DocumentType.HTML
    assert "<p>" not in document.content
    assert document.metadata["language"] == "pt"
    assert document.metadata["title"]


def test_pdf_is_parsed_and_its_chunks_know_their_pages(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(small_pdf(["The first page.", "The second page.", "The third page."]))
    document = Document.from_file(str(tmp_path / "a.pdf"))
    assert document.doc_type is DocumentType.PDF
    assert document.content == "The first page.\fThe second page.\fThe third page."
    chunks = RecursiveTextSplitter(20, 0).split(document)
    assert [(chunk.content, chunk.metadata["pages"], chunk.metadata["place"]) for chunk in chunks] == [
        ("The first page.", [1], "page 1"),
        ("The second page.", [2], "page 2"),
        ("The third page.", [3], "page 3"),
    ]


def test_a_real_pdf_says_what_it_is() -> None:
    document = example("riverside-library-rules.pdf")
    assert document.metadata["title"] == "Rules of the Riverside Tool Library"
    assert document.metadata["format"] == "pdf"
    assert "36 euros a year" in document.content


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"", EmptySource),
        (locked_pdf(), EncryptedSource),
        pytest.param(small_pdf([""]), EmptySource, marks=pytest.mark.long),
        pytest.param(b"%PDF-1.4\nbroken beyond repair", DamagedSource, marks=pytest.mark.long),
    ],
)
def test_a_pdf_without_text_says_why(tmp_path: Path, data: bytes, error: type[AnswerableError]) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(error, match=r"a\.pdf"):
        Document.from_file(str(tmp_path / "a.pdf"))


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        ("a.html", "utf-8"),
        ("a.html", "cp1252"),
        ("a.md", "utf-8-sig"),
        ("a.md", "utf-16"),
        ("a.txt", "cp1140"),
        pytest.param("a.txt", "utf-16-le", marks=pytest.mark.long),
        pytest.param("a.txt", "cp858", marks=pytest.mark.long),
    ],
)
def test_the_encoding_that_is_given_comes_first(tmp_path: Path, name: str, encoding: str) -> None:
    text = f"<html><meta charset='iso-8859-15'><body><p>{TEXT}</p></body></html>" if name == "a.html" else TEXT
    (tmp_path / name).write_bytes(text.encode(encoding))
    content = Document.from_file(str(tmp_path / name), encoding=encoding).content
    assert " ".join(TEXT.split()) in " ".join(content.split())


@pytest.mark.parametrize(("written", "given"), [("cp1252", "utf-8"), ("utf-8", "ascii")])
def test_an_encoding_that_does_not_fit_is_detected(tmp_path: Path, written: str, given: str) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT.encode(written))
    assert Document.from_file(str(tmp_path / "a.txt"), encoding=given).content == TEXT


def test_a_pdf_has_no_encoding(tmp_path: Path) -> None:
    (tmp_path / "named-otherwise.txt").write_bytes(small_pdf(["The first page."]))
    assert Document.from_file(str(tmp_path / "named-otherwise.txt"), "latin-1").content == "The first page."


def test_an_encoding_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text", "utf-8")
    with pytest.raises(LookupError, match="utf-99"):
        Document.from_file(str(tmp_path / "a.txt"), encoding="utf-99")


@pytest.mark.parametrize(
    ("name", "kind", "data"),
    [
        ("a.txt", "text", b" \n\t\r\n"),
        ("a.md", "markdown", " \n".encode("utf-16")),
        ("a.html", "html", b"\xef\xbb\xbf"),
        ("a.py", "code", b""),
        ("a", "text", b""),
    ],
)
def test_an_empty_file_is_an_empty_document(tmp_path: Path, name: str, kind: str, data: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    document = Document.from_file(str(path))
    assert (document.content, document.source, document.doc_type) == ("", path.as_posix(), kind)


@pytest.mark.parametrize(("name", "data"), [("a.docx", b""), ("a.html", b"<html><body></body></html>")])
def test_what_should_have_a_text_and_has_none_is_told(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(EmptySource):
        Document.from_file(str(tmp_path / name))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_a_missing_file_is_missing_to_python_too(tmp_path: Path, encoding: str) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is nothing at .*gone\.txt: check the path") as caught:
        Document.from_file(str(tmp_path / "gone.txt"), encoding)
    assert isinstance(caught.value, SourceNotFound)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="give its files one by one"):
        Document.from_file(str(tmp_path))


def test_a_binary_file_is_refused_whatever_the_encoding(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    for encoding in ("utf-8", "latin-1"):
        with pytest.raises(AnswerableError, match=r"a\.txt is a binary file"):
            Document.from_file(str(tmp_path / "a.txt"), encoding)


def test_a_file_that_changes_keeps_its_id(tmp_path: Path) -> None:
    path, versions = tmp_path / "a.txt", []
    for text in ("The key hangs behind the door.", "It lies under the mat.", ""):
        path.write_text(text, "utf-8")
        versions.append(Document.from_file(str(path)))
    assert len({version.id for version in versions}) == 1
    pipeline = RAGPipeline(embed_words)
    assert pipeline.index_documents([versions[0], versions[2]]) == 0
    assert pipeline.retrieve("key") == []
