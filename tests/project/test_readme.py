"""The README does what it shows: its session, run again, prints the same, and its Python runs."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SHOWN_ROOT = "file:///home/you/answerable"


def block(language: str, number: int = 0) -> str:
    """The text of a fenced block."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def test_the_session_prints_what_is_shown(tmp_path: Path) -> None:
    environment = {**os.environ, "ANSWERABLE_LIBRARY": str(tmp_path / "library"), "PYTHONIOENCODING": "utf-8"}
    for step in re.split(r"^\$ ", block("console"), flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
        assert done.stdout.replace(ROOT.as_uri(), SHOWN_ROOT).strip() == shown.strip(), command


def test_the_python_runs(tmp_path: Path) -> None:
    program = block("python").replace('"my-library"', repr(str(tmp_path / "library")))
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    assert "seis horas de sol" in done.stdout
