"""`answerable verify` as people and schedules run it."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result
from verification.libraries import EXAMPLES

from answerable.interfaces.cli.main import app


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    """A folder whose one file is in the library, which knows where it is: each test has it at this place."""
    folder = tmp_path_factory.mktemp("verified") / "folder"
    (folder / "files").mkdir(parents=True)
    shutil.copy(EXAMPLES / "espresso-machine-guide.md", folder / "files")
    environment = {"ANSWERABLE_CACHE_FOLDER": str(cache_folder), "XDG_CONFIG_HOME": str(folder.with_name("settings"))}
    assert run(folder, "add", str(folder / "files"), **environment).exit_code == 0
    shutil.copytree(folder, folder.with_name("kept"))
    return folder


@pytest.fixture
def folder(filled: Path) -> Path:
    """The folder as it was before any test changed it."""
    shutil.rmtree(filled)
    shutil.copytree(filled.with_name("kept"), filled)
    return filled


def run(folder: Path, *arguments: str, **environment: str) -> Result:
    return CliRunner(env=environment).invoke(
        app, [*arguments, "--library", str(folder / "library")], prog_name="answerable"
    )


def test_a_clean_library_says_what_was_checked(folder: Path) -> None:
    shown = run(folder, "verify")
    assert shown.exit_code == 0
    first, *rest = shown.stdout.splitlines()
    assert first.startswith("checked 1 document, ")
    assert ", 1 source; " in first
    assert rest == ["no differences"]


def test_what_differs_is_repaired_if_asked(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "library" / "library.db")) as connection, connection:
        connection.execute("DELETE FROM chunks WHERE sequence = 1")
    shown = run(folder, "verify")
    assert shown.exit_code == 1
    assert "espresso-machine-guide.md: 1 of " in shown.stdout
    assert "--repair rebuilds the document from its source" in shown.stdout
    as_json = run(folder, "verify", "--json")
    found = json.loads(as_json.stdout)
    assert (as_json.exit_code, found["clean"]) == (1, False)
    assert {finding["kind"] for finding in found["findings"]} == {"missing", "wrong counts"}
    repaired = run(folder, "verify", "--repair", "--embed", "all")
    assert repaired.exit_code == 0
    assert "repaired: " in repaired.stdout
    assert "all differences repaired" in repaired.stdout
    assert run(folder, "verify").exit_code == 0


def test_a_file_with_a_hostile_name_does_nothing_to_the_terminal(folder: Path) -> None:
    name = "\x1b[31m\u202egnp.md"
    (folder / "files" / name).write_text("# Red\n\nNothing but red.\n")
    run(folder, "add", str(folder / "files"))
    (folder / "files" / name).write_text("# Red\n\nNothing but green.\n")
    shown = run(folder, "verify")
    assert shown.exit_code == 1
    assert "stale: " in shown.stdout
    assert not {"\x1b", "\u202e"}.intersection(shown.stdout)


def test_a_library_that_cant_be_opened_is_damaged(folder: Path) -> None:
    path = folder / "library" / "library.db"
    path.write_bytes(path.read_bytes()[:200])
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    shown = run(folder, "verify")
    assert (shown.exit_code, shown.stdout.splitlines()[1][:8]) == (1, "damaged:")
    assert "answerable verify --repair" in shown.stdout
    shown = run(folder, "verify", "--repair")
    assert shown.exit_code == 2
    assert "nothing in it can be read. Restore it from a backup" in shown.stderr


@pytest.mark.parametrize("page", [0, 6, pytest.param(1, marks=pytest.mark.long)])
def test_a_library_with_a_damaged_page_is_told_and_made_anew(folder: Path, page: int) -> None:
    for number in range(11):
        (folder / "files" / f"{number}.md").write_text(f"# Red {number}\n\n" + "Nothing but red. " * 40)
    run(folder, "add", str(folder / "files"))
    path = folder / "library" / "library.db"
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    with path.open("r+b") as file:
        file.seek(page * 4096)
        file.write(bytes(4096))
    asked = run(folder, "ask", "What is red?")
    if asked.exit_code == 2:
        assert "answerable verify --repair" in asked.stderr
        assert asked.stderr.count("\n") == 1
    shown = run(folder, "verify", "--repair", "--json")
    assert shown.exit_code == 0, (shown.output, shown.stderr)
    assert json.loads(shown.stdout)["findings"] == []
    assert json.loads(shown.stdout)["checked"]["documents"] == 12
    assert (path.parent / "library.db.damaged").exists()
    assert run(folder, "verify").exit_code == 0
    assert run(folder, "export", str(folder / "export.zip")).exit_code == 0


@pytest.mark.parametrize("given", ["x", "-1", "1.5", ""])
def test_embed_takes_a_number_or_all(folder: Path, given: str) -> None:
    shown = run(folder, "verify", "--embed", given)
    assert shown.exit_code == 2
    assert "--embed takes a number or all" in shown.stderr


def test_no_library_is_no_difference(tmp_path: Path) -> None:
    shown = run(tmp_path, "verify")
    assert shown.exit_code == 2
    assert "There is no library at" in shown.stderr
