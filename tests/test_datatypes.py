"""Test the datatypes: ids, hashes, descriptions of locations, and immutability."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

import answerable.datatypes
from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind, Reason, chunk_id, document_id
from answerable.text.indexed_text import indexed_text

NIGHT = datetime(2024, 3, 5, 21, 15)


def test_ids_are_the_same_in_another_process() -> None:
    document = Document.from_text("Año: ñ 日本 👍🏽", source="/a", author="Ana", year=2024)
    code = (
        "from answerable.datatypes import Document\n"
        "d = Document.from_text('Año: ñ 日本 👍🏽', source='/a', author='Ana', year=2024)\n"
        "print(d.id, d.content_hash)"
    )
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
        assert run.stdout.split() == [document.id, document.content_hash]


def test_an_id_follows_from_source_and_content_unless_given() -> None:
    assert Document.from_text("a").id == document_id("", "a") == Document.from_text("a", title="T").id
    assert Document.from_text("a", source="/x").id == document_id("/x", "a") != document_id("", "a")
    assert document_id("a", "b") != document_id("ab", "")
    assert Document.from_text("a", "mine").id == "mine"
    assert Document.from_text("a", doc_id="").id == document_id("", "a")
    assert len(document_id("", "a")) == len(chunk_id("d", 0, "a")) == 32
    assert len({chunk_id("d", 0, "a"), chunk_id("d", 1, "a"), chunk_id("e", 0, "a"), chunk_id("d", 0, "b")}) == 4


def test_metadata_is_kept_and_known_fields_are_taken_from_it() -> None:
    document = Document.from_text("a", title="T", source="/s", language="es", type="markdown", author="Ana", year=2024)
    assert (document.title, document.source, document.language) == ("T", "/s", "es")
    assert document.type is DocumentType.MARKDOWN
    assert document.metadata == {"author": "Ana", "year": 2024}
    assert Document.from_text("a", title=None, source=None).title == ""


def test_what_cannot_be_a_document_is_an_error() -> None:
    with pytest.raises(ValueError, match="lone surrogate at character 2"):
        Document.from_text("ab\ud800")
    with pytest.raises(ValueError, match="hologram"):
        Document.from_text("a", type="hologram")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_other_text_is_kept_as_it_is(text: str) -> None:
    document = Document.from_text(text)
    assert document.content == text
    assert document.content_hash == Document.from_text(text).content_hash


def test_the_content_hash_changes_with_what_is_indexed() -> None:
    base = Document.from_text("a", title="T", author="Ana")
    changed = [
        replace(base, content="b"),
        replace(base, title="U"),
        replace(base, type=DocumentType.MARKDOWN),
        replace(base, metadata={"author": "Luis"}),
        replace(base, metadata={}),
    ]
    assert len({document.content_hash for document in [base, *changed]}) == 6
    assert replace(base, id="other", source="/elsewhere").content_hash == base.content_hash
    one, other = (Document.from_text("a", **metadata) for metadata in ({"x": 1, "y": 2}, {"y": 2, "x": 1}))
    assert one.content_hash == other.content_hash


def test_places_in_words() -> None:
    cases: list[tuple[Location, str]] = [
        (Location((7, 7)), "line 7"),
        (Location((10, 14)), "lines 10-14"),
        (Location(None), ""),
        (Location((1, 2), pages=(3, 3)), "page 3"),
        (Location((1, 2), pages=(3, 5)), "pages 3-5"),
        (Location((10, 14), headings=("Guide", "Setup")), "Guide › Setup, lines 10-14"),
        (Location(None, headings=("Guide",)), "Guide"),
        (Location((1, 1), times=(NIGHT, NIGHT), senders=("Ana",)), "2024-03-05 21:15, Ana"),
        (Location((1, 1), times=(NIGHT, NIGHT)), "2024-03-05 21:15"),
        (
            Location((1, 9), times=(NIGHT, NIGHT + timedelta(hours=3)), senders=("Ana", "Luis", "Eva", "Max")),
            "2024-03-05 21:15 to 2024-03-06 00:15, Ana, Luis, Eva, …",
        ),
        (
            Location((1, 9), times=(NIGHT, NIGHT + timedelta(seconds=30)), senders=("A", "B", "C")),
            "2024-03-05 21:15, A, B, C",
        ),
    ]
    failed = [(location, got) for location, words in cases if (got := str(location)) != words]
    assert failed == []


def test_a_place_is_said_in_other_words() -> None:
    words = {"to": "a", "line": "línea", "page": "página"}
    assert Location((10, 14), headings=("Casa",)).said(words) == "Casa, líneas 10-14"
    assert Location(None, pages=(3, 3), seconds=(5.0, 65.0)).said(words) == "0:05 a 1:05, página 3"
    assert Location(None, pages=(2, 2), unit=PartKind.CELL).said(words) == "cell 2"


def test_what_is_indexed_has_the_context_before_the_content() -> None:
    chunk = Chunk("c", "d", "text", 0, 4, 0, Location(None))
    assert indexed_text(chunk) == "text"
    assert indexed_text(replace(chunk, context="Title")) == "Title\ntext"


def test_names_are_their_values() -> None:
    assert f"{DocumentType.PDF} {PartKind.PAGE} {Reason.WEAK_EVIDENCE}" == "pdf page weak evidence"


def test_every_datatype_is_frozen_and_slotted() -> None:
    types = [kind for kind in vars(answerable.datatypes).values() if isinstance(kind, type) and is_dataclass(kind)]
    assert len(types) >= 7
    for kind in types:
        assert kind.__dataclass_params__.frozen, kind
        assert not hasattr(kind, "__dict__") or "__slots__" in vars(kind), kind
        assert set(kind.__slots__) == {field.name for field in fields(kind)}
    with pytest.raises(FrozenInstanceError):
        Part(0, 1, PartKind.PAGE).start = 2  # type: ignore[misc]
