"""Test that the README's session prints what it shows, and that its Python code runs."""

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


def block(language: str, begins: str = "") -> str:
    """The text of the first fenced block that begins so."""
    return re.findall(rf"```{language}\n({re.escape(begins)}.*?)```", README, re.DOTALL)[0]


def test_the_session_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("ANSWERABLE_LIBRARY", str(tmp_path / "library"))
    for step in re.split(r"^\$ ", block("console", "$ answerable add"), flags=re.MULTILINE)[1:]:
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


def test_a_newcomer_sees_the_page_and_how_to_start_before_the_applications() -> None:
    pictures = re.findall(r"!\[.+?\]\((\S+\.png)\)", README)
    assert all(0 < (ROOT / picture).stat().st_size < 150_000 for picture in pictures)
    steps = [pictures[0], "pip install", "$ answerable add", "$ answerable ask", "$ answerable serve", "Applications"]
    assert [README.index(step) for step in steps] == sorted(README.index(step) for step in steps)
    assert README[: README.index(pictures[0])].count("\n") < 10


def test_pages_name_the_versions_of_python_that_the_package_declares() -> None:
    declared = re.findall(r"Python :: (3\.\d+)", (ROOT / "pyproject.toml").read_text("utf-8"))
    for page in (ROOT / "README.md", ROOT / "docs" / "start.md", ROOT / "docs" / "install.md"):
        assert re.findall(r"Python (3\.\d+) to (3\.\d+)", page.read_text("utf-8")) == [(declared[0], declared[-1])], (
            page
        )
