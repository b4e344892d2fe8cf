"""Writes docs/cli.md, the help pages of the command: `python docs/generate_cli.py`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.core import TyperGroup
from typer.main import get_group

from answerable.interfaces.cli import main

PAGE = Path(__file__).with_name("cli.md")
WIDTH = 90


def page() -> str:
    """What `--help` says of the command and of each of its commands, with the exit status."""
    group = get_group(main.app)
    options = {**group.context_settings, "terminal_width": WIDTH}
    with group.make_context("answerable", [], resilient_parsing=True, **options) as context:
        sections = list(_sections(group, context))
    statuses = (main.__doc__ or "").split("Exit status:")[1].strip()
    return "\n".join(
        [
            "# The command line",
            "",
            "Made from the command itself by `python docs/generate_cli.py`.",
            "",
            *(f"## {name}\n\n```text\n{_trimmed(text)}\n```\n" for name, text in sections),
            f"## Exit status\n\n```text\n{statuses}\n```",
            "",
        ]
    )


def _sections(command: Any, context: Any) -> Iterator[tuple[str, str]]:
    """A command's name and help page, then those of the commands that it has. Typer has no public name for either."""
    yield context.command_path, command.get_help(context)
    for name in command.list_commands(context) if isinstance(command, TyperGroup) else ():
        inner = command.get_command(context, name)
        assert inner is not None
        with inner.make_context(name, [], parent=context, resilient_parsing=True, terminal_width=WIDTH) as opened:
            yield from _sections(inner, opened)


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
