"""`answerable export`, `import` and `reindex`, as people run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import COMMAND, run_here, run_in_terminal
from providers.scripted_server import Ending, Reply, Request, ScriptedServer, embeddings

QUESTION = "How many books may I borrow?"


@pytest.fixture
def library(example_library: Path, tmp_path: Path) -> Path:
    """A library of its own with the examples."""
    return Path(shutil.copytree(example_library, tmp_path / "library"))


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server of OpenAI's protocol, whose vectors say how often each letter stands in a text."""

    def embed(request: Request) -> Reply:
        rows = np.array([[text.lower().count(letter) + 0.1 for letter in "aeiorstn"] for text in request.body["input"]])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return embeddings((rows / lengths).astype(np.float32).tolist())

    with ScriptedServer() as made:
        made.script("/v1/embeddings", embed)
        yield made


def remote(server: ScriptedServer) -> dict[str, str]:
    """The environment in which openai:letters is that server's."""
    return {
        "OPENAI_BASE_URL": f"{server.url}/v1",
        "OPENAI_API_KEY": "key",
        "ANSWERABLE_EMBEDDING_DIMENSION": "8",
    }


def test_exported_and_imported(library: Path, tmp_path: Path) -> None:
    file, again = tmp_path / "library.zip", tmp_path / "again.zip"
    done = run_here("export", file, "--library", library)
    assert re.fullmatch(r"exported 4 documents \([\d,]+ passages\), [\d,]+ bytes\n", done.stdout)
    refused = run_here("export", file, "--library", library)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--force" in refused.stderr
    done = run_here("export", file, "--library", library, "--force", "--json")
    assert json.loads(done.stdout)["bytes"] == file.stat().st_size
    done = run_here("import", file, "--library", tmp_path / "other", "--json")
    assert json.loads(done.stdout)["imported"] == 4
    done = run_here("import", file, "--library", tmp_path / "other")
    assert "0 documents (0 passages), 4 already there" in done.stdout
    assert run_here("export", again, "--library", tmp_path / "other").returncode == 0
    assert again.read_bytes() == file.read_bytes()
    asked = [run_here("ask", QUESTION, "--library", folder, "--json") for folder in (library, tmp_path / "other")]
    answers = [json.loads(done.stdout) for done in asked]
    assert answers[0]["text"] == answers[1]["text"] != ""
    assert answers[0]["citations"] == answers[1]["citations"]


def test_what_cant_be_exported_or_imported(library: Path, tmp_path: Path) -> None:
    for arguments, said in (
        (("export", tmp_path / "x.zip", "--library", tmp_path / "nothing"), "There is no library"),
        (("export", tmp_path / "nowhere" / "x.zip", "--library", library), "try again"),
        (("import", tmp_path / "x.zip", "--library", tmp_path / "new"), "There is no file"),
        (("import", library / "library.db", "--library", tmp_path / "new"), "can't be imported"),
    ):
        done = run_here(*arguments)
        assert done.returncode == 2
        assert said in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "x.zip").exists()


def test_progress_is_shown_on_a_terminal(library: Path, tmp_path: Path) -> None:
    status, shown = run_in_terminal("export", tmp_path / "library.zip", "--library", library)
    assert status == 0
    assert "4 of 4 documents" in shown
    # The count is erased at the end.
    assert re.fullmatch(r"\x1b\[J\x1b\[\?25hexported 4 documents.*\s+", shown[shown.rindex("\x1b[J") :])


def test_another_embedder(library: Path, server: ScriptedServer) -> None:
    environment = remote(server)
    tried = run_here("reindex", "--embedder", "openai:letters", "--library", library, "--dry-run", env=environment)
    assert tried.returncode == 0, tried.stderr
    assert re.match(r"would embed (\d+) of \1 passages \([\d,]+ tokens\) with openai:letters \(8 dim", tried.stdout)
    assert server.requests == []
    done = run_here("reindex", "--embedder", "openai:letters", "--library", library, env=environment)
    assert done.returncode == 0, done.stderr
    assert 'embedder = "openai:letters" and embedding_dimension = 8' in done.stdout
    assert "ANSWERABLE_EMBEDDER=openai:letters" in done.stdout
    old = run_here("ask", QUESTION, "--library", library)
    assert old.returncode == 2
    assert "the setting embedder is openai:letters" in old.stderr
    asked = run_here(
        "search", QUESTION, "--library", library, env={**environment, "ANSWERABLE_EMBEDDER": "openai:letters"}
    )
    assert asked.returncode == 0, asked.stderr
    assert asked.stdout
    again = run_here("reindex", "--embedder", "openai:letters", "--library", library, env=environment)
    assert "nothing to do" in again.stdout
    back = run_here("reindex", "--embedder", "local", "--library", library, "--json")
    assert json.loads(back.stdout)["after"]["provider"] == "local"
    assert run_here("ask", QUESTION, "--library", library).returncode == 0


def test_interrupted_gone_on_with_and_abandoned(library: Path, server: ScriptedServer) -> None:
    environment = {**os.environ, **remote(server), "ANSWERABLE_CACHE_FOLDER": str(library.parent / "cache")}
    server.script("/v1/embeddings", Reply(None, ending=Ending.HANG))
    arguments = ("reindex", "--embedder", "openai:letters", "--library", str(library))
    child = subprocess.Popen([*COMMAND, *arguments], stderr=subprocess.PIPE, text=True, env=environment)
    while not server.requests:
        assert child.poll() is None
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "run it again to go on" in said
    assert run_here("ask", QUESTION, "--library", library).returncode == 0
    other = run_here("reindex", "--embedder", "openai:others", "--library", library, env=remote(server))
    assert other.returncode == 2
    assert "openai:letters" in other.stderr
    assert "--abandon" in other.stderr
    dropped = run_here("reindex", "--abandon", "--library", library)
    assert dropped.stdout.startswith("deleted the vectors of openai:letters (8 dimensions)")
    assert run_here("reindex", "--abandon", "--library", library).stdout == "there is no unfinished reindex\n"
    nothing = run_here("reindex", "--library", library)
    assert (nothing.returncode, "--embedder NAME" in nothing.stderr) == (2, True)
