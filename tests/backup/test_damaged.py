"""Files that aren't exports, or not any more: each is refused with the place that is wrong, and nothing is taken in."""

from __future__ import annotations

import json
import random
import re
import struct
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
from helpers import HashEmbedder
from made_exports import Change, changed, fill, members, write

from answerable.errors import LibraryError, LibraryFormatError
from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.protocols import Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export."""
    folder = tmp_path_factory.mktemp("export")
    with closing(EmbeddedStore(folder / "source")) as store:
        fill(store)
        export_store(store, folder / "library.zip")
    return folder / "library.zip"


@pytest.fixture
def export(made: Path, tmp_path: Path) -> Path:
    """A copy of it that may be changed."""
    copy = tmp_path / "library.zip"
    copy.write_bytes(made.read_bytes())
    return copy


def refused(path: Path) -> str:
    """What the error says; no library is even opened."""

    def make() -> Store:
        raise AssertionError("it was opened")

    with pytest.raises(LibraryError) as raised:
        import_store(path, make)
    text = str(raised.value)
    assert path.name in text
    assert text.endswith(("export the library again.", "answerable export made.", "Use the version that made it."))
    return text


def in_line(number: int, **values: Any) -> Change:
    """Changes values of one line; `document__title` is the title in the document, None for a value takes it away."""

    def change(data: bytes) -> bytes:
        lines = data.splitlines()
        row = json.loads(lines[number - 1])
        for name, value in values.items():
            *outer, last = name.split("__")
            inner = row
            for key in outer:
                inner = inner[key]
            inner[last] = value
            if value is None:
                del inner[last]
        lines[number - 1] = json.dumps(row).encode()
        return b"\n".join(lines) + b"\n"

    return change


def line(number: int, text: bytes) -> Change:
    """Puts a text in the place of a line."""

    def change(data: bytes) -> bytes:
        lines = data.splitlines()
        lines[number - 1] = text
        return b"\n".join(lines) + b"\n"

    return change


def row(number: int, value: float, size: int = 4) -> Change:
    """Fills a row of 64 numbers of an array."""

    def change(data: bytes) -> bytes:
        kind, format = (np.float32, "<f4") if size == 4 else (np.int8, "|i1")
        start = 128 + 64 * size * (number - 1)
        return data[:start] + np.full(64, value, kind).astype(format).tobytes() + data[start + 64 * size :]

    return change


NESTED = b'{"document":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
DEEP = b'{"document":{"id":"x","content":"","metadata":{"a":' + b"[" * 500 + b"]" * 500 + b'}},"chunks":0}'
WRONG: dict[str, tuple[str, Change, str]] = {
    "no JSON": ("documents.jsonl", line(2, b"{"), r"documents.jsonl, line 2"),
    "no object": ("documents.jsonl", line(1, b"[]"), r"line 1: it isn't a JSON object"),
    "not UTF-8": ("documents.jsonl", line(3, b'{"document":"\xff"}'), r"line 3: .*utf-8"),
    "half a character": ("documents.jsonl", in_line(1, document__title="\ud800"), r"line 1: .*surrogate"),
    "half a character in a key": ("chunks.jsonl", in_line(1, terms={"\udc00": 1}), r"line 1: .*surrogate"),
    "nested deeply": ("documents.jsonl", line(1, NESTED), r"line 1: it is nested too deeply"),
    "metadata nested deeply": ("documents.jsonl", line(1, DEEP), r"line 1: it is nested too deeply"),
    "a huge number": ("chunks.jsonl", line(1, b'{"start":' + b"9" * 100_000 + b"}"), r"chunks.jsonl, line 1"),
    "an infinite place": ("chunks.jsonl", line(1, b'{"start":1e999}'), r"line 1: ChunkRow has no document_id"),
    "a place that is no number": ("chunks.jsonl", in_line(1, start="0"), r"line 1: ChunkRow.start can't be '0'"),
    "a place that is true": ("chunks.jsonl", in_line(1, start=False), r"ChunkRow.start can't be False"),
    "a place that is NaN": ("chunks.jsonl", in_line(1, start=float("nan")), r"ChunkRow.start can't be nan"),
    "a title that is a list": ("documents.jsonl", in_line(1, document__title=[1]), r"document.title can't be list"),
    "an unknown field": ("documents.jsonl", in_line(1, document__path="/etc"), r"document has an unknown field 'path'"),
    "an unknown type": ("documents.jsonl", in_line(1, document__type="exe"), r"'exe' is not a valid DocumentType"),
    "no id": ("documents.jsonl", in_line(1, document__id=""), r"line 1: it has no id"),
    "out of order": ("documents.jsonl", in_line(1, document__source="/zz"), r"line 2: it is out of order"),
    "twice": ("documents.jsonl", in_line(5, document__id="chat"), r"line 5: .*repeated"),
    "too few chunks": ("documents.jsonl", in_line(4, chunks=2), r"chunks.jsonl, line 6: it isn't number 0 of"),
    "too many chunks": ("documents.jsonl", in_line(5, chunks=99), r"chunks.jsonl: it ends before the last chunk"),
    "endlessly many chunks": ("documents.jsonl", in_line(5, chunks=10**30), r"chunks.jsonl: it ends before"),
    "another text": ("documents.jsonl", in_line(4, document__content="x" * 900), r"line 4: its text or id isn't that"),
    "another place": ("chunks.jsonl", in_line(4, start=1), r"line 4: its text or id isn't that"),
    "a place before the text": ("chunks.jsonl", in_line(4, start=-5), r"line 4: its text or id isn't that"),
    "a place behind the text": ("chunks.jsonl", in_line(4, end=10**15), r"line 4: its text or id isn't that"),
    "another chunk's id": ("chunks.jsonl", in_line(4, id="0" * 32), r"line 4: its text or id isn't that"),
    "another document's chunk": ("chunks.jsonl", in_line(4, document_id="a"), r"line 4: it isn't number 0 of"),
    "a part outside": (
        "documents.jsonl",
        in_line(3, document__parts=[{"start": 0, "end": 10**6, "kind": "message"}]),
        r"line 3: a part of it lies outside",
    ),
    "parts out of order": (
        "documents.jsonl",
        in_line(3, document__parts=[{"start": 3, "end": 9, "kind": "page"}, {"start": 0, "end": 4, "kind": "page"}]),
        r"line 3: its parts aren't in order",
    ),
    "a time that is none": (
        "chunks.jsonl",
        in_line(3, parts=[{"start": 0, "end": 1, "kind": "page", "time": "x"}]),
        "3",
    ),
    "lines that are none": ("chunks.jsonl", in_line(4, location={"lines": [1]}), r"location.lines can't be list"),
    "a sentence outside": ("chunks.jsonl", in_line(4, sentences=[[0, 10**6]]), r"a sentence lies outside"),
    "other rows": ("chunks.jsonl", in_line(4, rows=10**12), r"numbers of sentences and of sentence vectors differ"),
    "a term that isn't there": ("chunks.jsonl", in_line(4, terms={"x": 0}), r"the count of a term is below 1"),
    "fields as they aren't": (
        "chunks.jsonl",
        in_line(4, fields={"source": "/B"}),
        r"fields aren't in the form that filters",
    ),
    "a vector of NaN": ("vectors.npy", row(3, float("nan")), r"vectors.npy, row 3: the length of a vector isn't 1"),
    "an infinite vector": ("vectors.npy", row(1, float("inf")), r"vectors.npy, row 1: the length of a vector"),
    "a long vector": ("vectors.npy", row(8, 3e38), r"vectors.npy, row 8: the length of a vector isn't 1"),
    "a sentence's long vector": ("sentence_vectors.npy", row(2, 127, 1), r"sentence_vectors.npy, of line 2"),
    "another type of number": (
        "vectors.npy",
        lambda data: data.replace(b"<f4", b">f4"),
        r"vectors.npy: its type or shape isn't",
    ),
    "records out of order": ("records.jsonl", in_line(1, source="zz"), r"records.jsonl, line 2: it is out of order"),
    "a time without a zone": ("records.jsonl", in_line(1, seen="2024-01-01"), r"line 1: the time has no time zone"),
    "a validator that is none": ("records.jsonl", in_line(1, validators={"a": 1}), r"validators.a can't be 1"),
    "one record less": ("records.jsonl", lambda data: data.split(b"\n")[0] + b"\n", r"the number of records isn't"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found_though_the_hashes_fit(export: Path, name: str) -> None:
    member, change, expected = WRONG[name]
    path = changed(export, {member: change})
    assert path.read_bytes() != export.read_bytes()
    assert re.search(expected, refused(path))


def test_the_unchanged_export_is_taken(export: Path) -> None:
    """Also when it was packed again by another tool."""
    for path in (export, write(export.with_name("again.zip"), members(export))):
        store = MemoryStore()
        assert import_store(path, lambda store=store: store).copied == 5  # type: ignore[misc]


def test_a_file_that_is_cut_off_or_has_another_byte_is_refused(export: Path) -> None:
    data, chance = export.read_bytes(), random.Random(7)
    for length in (0, 1, 21, len(data) // 3, len(data) // 2, len(data) - 200, len(data) - 1):
        export.write_bytes(data[:length])
        assert "can't be imported" in refused(export)
    accepted = 0
    for _ in range(300):
        place = chance.randrange(len(data))
        export.write_bytes(data[:place] + bytes([data[place] ^ 1 << chance.randrange(8)]) + data[place + 1 :])
        store = MemoryStore()
        try:
            import_store(export, lambda store=store: store)  # type: ignore[misc]
            accepted += 1
            assert store.count() == (5, 8)
        except LibraryError:
            assert store.count() == (0, 0)
    # What says how a zip was made and where it comes from may be anything.
    assert accepted < 60


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda found: {**found, "../../evil": b"x"}, "doesn't hold exactly"),
        (lambda found: {**found, "/etc/passwd": b"x"}, "doesn't hold exactly"),
        (lambda found: {name: found[name] for name in found if name != "chunks.jsonl"}, "doesn't hold exactly"),
        (lambda found: {**found, "documents.jsonl": found["documents.jsonl"] + b" "}, "documents.jsonl has"),
        (lambda found: {**found, "records.jsonl": found["records.jsonl"].replace(b'"ab"', b'"ba"')}, "SHA-256"),
        (lambda found: {**found, "manifest.json": b"{}"}, "format"),
        (lambda found: {**found, "manifest.json": b'{"format":1}'}, "manifest.json: it doesn't list the members"),
        (lambda found: {**found, "manifest.json": b'{"format":1,' + b" " * 200_000 + b"}"}, "manifest.json"),
        (
            lambda found: {**found, "manifest.json": found["manifest.json"].replace(b":64", b":-4")},
            "impossible dimension",
        ),
        (lambda found: {**found, "manifest.json": found["manifest.json"].replace(b":64", b":63")}, "can't have"),
        (lambda found: {**found, "manifest.json": found["manifest.json"].replace(b":8,", b":-8,")}, "negative"),
    ],
)
def test_a_zip_of_something_else_is_refused(export: Path, change: Any, expected: str) -> None:
    assert expected in refused(write(export, change(members(export))))


def test_a_file_of_another_format_is_named_so(export: Path) -> None:
    found = members(export)
    found["manifest.json"] = found["manifest.json"].replace(b'"format":1', b'"format":99')
    with pytest.raises(LibraryFormatError, match="has format 99"):
        import_store(write(export, found), MemoryStore)


def test_members_that_are_there_twice_or_packed_otherwise_are_refused(export: Path) -> None:
    found = members(export)
    with pytest.warns(UserWarning, match="Duplicate"), ZipFile(export, "a") as archive:
        archive.writestr("chunks.jsonl", found["chunks.jsonl"])
    assert "doesn't hold exactly" in refused(export)
    with ZipFile(export, "w", ZIP_BZIP2) as archive:
        for name, data in found.items():
            archive.writestr(name, data)
    assert "compressed as in an export" in refused(export)


def test_a_bomb_is_left_alone(export: Path) -> None:
    """What unpacks to more than it says is read no further, whoever says how much there is."""
    found = members(export)
    bomb = b" " * 300_000_000
    with ZipFile(export, "w", ZIP_DEFLATED) as archive:
        for name, data in found.items():
            archive.writestr(name, bomb if name == "documents.jsonl" else data)
    del bomb
    started = time.process_time()
    assert "documents.jsonl has 300,000,000 bytes" in refused(export)
    # The directory of the zip lies about it too.
    data = export.read_bytes()
    size = struct.pack("<I", len(found["documents.jsonl"]))
    assert struct.pack("<I", 300_000_000) in data
    export.write_bytes(data.replace(struct.pack("<I", 300_000_000), size))
    assert "documents.jsonl" in refused(export)
    assert time.process_time() - started < 2


def test_what_is_no_zip(tmp_path: Path) -> None:
    assert "There is no file" in refused(tmp_path / "nothing.zip")
    assert "There is no file" in refused(tmp_path)
    text = tmp_path / "text.zip"
    text.write_text("Hello", "utf-8")
    assert "zip" in refused(text)


def test_an_embedder_that_isnt_there_for_chunks_that_are(export: Path) -> None:
    assert HashEmbedder().fingerprint.dimension == 64
    found = members(export)
    manifest = json.loads(found["manifest.json"])
    del manifest["fingerprint"]
    found["manifest.json"] = json.dumps(manifest).encode()
    assert "no embedder" in refused(write(export, found))
