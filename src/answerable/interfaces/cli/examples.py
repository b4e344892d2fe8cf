"""The examples at the end of `--help`, from examples.txt."""

from __future__ import annotations

from functools import cache
from pathlib import Path


def examples(command: str) -> str:
    """Return the examples that end the help of `answerable COMMAND`."""
    lines = [line for line in _lines() if line.startswith(f"answerable {command} ") or line == f"answerable {command}"]
    # \b keeps Typer from wrapping the paragraph.
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))


@cache
def _lines() -> tuple[str, ...]:
    return tuple(Path(__file__).with_suffix(".txt").read_text("utf-8").splitlines())
