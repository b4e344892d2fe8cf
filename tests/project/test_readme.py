"""The README does what it shows: its session, run again, prints the same, and its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from interfaces.commands import run_here

pytestmark = pytest.mark.usefixtures("examples_embedded")
ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SHOWN_ROOT = "file:///home/you/answerable"


def block(language: str, number: int = 0) -> str:
    """The text of a fenced block."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)[number]


def test_the_session_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ANSWERABLE_LIBRARY", str(tmp_path / "library"))
    for step in re.split(r"^\$ ", block("console"), flags=re.MULTILINE)[1:]:
        command, _, shown = step.partition("\n")
        name, *arguments = shlex.split(command)
        assert name == "answerable"
        done = run_here(*arguments)
        assert (done.returncode, done.stderr) == (0, ""), command
        assert done.stdout.replace(ROOT.as_uri(), SHOWN_ROOT).strip() == shown.strip(), command


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(ROOT)
    program = block("python").replace('"my-library"', repr(str(tmp_path / "library")))
    exec(compile(program, "README.md", "exec"), {"__name__": "__main__"})
    assert "seis horas de sol" in capsys.readouterr().out
