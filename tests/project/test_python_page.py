"""Test that the programs of docs/python.md run as printed, and pass mypy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("examples_embedded")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "python.md").read_text("utf-8")
PROGRAMS = dict(
    zip(
        ("add", "filters", "streaming", "embedder", "model", "evaluation", "async", "langchain", "kept", "llama_index"),
        re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL),
        strict=True,
    )
)
PRINTED = {
    "add": "4 documents added, 0 failed",
    "filters": "Descaling",
    "streaming": "Descale every 200 cups",
    "embedder": "The documents",
    "model": "Descale every 200 cups",
    "evaluation": "recall@5             1.00  (1 questions)",
    "async": "must not be used",
    "langchain": "Descaling",
    "kept": "The kiln fires on Thursdays.",
    "llama_index": "Descaling",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_run(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    exec(compile(PROGRAMS[name], f"docs/python.md, {name}", "exec"), {"__name__": "__main__"})
    printed = capsys.readouterr().out
    assert PRINTED[name] in printed
    assert name != "model" or "verified" not in printed


def test_their_types_are_right(tmp_path: Path) -> None:
    for name, program in PROGRAMS.items():
        (tmp_path / f"{name}_program.py").write_text(program, "utf-8")
    # Of the pyproject only what packages without types are passed over.
    options = ["--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", ROOT / ".mypy_cache"]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "."],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
