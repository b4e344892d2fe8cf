"""Both command lines as they are documented, in processes of their own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from book_parts import APP, ARM, KEY, LEFT_OUT, make_page, run_script, stored
from providers.scripted_server import Ending, Reply, ScriptedServer
from site_server import SiteServer

from book.store import open_collection


def test_a_book_is_ingested(site: SiteServer) -> None:
    done = run_script("main.py", "--url", site.home)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:5] == [
        "Pages: 3 of 4 in the sitemap",
        "Chunks: 5",
        "Embeddings: 5",
        "Vectors stored: 5",
        "Duplicates skipped: 0",
    ]
    assert done.stdout.endswith(f"Errors: 0\n  {LEFT_OUT}\n")
    assert len(stored()) == 3
    again = run_script("main.py", "--url", site.home, LOG_LEVEL="ERROR")
    assert (again.returncode, again.stderr) == (0, "")
    assert "Duplicates skipped: 5" in again.stdout


def test_into_a_collection_of_another_name(site: SiteServer) -> None:
    done = run_script("main.py", "--url", site.home, "--collection", "my_collection")
    assert done.returncode == 0, done.stderr
    assert stored() == {}
    with open_collection("my_collection") as collection:
        assert len(collection.pages()) == 3
    found = run_script("retrieval.py", "--query", "forward kinematics", "--collection", "my_collection")
    assert "Arms" in found.stdout


def test_a_dry_run_needs_no_keys_and_stores_nothing(
    site: SiteServer, cohere: ScriptedServer, environment: Path
) -> None:
    done = run_script("main.py", "--url", site.home, "--dry-run", COHERE_API_KEY="", QDRANT_URL="")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
    assert done.stdout.endswith(f"  {LEFT_OUT}\n")
    assert lines["Dry run"] == "nothing was stored."
    assert (lines["Pages"], lines["Chunks"], lines["Errors"]) == ("3 of 4 in the sitemap", "5", "0")
    assert int(lines["Tokens"]) > 1000
    assert lines["Embedding cost"].startswith("about $0.000")
    assert cohere.requests == []
    assert not environment.exists()


@pytest.mark.usefixtures("ingested")
def test_the_books_address_may_be_in_the_environment(site: SiteServer) -> None:
    done = run_script("main.py", BOOK_BASE_URL=site.home)
    assert done.returncode == 0, done.stderr
    assert "Pages: 3 of 4" in done.stdout
    without = run_script("main.py", "--dry-run")
    assert without.returncode == 2
    assert "BOOK_BASE_URL is not set" in without.stderr


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize("name", ["COHERE_API_KEY", "QDRANT_URL"])
@pytest.mark.parametrize("script", ["main.py", "retrieval.py"])
def test_a_missing_variable_is_named_with_status_2(site: SiteServer, script: str, name: str) -> None:
    arguments = ("--url", site.home) if script == "main.py" else ("--query", "gait")
    done = run_script(script, *arguments, **{name: ""})
    assert (done.returncode, done.stdout) == (2, "")
    assert f"The environment variable {name} is not set" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_servers_key_is_asked_for_and_that_of_a_folder_is_not(site: SiteServer) -> None:
    done = run_script("main.py", "--url", site.home, QDRANT_URL="https://qdrant.example:6333")
    assert done.returncode == 2
    assert "QDRANT_API_KEY is not set" in done.stderr
    assert run_script("main.py", "--url", site.home, QDRANT_URL=":memory:").returncode == 0


@pytest.mark.usefixtures("ingested")
def test_a_page_that_fails_makes_status_1(site: SiteServer) -> None:
    site.script("/book/docs/arm", Reply(403))
    done = run_script("main.py", "--url", site.home)
    assert done.returncode == 1
    assert "Errors: 2\n" in done.stdout
    assert f"{site.home}docs/arm" in done.stdout
    assert "Duplicates skipped: 4" in done.stdout


def test_no_sitemap_makes_status_1(site: SiteServer) -> None:
    done = run_script("main.py", "--url", f"{site.url}/elsewhere/")
    assert (done.returncode, done.stdout) == (1, "")
    assert "has no readable sitemap" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_private_address_is_refused(site: SiteServer) -> None:
    done = run_script("main.py", "--url", site.home, ANSWERABLE_ALLOW_HOSTS="")
    assert done.returncode == 1
    assert f"ANSWERABLE_ALLOW_HOSTS={site.url.removeprefix('http://')}" in done.stderr
    # What a message tells to do must be there.
    options = run_script("main.py", "--help").stdout
    assert all(option in options for option in re.findall(r"--[a-z-]+", done.stderr))
    assert site.connections == 0


@pytest.mark.usefixtures("ingested")
def test_a_question_is_answered_with_the_nearest_chunks() -> None:
    done = run_script("retrieval.py", "--query", "What is forward kinematics?")
    assert (done.returncode, done.stderr) == (0, "")
    first, address = done.stdout.splitlines()[:2]
    assert first.startswith("0.")
    assert " - Arms: # Arms ## Forward kinematics" in first
    assert address.strip() == "https://robots.example/book/docs/arm"
    nothing = run_script("retrieval.py", "--query", "zebra", "--threshold", "0.9")
    assert (nothing.returncode, nothing.stdout) == (0, "Nothing was found.\n")


@pytest.mark.usefixtures("ingested")
def test_the_validation_decides_the_status(tmp_path: Path) -> None:
    failed = run_script("retrieval.py", "--validate")
    assert failed.returncode == 1
    assert "FAIL" in failed.stdout
    assert failed.stdout.splitlines()[-1].endswith("of 3 reach 0.7)")
    passed = run_script("retrieval.py", "--validate", "--threshold", "0.01")
    assert passed.returncode == 0, passed.stdout
    assert passed.stdout.splitlines()[-1] == "Pass rate: 100% (3 of 3 reach 0.01)"
    assert [line.split(" - ")[1] for line in passed.stdout.splitlines()[:-1]] == ["Arms", "Legs", "Sensors"]
    strict = run_script("retrieval.py", "--validate", "--threshold", "0.8")
    assert strict.returncode == 1
    (tmp_path / "queries.txt").write_text("forward kinematics of joints\n\n gait \n", "utf-8")
    own = run_script("retrieval.py", "--validate", "--queries", str(tmp_path / "queries.txt"), "--threshold", "0.1")
    assert own.returncode == 0, own.stdout
    assert own.stdout.count("PASS") == 2


def test_a_validation_of_nothing_fails(tmp_path: Path) -> None:
    done = run_script("retrieval.py", "--validate")
    assert done.returncode == 1
    assert "run main.py first" in done.stdout
    (tmp_path / "empty.txt").write_text("\n", "utf-8")
    for name in ("empty.txt", "missing.txt"):
        told = run_script("retrieval.py", "--validate", "--queries", str(tmp_path / name))
        assert told.returncode == 2
        assert "one a line" in told.stderr or "with one question a line" in told.stderr


@pytest.mark.parametrize("arguments", [(), ("--query", ""), ("--query", "a", "--validate"), ("--threshold", "x")])
def test_a_command_line_that_makes_no_sense(arguments: tuple[str, ...]) -> None:
    assert run_script("retrieval.py", *arguments).returncode == 2


@pytest.mark.usefixtures("ingested")
@pytest.mark.parametrize(("level", "logs"), [("", True), ("info", True), ("DEBUG", True), ("ERROR", False)])
def test_the_level_of_the_log(site: SiteServer, level: str, logs: bool) -> None:
    # The other pages are unchanged: none needs a process to read it.
    site.remove("/book/docs/tags")
    done = run_script("main.py", "--url", site.home, LOG_LEVEL=level)
    assert done.returncode == 0
    assert ("INFO https://robots.example/book/docs/arm: 1 chunks, 0 new" in done.stderr) == logs
    assert KEY not in done.stderr + done.stdout


def test_debug_says_more_than_info(site: SiteServer) -> None:
    debug = run_script("main.py", "--url", site.home, LOG_LEVEL="DEBUG").stderr
    info = run_script("main.py", "--url", site.home, LOG_LEVEL="INFO").stderr.splitlines()
    assert len(debug.splitlines()) > 2 * len(info)
    for said in ("docs/arm: ", " bytes", "docs/long, chunk 2: ", "5 chunks embedded in "):
        assert said in debug
    assert not any("DEBUG" in line for line in info)


def test_a_level_that_is_none(site: SiteServer) -> None:
    done = run_script("main.py", "--url", site.home, LOG_LEVEL="LOUD")
    assert done.returncode == 2
    assert "LOG_LEVEL" in done.stderr
    assert site.requests == []


def test_a_page_cannot_steer_the_terminal(site: SiteServer) -> None:
    site.put("/book/docs/evil", make_page("Ev&#27;[31mil", ARM.replace("It finds", "&#27;]0;owned&#7;It finds")))
    done = run_script("main.py", "--url", site.home, LOG_LEVEL="DEBUG")
    found = run_script("retrieval.py", "--query", "forward kinematics pose of the hand")
    assert "Ev[31mil" in found.stdout
    assert not {"\x1b", "\x07"} & set(done.stdout + done.stderr + found.stdout + found.stderr)


def test_ctrl_c_ends_it_at_once(site: SiteServer) -> None:
    site.script("/book/docs/leg", Reply(200, {}, (b"<html>",), Ending.HANG))
    process = subprocess.Popen(
        [sys.executable, "main.py", "--url", site.home],
        cwd=APP,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    assert "docs/arm" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Interrupted" in said
    assert "Traceback" not in said


def test_a_reader_that_has_seen_enough_ends_it_without_a_traceback(site: SiteServer, tmp_path: Path) -> None:
    for script, *arguments in (("main.py", "--url", site.home, "--dry-run"), ("retrieval.py", "--query", "x")):
        reading, writing = os.pipe()
        os.close(reading)
        with os.fdopen(writing, "wb") as closed, (tmp_path / "errors").open("wb") as errors:
            done = subprocess.run(
                [sys.executable, script, *arguments], cwd=APP, stdout=closed, stderr=errors, timeout=120, check=False
            )
        told = (tmp_path / "errors").read_text("utf-8")
        assert (done.returncode, "Traceback" in told, "Broken" in told) == (141, False, False), told
