"""The specification's examples run as they are written there."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from providers.scripted_server import ScriptedServer, failure
from whatsapp_program import EXAMPLE_CHAT

PAGE = Path(__file__).with_name("specified_examples.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def _surroundings(tmp_path: Path, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """An export of the name that the examples open, where they look for it, and a server."""
    shutil.copy(EXAMPLE_CHAT, tmp_path / "chat_export.txt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GH_MODELS_BASE_URL", f"{server.url}/inference")
    # Examples set these: what is set here is as before afterwards.
    for name in ("GITHUB_TOKEN", "USE_LOCAL_EMBEDDINGS"):
        monkeypatch.setenv(name, "")


def test_the_complete_example_runs_unchanged(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.script("/inference/embeddings", failure(410, "GitHub Models was retired"))
    exec(EXAMPLES[-1], {})
    printed = capsys.readouterr().out
    assert "Parsed 26 messages\nCreated 1 searchable chunks\n=== Context Retrieved ===\n" in printed
    assert "[2024-03-02 18:06] Marta: ¡Hola a los dos!" in printed
    assert "=== LLM Prompt ===" in printed
    assert "Pregunta: ¿Qué planes tenemos para el fin de semana?" in printed
    # One request, nothing tried again: the local model takes over at once.
    (request,) = server.requests
    assert request.headers["authorization"] == "Bearer your_github_token_here"


def test_all_other_examples_run_in_their_order(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.script("/inference/embeddings", failure(401, "Bad credentials"))
    assert len(EXAMPLES) == 17
    # One of them uses numpy before another imports it.
    exec("\n".join(["import numpy as np", *EXAMPLES[:-1]]), {})
    printed = capsys.readouterr().out
    for line in (
        "Indexed 1 chunks",
        "Parsed 3 messages",
        "Created 2 chunks from 26 messages",
        "Shape: (3, 384)",
        "Store size: 3",
        "Found 3 results",
        "Vector store contains 3 documents",
    ):
        assert line in printed
