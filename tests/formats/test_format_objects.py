"""Test that one object defines a format: how its files are recognised, read, split and cited."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from answerable.answering.citations import cite_spans
from answerable.datatypes import Document, DocumentType
from answerable.errors import ReaderFailed
from answerable.formats.built_in import FORMATS
from answerable.formats.format import WITH_LINES, Format, Places, Reader
from answerable.formats.registry import format_of, suffixes, usual_format, with_format
from answerable.sources.dispatch import read_bytes

CITED_BY_LINES = {"text", "markdown", "code", "records", "rst", "org", "asciidoc", "latex", "whatsapp", "pdf"}


def test_each_name_and_suffix_is_of_one_format() -> None:
    names = [form.name for form in FORMATS]
    assert len(set(names)) == len(names)
    listed = [suffix for form in FORMATS if not form.needs_marks for suffix in form.suffixes]
    assert len(set(listed)) == len(listed)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes())
    for form in FORMATS:
        assert (form.read is None) is (form.read_members is not None), form.name
        assert form.marks or not form.needs_marks, form.name


def test_only_the_files_own_text_is_cited_by_lines() -> None:
    assert {form.name for form in FORMATS if form.places in WITH_LINES} == CITED_BY_LINES
    for kind in DocumentType:
        document = Document("d", "A line.\nAnother line.\n", "/in/a.file", type=kind)
        (citation,) = cite_spans(document, [(8, 21)])
        assert (citation.location.lines is not None) is (format_of(document).places in WITH_LINES), kind
    export = Document("d", "Ana: hello\n", "/in/a.json", type=DocumentType.CHAT, metadata={"app": "Slack"})
    (citation,) = cite_spans(export, [(0, 10)])
    assert (citation.location.lines, citation.link) == (None, "file:///in/a.json")


@pytest.mark.parametrize(
    ("source", "metadata", "lines"),
    [
        ("/in/a.leaf", {"format": "leaf"}, None),
        ("/in/a.leaf#3", {"format": "leaf"}, None),
        # Words of a file's front matter, or of who made the document.
        ("/in/a.md", {"format": "docx"}, (1, 1)),
        ("/in/README", {"format": "leaf"}, (1, 1)),
        ("/in/a.leaf", {}, (1, 1)),
    ],
)
def test_a_document_of_a_plugin_that_is_gone_is_cited_without_lines(
    source: str, metadata: dict[str, str], lines: tuple[int, int] | None
) -> None:
    (citation,) = cite_spans(Document("d", "Oak leaves.", source, metadata=metadata), [(0, 3)])
    assert citation.location.lines == lines
    assert citation.link.endswith(Path(source).name.replace("#", "%23") if lines is None else "#L1")


def failing(error: Exception) -> Format:
    """A format whose reader raises this."""

    def read(data: bytes, source: str, context: object) -> Document:
        raise error

    return Format(name="leaf", suffixes=(".leaf",), read=read, places=Places.PARTS)


@pytest.mark.parametrize("error", [TypeError("no len()"), AttributeError("x"), KeyError("title"), ValueError("3")])
def test_an_error_in_a_readers_code_is_named_as_one(error: Exception) -> None:
    with pytest.raises(ReaderFailed) as raised:
        read_bytes(b"x", "/in/a.leaf", known=failing(error))
    told = f"/in/a.leaf: the reader of leaf failed ({type(error).__name__}: {error}): please report it, or leave"
    assert str(raised.value).startswith(told)


@pytest.mark.parametrize("error", [zlib.error("invalid block"), RecursionError("too deep"), MemoryError()])
def test_what_is_the_files_fault_is_not_named_so(error: Exception) -> None:
    with pytest.raises(type(error)):
        read_bytes(b"x", "/in/a.leaf", known=failing(error))


def test_a_reader_returns_one_document_or_several() -> None:
    one = Document("d", "Oak.", "/in/a.leaf")
    made: list[Reader] = [lambda data, source, context: one, lambda data, source, context: [one]]
    for read in made:
        assert read_bytes(b"x", "/in/a.leaf", known=Format(name="leaf", read=read, places=Places.LINES)) == [one]


def test_a_format_without_a_type_of_its_own_is_told_by_its_documents() -> None:
    leaf = Format(name="leaf", read=lambda data, source, context: Document("d", "Oak.", source), places=Places.PARTS)
    (document,) = read_bytes(b"x", "/in/a.leaf", known=leaf)
    assert document.metadata == {"format": "leaf"}
    (citation,) = cite_spans(document, [(0, 3)])
    assert (citation.location.lines, citation.link) == (None, "file:///in/a.leaf")


def test_documents_of_formats_with_one_type_are_cited_split_and_shown_by_their_own() -> None:
    for form in FORMATS:
        if form.kind not in (None, DocumentType.CHAT):
            document, usual = with_format(Document("d", "x", type=form.kind), form), usual_format(form.kind)
            same = (usual.places, usual.split, usual.markdown) == (form.places, form.split, form.markdown)
            assert document.metadata == ({} if same else {"format": form.name}), form.name
            told = format_of(document)
            assert (told.places, told.split, told.markdown) == (form.places, form.split, form.markdown), form.name
