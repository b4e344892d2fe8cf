"""Without a model of OpenAI's, nothing leaves the machine: neither when the book is ingested nor when it is asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from textbook_parts import BACKEND, SCRIPT
from watching import SERVING, assert_kept_still, watch

SERVICE = (sys.executable, "-m", "uvicorn", "src.main:app", "--port", "0")


@pytest.mark.long
def test_nothing_leaves_the_machine(docs: Path, tmp_path: Path) -> None:
    # The current folder has an empty file `.env`: one of the user's in the service's folder isn't read.
    variables = {"PYTHONPATH": str(BACKEND), "QDRANT_URL": f"path:{tmp_path / 'qdrant'}", "BOOK_DOCS_PATH": str(docs)}
    message = json.dumps({"message": "What is a node?", "session_id": "s1"})
    for command, printed in (
        ([SCRIPT], "chunks"),
        (["-c", SERVING, "/chat", message, *SERVICE], "independent process"),
    ):
        watched = watch(
            [sys.executable, *command], tmp_path / "watched", tmp_path / "qdrant", cwd=Path.cwd(), **variables
        )
        assert_kept_still(watched, printed)
