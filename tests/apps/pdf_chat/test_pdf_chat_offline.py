"""Both scripts talk to PostgreSQL, to the server of OpenAI's protocol and to nobody else."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from pdf_chat_parts import APP
from watching import assert_kept_still, watch

# One process, since most of its work is to import the same packages.
PROGRAM = """
import runpy, sys

for script in sys.argv[1:]:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code
"""


def test_nothing_leaves_the_machine(environment: dict[str, str], save_pdf: Callable[..., Path], tmp_path: Path) -> None:
    save_pdf()
    command = [sys.executable, "-c", PROGRAM, APP / "ingest.py", APP / "chat.py"]
    typed = "Qual foi o faturamento em 2023?\nsair\n"
    watched = watch(command, tmp_path / "watched", typed=typed, PYTHONPATH=str(APP), **environment)
    assert_kept_still(watched, "Ingestão concluída")
    assert "10 milhões de reais" in watched.stdout
