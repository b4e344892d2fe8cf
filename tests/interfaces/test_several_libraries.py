"""Several libraries named in one command, or opened as one from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run_here

import answerable
from answerable.errors import LibraryNotFound, LibraryReadOnly, SettingsError

BOAT = "The boat Alborada leaves the harbour at nine on Sundays."
CODES = {"boats": "The code of the door to the boats is 4471.", "houses": "The code of the door to the house is 9920."}
HEATING = "La calefacción de la casa se enciende en octubre."


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the libraries boats and houses, of a document each, and notes, which is damaged."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "notes").mkdir()
    (folder / "notes" / "library.db").write_bytes(b"no database " * 1000)
    for library, name, text in (("boats", "boat.md", BOAT), ("houses", "casa.md", HEATING)):
        (folder / name).write_text(f"# {name}\n\n{text}\n", "utf-8")
        with answerable.open(folder / library) as opened:
            opened.add(folder / name)
    return folder


def both(folder: Path) -> list[str]:
    return ["--library", str(folder / "boats"), "--library", str(folder / "houses")]


def test_each_citation_names_its_library(folder: Path) -> None:
    done = run_here("ask", "When does the Alborada leave?", *both(folder))
    assert f"“{BOAT}” [1]" in done.stdout
    assert "[1] boats: boat.md" in done.stdout
    found = json.loads(run_here("ask", "¿Cuándo se enciende la calefacción?", *both(folder), "--json").stdout)
    assert [(each["quote"], each["library"]) for each in found["citations"]] == [(HEATING, "houses")]
    assert "unavailable" not in found


def test_quotes_of_several_libraries_begin_with_the_library(tmp_path: Path) -> None:
    for library, text in CODES.items():
        (tmp_path / f"{library}.md").write_text(text, "utf-8")
        with answerable.open(tmp_path / library) as opened:
            opened.add(tmp_path / f"{library}.md")
    with answerable.open([tmp_path / library for library in CODES]) as both:
        answer = both.ask("What is the door code?")
    _, *lines = answer.text.splitlines()
    assert sorted(line[: -len(" [1]")] for line in lines) == [f"{library}: “{text}”" for library, text in CODES.items()]


def test_a_refusal_covers_all_of_them(folder: Path) -> None:
    done = run_here("ask", "Who won the football World Cup in 1998?", *both(folder))
    assert done.returncode == 0
    assert "The documents don't say." in done.stdout


def test_search_and_list_and_show(folder: Path) -> None:
    found = json.loads(run_here("search", "calefacción", *both(folder), "--json").stdout)
    assert [each["library"] for each in found["results"]] == ["houses", "boats"]
    listed = json.loads(run_here("list", *both(folder), "--json").stdout)["documents"]
    assert {each["library"] for each in listed} == {"boats", "houses"}
    assert HEATING in run_here("show", "casa.md", *both(folder)).stdout


def test_what_cannot_be_asked_is_named_in_the_language_of_the_answer(folder: Path) -> None:
    done = run_here("ask", "When does the Alborada leave?", *both(folder), "--library", folder / "notes")
    assert f"“{BOAT}” [1]" in done.stdout
    assert "without the library notes, which can't be asked" in done.stdout
    done = run_here("ask", "¿Cuándo se enciende la calefacción?", *both(folder), "--library", folder / "notes")
    assert "sin la biblioteca notes, que no se puede consultar" in done.stdout
    found = json.loads(
        run_here("ask", "When does it leave?", *both(folder), "--library", folder / "notes", "--json").stdout
    )
    assert [each["library"] for each in found["unavailable"]] == ["notes"]
    for command in (("search", "Alborada"), ("list",)):
        done = run_here(*command, *both(folder), "--library", folder / "notes")
        assert "without the library notes, which can't be asked" in done.stdout
        found = json.loads(run_here(*command, *both(folder), "--library", folder / "notes", "--json").stdout)
        assert [each["library"] for each in found["unavailable"]] == ["notes"]


def test_mistakes_are_errors(folder: Path) -> None:
    done = run_here("ask", "When?", *both(folder), "--library", folder / "nowhere")
    assert done.returncode == 2
    assert "nowhere" in done.stderr
    done = run_here("ask", "When?", *both(folder), "--library", folder / "boats")
    assert done.returncode == 2
    assert "named twice" in done.stderr
    done = run_here("mcp", "--write", *both(folder))
    assert done.returncode == 2
    assert "Only one library can be changed" in done.stderr


def test_libraries_of_other_servers_are_gone(folder: Path) -> None:
    for scheme in ("answerable+http", "answerable+https"):
        done = run_here("ask", "When?", "--library", folder / "boats", "--library", f"{scheme}://ak_secret@host/notes")
        assert done.returncode == 2
        assert f"There is no store for {scheme}://host/notes" in done.stderr
        assert "ak_secret" not in done.stderr


def test_from_python(folder: Path) -> None:
    with answerable.open([folder / "boats", folder / "houses"]) as library:
        answer = library.ask("When does the Alborada leave?")
        [citation] = answer.citations
        assert citation.library == "boats"
        assert library.document(citation.document_id).content[citation.start : citation.end] == citation.quote
        assert answer.unavailable == library.unavailable == {}
        assert library.count() == (2, 2)
        with pytest.raises(LibraryReadOnly):
            library.add(folder / "boat.md")
    with answerable.open([folder / "boats"]) as library:
        assert library.ask("When does the Alborada leave?").citations[0].library == ""
    with pytest.raises(LibraryNotFound):
        answerable.open([folder / "boats", folder / "nowhere"])
    with pytest.raises(SettingsError, match="at least one library"):
        answerable.open([])


def test_libraries_of_the_same_name_are_told_apart(folder: Path, tmp_path: Path) -> None:
    with answerable.open(tmp_path / "boats") as other:
        other.add(folder / "casa.md")
    with answerable.open([folder / "boats", tmp_path / "boats"]) as library:
        answer = library.ask("When does the Alborada leave?")
        assert answer.citations[0].library == str(folder / "boats")
