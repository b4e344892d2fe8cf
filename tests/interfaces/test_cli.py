"""The command line: what it prints for people and for programs, and how it ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import COMMAND, EXAMPLES, plain, run_command, run_here, run_in_terminal
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, embeddings
from typer.testing import CliRunner, Result

import answerable
from answerable.answering.messages import QUOTING
from answerable.interfaces.cli.main import app

GUIDE = EXAMPLES / "espresso-machine-guide.md"
CHAT = EXAMPLES / "Chat de WhatsApp con Viaje a Oaxaca.txt"
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
PLACE = {"lines", "pages", "headings", "anchor", "times", "senders"}
COUNTS = ("added", "changed", "moved", "unchanged", "removed", "kept", "chunks")

Invoke = Callable[..., Result]


@pytest.fixture
def call() -> Invoke:
    """Runs the command in this process."""
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, [str(one) for one in arguments], prog_name="answerable")


@pytest.fixture
def called(call: Invoke, example_library: Path) -> Invoke:
    """Runs the command on the library of the examples."""
    return lambda *arguments: call(*arguments, "--library", example_library)


def printed(result: Result) -> Any:
    """The one JSON object that was printed."""
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return json.loads(result.stdout)


def assert_one_error(result: Result | subprocess.CompletedProcess[str], status: int, *parts: str) -> None:
    """One clear line on the error stream, nothing else, and the exit status."""
    code = result.exit_code if isinstance(result, Result) else result.returncode
    assert code == status, (result.stdout, result.stderr)
    assert re.fullmatch(r"error: \S.*\n", result.stderr), result.stderr
    for part in parts:
        assert part in result.stderr


def assert_candidates(result: Result, *parts: str) -> None:
    """An error that lists what a name may mean, one line for each."""
    assert (result.exit_code, result.stdout) == (2, "")
    error, *candidates = result.stderr.splitlines()
    assert re.fullmatch(rf"error: {len(parts)} documents match '.+'\. Give more of the name or path, or the id:", error)
    assert len(candidates) == len(parts)
    for part in parts:
        assert any(part in candidate for candidate in candidates), part
    assert all(re.match("    [0-9a-z]", candidate) for candidate in candidates)


# add


def test_add_shows_a_summary(call: Invoke, tmp_path: Path) -> None:
    library = tmp_path / "library"
    first = call("add", EXAMPLES, "--library", library)
    assert (first.exit_code, first.stderr) == (0, "")
    assert re.fullmatch(r"added {9,}4\npassages {5,}\d+\n", first.stdout)
    assert len({len(line) for line in first.stdout.splitlines()}) == 1
    second = call("add", EXAMPLES, "--library", library)
    assert re.fullmatch(r"added +0\nunchanged +4\n", second.stdout)


def test_add_as_json(call: Invoke, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "note.txt").write_text("The meeting is on Monday.")
    (tmp_path / "notes" / "program.exe").write_bytes(b"\x7fELF" + bytes(100))
    found = printed(call("add", tmp_path / "notes", "--library", tmp_path / "library", "--json"))
    assert set(found) == {*COUNTS, "skipped", "passed_over", "failed", "partly", "seconds"}
    assert (found["added"], found["chunks"], found["skipped"], found["failed"]) == (1, 1, {"unsupported": 1}, [])
    program = str(tmp_path / "notes" / "program.exe")
    assert found["passed_over"] == [{"source": program, "reason": "unsupported"}]


def test_what_is_passed_over_is_counted_by_ending_and_named(call: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "note.txt").write_text("The meeting is on Monday.")
    (folder / "empty.txt").touch()
    for number in range(7):
        (folder / f"{number}.exe").write_bytes(b"\x7fELF" + bytes(100))
    (folder / "sound.mid").write_bytes(b"MThd" + bytes(100))
    library = tmp_path / "library"
    lines = call("add", folder, "--library", library).stdout.splitlines()
    assert lines[-3:] == [
        "skipped: 1 empty, 8 unsupported (7 .exe, 1 .mid)",
        "  empty: empty.txt",
        "  unsupported: 0.exe, 1.exe, 2.exe, 3.exe, 4.exe and 3 more (all with --json)",
    ]
    found = printed(call("sync", "--library", library, "--json"))
    assert len(found["total"]["passed_over"]) == 9
    again = ("--library", tmp_path / "again", "--workers", 2, "--json")
    told = printed(call("add", folder, *again))["passed_over"]
    assert {Path(each["source"]).name for each in told} >= {"empty.txt", "sound.mid", "6.exe"}


def test_dry_run_shows_tokens_and_time_and_makes_nothing(call: Invoke, tmp_path: Path) -> None:
    library = tmp_path / "library"
    found = printed(call("add", EXAMPLES, "--library", library, "--dry-run", "--json"))
    assert found["added"] == 4
    assert found["tokens"] > 1000
    assert found["estimated_seconds"] > 0
    shown = call("add", EXAMPLES, "--library", library, "--dry-run")
    assert shown.exit_code == 0
    assert re.search(r"^would add +4$", shown.stdout, re.M)
    assert re.search(r"^tokens +\d,\d{3}$", shown.stdout, re.M)
    assert "about " in shown.stdout
    assert not library.exists()


def test_one_bad_file_among_good_ones(call: Invoke, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(5):
        (folder / f"{number}.txt").write_text(f"Note {number}.")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nbroken")
    library = tmp_path / "library"
    result = call("add", folder, tmp_path / "missing.txt", "--library", library)
    assert result.exit_code == 1
    assert re.search(r"^added +5$", result.stdout, re.M)
    assert re.search(r"^failed +2$", result.stdout, re.M)
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert "broken.pdf" in lines[0]
    assert re.fullmatch(r"error: There is nothing at \S+/missing\.txt: check the path", lines[1])
    assert len(printed(call("list", "--library", library, "--json"))["documents"]) == 5
    failed = json.loads(call("add", folder, "--library", library, "--json").stdout)["failed"]
    assert [set(failure) for failure in failed] == [{"source", "code", "error"}]


# ask and search


@pytest.mark.parametrize(
    ("question", "quoted", "place"),
    [
        ("¿Cuál es el código de la reserva?", "GLD-4471", "Oaxaca.txt, 2024-03-03 10:02, Julián"),
        ("How long does the warranty last?", "24 months", "espresso-machine-guide.md, "),
        ("Quando a alface fica pronta?", "quarenta e cinco dias", "horta-na-varanda.html, "),
        ("How many tools may I borrow?", "tools", "riverside-library-rules.pdf, page "),
    ],
)
def test_answers_show_quotes_with_their_place(called: Invoke, question: str, quoted: str, place: str) -> None:
    result = called("ask", question)
    assert (result.exit_code, result.stderr) == (0, "")
    quotes, places = result.stdout.split("\n\n")
    assert quoted in quotes
    lead, first = quotes.splitlines()[:2]
    assert lead in QUOTING.values()
    assert re.search(r"”? \[1\]$", first)
    assert place in places
    assert "    file:///" in places


def test_a_saved_page_is_cited_by_its_file_with_its_address_beside(call: Invoke, tmp_path: Path) -> None:
    page = tmp_path / "Pond.html"
    text = "<p>The pond behind the mill is two metres deep.</p>"
    page.write_text(f"<!DOCTYPE html><!-- saved from url=(0024)https://mill.example/pond --><html>{text}</html>")
    library = str(tmp_path / "library")
    call("add", page, "--library", library)
    shown = call("ask", "How deep is the pond behind the mill?", "--library", library).stdout
    assert re.search(
        rf"Pond\.html\n    {re.escape(page.as_uri())}#\S+\n    saved from https://mill\.example/pond\n", shown
    )
    (citation,) = printed(call("ask", "How deep is the pond behind the mill?", "--library", library, "--json"))[
        "citations"
    ]
    assert citation["web_address"] == "https://mill.example/pond"
    assert citation["link"].startswith(page.as_uri())


def test_a_refusal_is_no_failure(called: Invoke) -> None:
    for question, refusal in {
        "Who won the football world cup in 1998?": (
            "The documents don't say.",
            r"\(weak evidence; checked \d+ passages; --why shows the nearest\)",
        ),
        "¿Quién ganó el mundial de fútbol de 1998?": (
            "Los documentos no lo dicen.",
            r"\(indicios débiles; se revisaron \d+ pasajes; --why muestra los más cercanos\)",
        ),
        "Quem ganhou a copa do mundo em 1998?": (
            "Os documentos não dizem.",
            r"\(indícios fracos; \d+ trechos analisados; --why mostra os mais próximos\)",
        ),
    }.items():
        result = called("ask", question)
        assert (result.exit_code, result.stderr) == (0, "")
        first, second = result.stdout.splitlines()
        assert first == refusal[0]
        assert re.fullmatch(refusal[1], second)
    found = printed(called("ask", "Who won the football world cup in 1998?", "--json"))
    assert (found["answered"], found["reason"], found["citations"]) == (False, "weak evidence", [])


def test_a_refusal_shows_the_nearest_passages_if_asked(called: Invoke) -> None:
    result = called("ask", "Which warranty has the football of 1998?", "-v")
    refusal, passages = result.stdout.split("\n\n", 1)
    assert refusal.startswith("The documents don't say.\n(weak evidence; checked ")
    assert "-v" not in refusal
    refused = r"Refused: the best sentence, “.+”, has a chance of (< 1|\d+) % of answering; \d+ % is needed"
    assert re.match(rf"{refused}\nThe nearest passages:\n1\. ", passages)
    assert re.search(r"^\d\. espresso-machine-guide\.md, .+  [01]\.\d{3}\n.*warranty", passages, re.M)
    # An answer has its places anyway.
    assert called("ask", "How long does the warranty last?", "-v").stdout.startswith("The documents say:")


@pytest.mark.parametrize("option", ["--why", "-v"])
def test_why_an_answer_came_out_as_it_did(called: Invoke, option: str) -> None:
    why = called("ask", "How long does the warranty last?", option).stdout
    by = r"answered by: quotes only, no model; confidence: \d+ % \(at least \d+ %\)$"
    assert re.search(rf"^Decide +.*{by}", why, re.M)
    assert re.search(r"^Read +.*words of the question not in this passage: long, last;", why, re.M)
    refused = called("ask", "¿Quién ganó el mundial de fútbol de 1998?", option).stdout
    assert re.search(r"^Rechazada: la mejor frase, «.+», tiene un .+ de probabilidad de responder", refused, re.M)
    assert refused.count("palabras de la pregunta que no están en este pasaje: ganó, mundial") == 1
    nearest = r"pasaje más cercano: .+; confianza: (< )?\d+ % \(al menos \d+ %\); puntuación de la búsqueda: 0\.\d+$"
    assert re.search(rf"^Decidir +.*resultado: indicios débiles; {nearest}", refused, re.M)


def test_quotes_have_no_marks_of_markdown(call: Invoke, tmp_path: Path) -> None:
    note = tmp_path / "pond.md"
    note.write_text(
        "# Pond\n\n> The **pond** behind the `mill` is **two metres** deep.\n\n| Fish | Price |\n|---|---|\n"
        "| **Trout** | `12 EUR` |\n"
    )
    library = ("--library", tmp_path / "library")
    call("add", note, *library)
    shown = call("ask", "How deep is the pond?", *library).stdout
    assert "“The pond behind the mill is two metres deep.” [1]" in shown.splitlines()
    found = printed(call("ask", "How deep is the pond?", *library, "--json"))
    assert "**two metres**" in found["citations"][0]["quote"]
    assert "**" not in found["text"]
    assert "Fish: Trout · Price: 12 EUR [1]" in call("ask", "What is the price of the trout?", *library).stdout
    assert "Pond The pond behind" in call("search", "pond", *library).stdout


def test_ask_as_json(called: Invoke, example_library: Path) -> None:
    found = printed(called("ask", "¿Cuál es el código de la reserva?", "--json"))
    assert set(found) == {
        *("question", "answered", "verdict", "text", "reason", "confidence", "language", "narrowing", "citations"),
        *("timings", "why"),
    }
    assert (found["answered"], found["reason"], found["language"]) == (True, "answered", "es")
    assert set(found["timings"]) == {"embedding", "retrieval", "answering", "total"}
    for citation in found["citations"]:
        place = {"source", "title", "type", "document_id", "start", "end", "location", "other_places"}
        fixed = {"quote", "link", "web_address", "answer"} | place
        assert fixed <= set(citation) <= fixed | PLACE
        document = printed(called("show", citation["document_id"], "--json"))
        assert document["content"][citation["start"] : citation["end"]] == citation["quote"]


def test_search_shows_passages(called: Invoke) -> None:
    shown = called("search", "pulgões", "-k", "2")
    assert shown.exit_code == 0
    assert re.match(r"1\. horta-na-varanda\.html, .+ › Pragas  [01]\.\d{3}\n", shown.stdout)
    assert len(shown.stdout.split("\n\n")) == 2
    assert called("search", "pulgões", "--from", "Nobody").stdout == "nothing found\n"


def test_search_as_json(called: Invoke) -> None:
    results = printed(called("search", "warranty", "-k", "3", "--json"))["results"]
    assert len(results) == 3
    for result in results:
        fixed = {"score", "content", "source", "title", "type", "document_id", "start", "end", "location"}
        fixed |= {"other_places"}
        assert fixed <= set(result) <= fixed | PLACE
    document = printed(called("show", results[0]["document_id"], "--json"))
    assert document["content"][results[0]["start"] : results[0]["end"]] == results[0]["content"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (["--from", "ANA LUCIA"], {CHAT.name}),
        (["--from", "julian", "--from", "Marta"], {CHAT.name}),
        (["--since", "2024-03-20", "--until", "2024-03-21"], {CHAT.name}),
        (["--until", "2024-03-02"], {CHAT.name}),
        (["--since", "2030-01-01"], set()),
        (["--since", "20 de marzo de 2024", "--until", "2024-03"], {CHAT.name}),
        (["--until", "february 2024"], set()),
        (["--since", "ontem"], set()),
        (["--since", "last month", "--type", "chat"], set()),
        (["--since", "el mes pasado", "--type", "chat"], set()),
        (["--since", "há 3 dias", "--until", "hoje", "--type", "chat"], set()),
        (["--since", "marzo de 2024", "--until", "mês passado", "--type", "chat"], {CHAT.name}),
        (["--source", "Riverside tool"], {"riverside-library-rules.pdf"}),
        (["--type", "pdf"], {"riverside-library-rules.pdf"}),
        (["--type", "pdf", "--type", "html"], {"riverside-library-rules.pdf", "horta-na-varanda.html"}),
        (["--source", GUIDE], {GUIDE.name}),
        (["--source", os.path.relpath(GUIDE)], {GUIDE.name}),
        (["--source", EXAMPLES], {path.name for path in EXAMPLES.iterdir() if path.suffix}),
        (["--language", "PT"], {"horta-na-varanda.html"}),
        (["--where", '{"page": {"gte": 2}}'], {"riverside-library-rules.pdf"}),
        (["--where", '{"heading": "Descaling"}', "--language", "en"], {GUIDE.name}),
    ],
)
def test_filters(called: Invoke, filters: list[str], expected: set[str]) -> None:
    results = printed(called("search", "agua water água", "-k", "100", "--json", *filters))["results"]
    assert {Path(result["source"]).name for result in results} == expected


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["ask", "x", "--where", "{"], ["not valid JSON", '{"page": {"gte": 3}}']),
        (["ask", "x", "--where", "[1]"], ["must be a JSON object"]),
        (["ask", "x", "--where", '{"page": {"near": 3}}'], ["gt, gte, lt, lte or exists"]),
        (["ask", "x", "--since", "next moon"], ["'next moon'", "2024-03-31", "yesterday"]),
        (["ask", "x", "--source", "nowhere.txt"], ["nowhere.txt", "answerable list"]),
        (["ask", "x", "--type", "film"], ["film", "See answerable ask --help."]),
        (["ask", " "], ["The question is empty"]),
        (["ask"], ["QUESTION", "See answerable ask --help."]),
        (["search", "x", "-k", "0"], ["See answerable search --help."]),
        (["search", "x", "--colour"], ["--colour"]),
        (["paint"], ["paint", "See answerable --help."]),
        (["show", "nothing"], ["No document has the id, path, file name or title 'nothing'", "answerable list"]),
        (["show", "caf\udce9"], ["No document has the id, path, file name or title 'caf?'"]),
        (["remove", ""], ["No document", "answerable list"]),
    ],
)
def test_wrong_calls_are_one_clear_line(
    call: Invoke, example_library: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], parts: list[str]
) -> None:
    monkeypatch.setenv("ANSWERABLE_LIBRARY", str(example_library))
    assert_one_error(call(*arguments), 2, *parts)


@pytest.mark.parametrize("command", [["ask", "x"], ["search", "x"], ["list"], ["show", "x"], ["remove", "x"]])
def test_a_missing_library_says_how_to_make_one(call: Invoke, tmp_path: Path, command: list[str]) -> None:
    library = tmp_path / "no library"
    result = call(*command, "--library", library)
    assert_one_error(
        result, 2, "There is no library at", f"answerable add PATH --library {shlex.quote(str(library))}\n"
    )
    assert not library.exists()
    assert_one_error(call(*command), 2, "answerable add PATH\n")


# list, show, remove, doctor


def test_list(called: Invoke) -> None:
    lines = called("list").stdout.splitlines()
    assert lines[0].split() == ["id", "type", "lang", "passages", "title", "source"]
    assert len(lines) == 5
    assert re.match(rf"[0-9a-f]{{8}} +chat +es +\d+ +Viaje a Oaxaca +{re.escape(str(CHAT))}", lines[1])
    found = printed(called("list", "--json"))
    assert set(found) == {"documents"}
    for document in found["documents"]:
        assert set(document) == {"document_id", "source", "title", "type", "language", "chunks", "characters", "added"}


def test_an_empty_library_says_how_to_fill_it(call: Invoke, tmp_path: Path) -> None:
    answerable.open(tmp_path).close()
    assert "answerable add PATH" in call("list", "--library", tmp_path).stdout
    assert printed(call("list", "--library", tmp_path, "--json")) == {"documents": []}
    assert call("ask", "¿Quién viene?", "--library", tmp_path).stdout.startswith("La biblioteca está vacía")


def test_show_by_id_by_its_beginning_and_by_path(called: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(EXAMPLES.parent)
    shown = called("show", GUIDE)
    assert shown.stdout.startswith("id        ")
    assert shown.stdout.endswith(GUIDE.read_text())
    document_id = shown.stdout.split()[1]
    for name in (document_id, document_id[:8], "examples/../examples/espresso-machine-guide.md"):
        assert called("show", name).stdout == shown.stdout
    found = printed(called("show", document_id, "--json"))
    assert set(found) == {
        *("document_id", "source", "title", "type", "language", "metadata", "chunks", "content", "left_out")
    }
    assert found["content"] == GUIDE.read_text()
    assert {frozenset(chunk) for chunk in found["chunks"]} == {frozenset({"start", "end", "location"})}


def test_show_tells_who_wrote_how_much_in_a_chat(called: Invoke) -> None:
    shown = called("show", CHAT).stdout.splitlines()
    people = [line for line in shown if line.endswith((" Marta", " Ana Lucía", " Julián")) and "█" in line]
    assert [line.split()[0] for line in people] == ["9", "9", "8"]
    assert "busiest  2024-03-03 (6), 2024-03-02 (4), 2024-03-05 (4)" in shown
    found = printed(called("show", CHAT, "--json"))["statistics"]
    assert (found["messages"], found["notices"], sum(found["by_day"].values())) == (26, 4, 26)
    assert (found["first"], found["last"]) == ("2024-03-02T18:06:00", "2024-03-20T19:24:00")


def test_a_question_that_names_somebody_says_what_it_was_narrowed_to(called: Invoke) -> None:
    assert called("ask", "¿Qué dijo Lucía sobre el hotel?").stdout.startswith("(mensajes: solo Ana Lucía)\n")
    assert called("search", "¿Qué dijo Lucía sobre el hotel?").stdout.startswith("(messages: only Ana Lucía)\n1. ")
    found = printed(called("ask", "¿Qué dijo Marta en marzo de 2024 sobre la bocina?", "--json"))["narrowing"]
    period = {"since": "2024-03-01T00:00:00", "before": "2024-04-01T00:00:00"}
    assert found == {"senders": ["Marta"], "periods": [period], "applied": True}
    fallen_back = called("ask", "¿Quién es alérgica según Julián?").stdout
    assert fallen_back.startswith("(nada pertinente en: Julián; se buscó en todo)\n")


def test_show_and_remove_find_documents_whose_file_is_gone_or_in_an_archive(call: Invoke, tmp_path: Path) -> None:
    library = tmp_path / "library"
    note = tmp_path / "note.txt"
    note.write_text("The meeting is on Monday.")
    archive = tmp_path / "chat.zip"
    subprocess.run(["python", "-m", "zipfile", "-c", archive, CHAT], check=True)
    assert call("add", note, archive, "--library", library).exit_code == 0
    note.unlink()
    assert "Monday" in call("show", note, "--library", library).stdout
    assert "GLD-4471" in call("show", archive, "--library", library).stdout
    for filter in (["--source", note], ["--source", archive]):
        results = printed(call("search", "meeting", *filter, "--library", library, "--json"))["results"]
        assert {result["source"].startswith(str(filter[1])) for result in results} == {True}
    assert call("remove", note, "--library", library).stdout.endswith(f"  {note}\n")
    assert len(printed(call("list", "--library", library, "--json"))["documents"]) == 1


def test_a_folder_is_not_another_whose_name_begins_like_it(call: Invoke, tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    for folder in ("april", "april2"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text(f"The {folder} meeting is on Monday.")
    assert call("add", tmp_path / "april", tmp_path / "april2", *place).exit_code == 0
    found = printed(call("search", "meeting", "--source", tmp_path / "april", *place, "--json"))["results"]
    assert [result["content"] for result in found] == ["The april meeting is on Monday."]


def test_a_file_name_is_enough_where_it_means_one_document(call: Invoke, tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    for folder in ("march", "april"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "notes.txt").write_text(f"The {folder} meeting is on Monday.")
    alone = tmp_path / "Gate codes.txt"
    alone.write_text("The gate opens with 4471.")
    assert call("add", tmp_path / "march", tmp_path / "april", alone, *place).exit_code == 0
    assert "opens with 4471" in call("show", "Gate codes.txt", *place).stdout
    assert "april meeting" in call("show", "april/notes.txt", *place).stdout
    for command in (["show", "notes.txt"], ["remove", "notes.txt"], ["search", "x", "--source", "notes.txt"]):
        assert_candidates(call(*command, *place), "march/notes.txt", "april/notes.txt")
    found = printed(call("search", "meeting", "--source", "april/notes.txt", *place, "--json"))["results"]
    assert [result["content"] for result in found] == ["The april meeting is on Monday."]
    # A file that was added by itself isn't followed any more.
    assert printed(call("remove", "gate codes.txt", *place, "--json")) == {
        "origin": str(alone),
        "documents": 1,
        "unerased": 0,
    }
    assert_one_error(call("show", "Gate codes.txt", *place), 2, "No document has", "answerable list")


def test_a_part_of_a_title_is_enough_where_it_means_one_document(call: Invoke, tmp_path: Path) -> None:
    place = ("--library", tmp_path / "library")
    for name, title in (("a.md", "Cuidado de la cafetera"), ("b.md", "Cuidado de la bicicleta"), ("c.md", "Huerta")):
        (tmp_path / name).write_text(f"# {title}\n\nLa limpieza de {name} es el lunes.\n")
    assert call("add", *(tmp_path / name for name in ("a.md", "b.md", "c.md")), *place).exit_code == 0
    assert "a.md es el lunes" in call("show", "CAFETERA", *place).stdout
    assert "b.md es el lunes" in call("show", "bici cuid", *place).stdout
    found = printed(call("search", "limpieza", "--source", "bicicleta", *place, "--json"))["results"]
    assert [Path(result["source"]).name for result in found] == ["b.md"]
    for command in (["show", "cuidado"], ["remove", "cuidado"], ["ask", "x", "--source", "cuidado"]):
        assert_candidates(call(*command, *place), "Cuidado de la cafetera", "Cuidado de la bicicleta")
    # Neither a part of a word nor a letter or two.
    for name in ("uerta", "hu", "cafetera bicicleta"):
        assert_one_error(call("remove", name, *place), 2, "No document has", "answerable list")
    assert printed(call("remove", "huert", *place, "--json")) == {
        "origin": str(tmp_path / "c.md"),
        "documents": 1,
        "unerased": 0,
    }


def test_remove(call: Invoke, tmp_path: Path) -> None:
    with answerable.open(tmp_path) as library:
        library.add_documents(answerable.Document.from_text(text, doc_id=text) for text in ("abc", "abd", "xyz"))
    assert_candidates(call("show", "ab", "--library", tmp_path), "abc", "abd")
    assert printed(call("remove", "xyz", "--library", tmp_path, "--json", "--forget")) == {
        "removed": "xyz",
        "unerased": 0,
    }
    assert_one_error(call("remove", "xyz", "--library", tmp_path), 2, "No document")
    assert call("remove", "abc", "--library", tmp_path).stdout.startswith("removed abc")
    assert len(printed(call("list", "--library", tmp_path, "--json"))["documents"]) == 1


def test_doctor(called: Invoke, call: Invoke, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSWERABLE_PDF_PASSWORD", "secret")
    found = printed(called("doctor", "--json"))
    assert found["answerable"] == answerable.__version__
    assert re.fullmatch(r"OpenVINO (bf16|f32)", found["embedder_runtime"])
    assert found["embedder"].startswith("local:multilingual-e5-small (384 dimensions")
    assert re.fullmatch(r"4 documents, \d+ passages \(en 2, es 1, pt 1\)", found["library_state"])
    assert "pdf_password=***" in found["settings"]
    assert "secret" not in str(found)
    shown = call("doctor", "--library", tmp_path / "none")
    assert shown.exit_code == 0
    assert re.search(r"^library state +There is no library at", shown.stdout, re.M)


def test_version(call: Invoke) -> None:
    assert call("--version").stdout == f"answerable {answerable.__version__}\n"


# Terminals, pipes, signals


def test_bars_are_shown_in_a_terminal_and_gone_at_the_end(tmp_path: Path) -> None:
    status, shown = run_in_terminal("add", EXAMPLES, "--library", tmp_path / "library", columns=100)
    assert status == 0
    # The bars are drawn ten times a second: which files they catch depends on the machine.
    assert re.search(r"file [1-4] of 4", shown)
    assert any(path.name[-20:] in shown for path in EXAMPLES.iterdir())
    assert re.search(r"\d+ passages, \d+\.\d/s, 0:00:\d\d left", shown)
    end = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", shown.rsplit("\x1b[J", 1)[-1]).split()
    assert end[:3] == ["added", "4", "passages"]


def test_a_reader_that_goes_away_is_no_error(example_library: Path) -> None:
    command = shlex.join([*COMMAND])
    for arguments in ("list", f"show {GUIDE} --json"):
        pipeline = f"set -o pipefail; {command} {arguments} --library {example_library} | head -c 1"
        done = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True)
        assert done.stderr == ""


@pytest.mark.parametrize(
    ("environment", "as_json"),
    [
        ({"PYTHONIOENCODING": "ascii"}, False),
        ({"PYTHONIOENCODING": "ascii"}, True),
        ({"LANG": "C", "LC_ALL": "C"}, False),
        pytest.param({"LANG": "C", "LC_ALL": "C"}, True, marks=pytest.mark.long),
    ],
)
def test_output_that_cannot_be_encoded(example_library: Path, environment: dict[str, str], as_json: bool) -> None:
    asked: list[str | Path] = ["ask", "¿Cuál es el código de la reserva?", "--library", example_library]
    done = run_command(*asked, *["--json"][:as_json], env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    if as_json:
        assert "código" in json.loads(done.stdout)["citations"][0]["quote"]
    else:
        assert "GLD-4471" in done.stdout


HOSTILE = (
    "The secret word is \x1b[31mswordfish\x1b[0m and [bold red]not[/bold red] \x9b2J \u202eelbisivni\u202c. " * 2
    + "[link=file:///etc/passwd]The secret place[/link] is the harbour. "
    + "Nothing else is known about the secret word or the secret place. " * 20
)


@pytest.fixture(scope="session")
def hostile_library(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "evil\x1b[2J[red]\nname\u202e.md").write_text(f"---\ntitle: T\x1b]0;owned\x07[blink]\n---\n{HOSTILE}")
    done = run_here("add", folder, "-l", folder / "library", env={"ANSWERABLE_CACHE_FOLDER": cache_folder})
    assert done.returncode == 0, done.stderr
    return folder / "library"


@pytest.mark.parametrize(
    "arguments",
    [["ask", "What is the secret word?"], ["search", "secret"], ["list"], ["show", ""], ["show", "/gone\x1b["]],
)
@pytest.mark.parametrize("json_option", [[], ["--json"]])
def test_hostile_text_does_not_reach_the_terminal(
    call: Invoke, hostile_library: Path, arguments: list[str], json_option: list[str]
) -> None:
    if arguments == ["show", ""]:
        document = printed(call("list", "--library", hostile_library, "--json"))["documents"][0]
        arguments = ["show", document["document_id"]]
    result = call(*arguments, "--library", hostile_library, *json_option)
    assert not UNSAFE.search(result.stdout + result.stderr)
    if arguments[0] == "ask" and not json_option:
        assert "[bold red]not[/bold red]" in result.stdout
    if arguments[0] == "show" and len(arguments[1]) > 20 and json_option:
        assert "\x1b[31mswordfish" in json.loads(result.stdout)["content"]


def test_hostile_text_does_not_reach_a_real_terminal(hostile_library: Path) -> None:
    for arguments in (["ask", "What is the secret word?"], ["list"]):
        _, shown = run_in_terminal(*arguments, "--library", hostile_library)
        assert not UNSAFE.search(plain(shown).replace("\r", ""))
        assert "\x1b[31m" not in shown


# So many that adding is far from done when the first are stored.
FILES = 151


def vectors_of(request: Request) -> Reply:
    """Vectors of a provider that is quick."""
    return embeddings([[1.0, 0.0]] * len(request.body["input"]))


def test_ctrl_c_leaves_the_library_whole(tmp_path: Path) -> None:
    with ScriptedServer() as server:
        # A provider that says nothing more once the first documents, which are written together, have their vectors.
        server.script("/v1/embeddings", *[vectors_of] * 6, Reply(None, ending=Ending.HANG))
        environment = {
            "OPENAI_BASE_URL": f"{server.url}/v1",
            "OPENAI_API_KEY": "none",
            "ANSWERABLE_EMBEDDER": "openai:quick",
            "ANSWERABLE_EMBEDDING_DIMENSION": "2",
            "ANSWERABLE_CACHE_FOLDER": str(tmp_path / "cache"),
        }
        folder = notes_to_remember(tmp_path)
        kept = interrupted_once_stored(folder, tmp_path / "library", environment)
        assert kept == FILES
        server.script("/v1/embeddings", vectors_of)
        assert_whole_and_gone_on_with(folder, tmp_path / "library", kept, environment)


@pytest.mark.long
def test_ctrl_c_while_the_local_model_is_at_work(tmp_path: Path, cache_folder: Path) -> None:
    # A cache without vectors, so that there is something to interrupt, but with the compiled model.
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "models").symlink_to(cache_folder / "models")
    environment = {"ANSWERABLE_CACHE_FOLDER": str(cache)}
    folder = notes_to_remember(tmp_path)
    kept = interrupted_once_stored(folder, tmp_path / "library", environment)
    assert kept == FILES
    assert_whole_and_gone_on_with(folder, tmp_path / "library", kept, environment)


def notes_to_remember(tmp_path: Path) -> Path:
    """A folder with a PDF and notes."""
    folder = tmp_path / "files"
    folder.mkdir()
    shutil.copy(EXAMPLES / "riverside-library-rules.pdf", folder / "0.pdf")
    for number in range(1, FILES):
        (folder / f"{number:03}.txt").write_text(
            f"Note {number}: " + f"the {number}th thing to remember is this. " * 12
        )
    return folder


def interrupted_once_stored(folder: Path, library: Path, environment: Mapping[str, str]) -> int:
    """Adds the folder until Ctrl-C, pressed when a few documents are stored. How many are."""
    process = subprocess.Popen(
        [*COMMAND, "add", str(folder), "--library", str(library)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    while process.poll() is None and _stored_documents(library) < 3:
        time.sleep(0.02)
    # As a terminal does it: to all processes of the command.
    os.killpg(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, ""), errors
    # On a busy machine lines of progress come first.
    assert re.search(r"^error: Interrupted\. .*\n\Z", errors, re.MULTILINE)
    return _stored_documents(library)


def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_traceback() -> None:
    code = (
        "import runpy, signal, sys\n"
        "press = lambda event, args: event == 'import' and args[0] == 'typer' and signal.raise_signal(signal.SIGINT)\n"
        "sys.addaudithook(press)\n"
        "sys.argv = ['answerable', 'list']\n"
        "runpy.run_module('answerable', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def assert_whole_and_gone_on_with(folder: Path, library: Path, kept: int, environment: Mapping[str, str]) -> None:
    """Every document that is stored has all its passages, and adding again adds the others."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        with answerable.open(library, create=False) as opened:
            for stored in opened.documents():
                assert len(opened.chunks(stored.id)) == stored.chunks
            assert opened.search("thing to remember", k=5)
    report = json.loads(run_here("add", folder, "--library", library, "--json", env=environment).stdout)
    assert (report["added"], report["unchanged"], report["failed"]) == (FILES - kept, kept, [])


def _stored_documents(library: Path) -> int:
    try:
        with sqlite3.connect(f"file:{library / 'library.db'}?mode=ro", uri=True) as database:
            return int(database.execute("SELECT count(*) FROM documents").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_a_full_device_is_one_clear_line(example_library: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*COMMAND, "list", "--library", str(example_library)], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2
    assert re.fullmatch(r"error: .*No space left on device.*\n", done.stderr)
