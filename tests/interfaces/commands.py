"""The command, run as people run it: in this process, in one of its own, and in a terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

from typer.testing import CliRunner

from answerable.interfaces.cli.main import app

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMAND = (sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()")


def run_here(
    *arguments: str | Path, env: Mapping[str, str | Path] | None = None, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    """The command in this process: it starts in no time."""
    environment = {name: str(value) for name, value in (env or {}).items()}
    done = CliRunner().invoke(app, [*map(str, arguments)], input=typed, env=environment, prog_name="answerable")
    return subprocess.CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def run_command(
    *arguments: str | Path, env: Mapping[str, str | Path] | None = None, prefix: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, its streams pipes."""
    environment = {**os.environ, **{name: str(value) for name, value in (env or {}).items()}}
    command = [*prefix, *COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def plain(shown: str) -> str:
    """What a terminal was sent, without colours and links. Any other control sequence stays."""
    return re.sub(r"\x1b\[[0-9;]*m|\x1b\]8;(?:id=\d+;[!-~]+|;)\x1b\\", "", shown)


def links(shown: str) -> list[tuple[str, str]]:
    """The address and the text of each link (OSC 8) that a terminal was sent."""
    found = re.findall(r"\x1b\]8;id=\d+;([!-~]+)\x1b\\(.*?)\x1b\]8;;\x1b\\", shown)
    return [(address, plain(text)) for address, text in found]


def run_in_terminal(*arguments: str | Path, columns: int = 80) -> tuple[int, str]:
    """The exit status of the command and all that it sent to a terminal of this width."""
    terminal, process_side = pty.openpty()
    fcntl.ioctl(process_side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm-256color"}
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdin=process_side, stdout=process_side, stderr=process_side, env=environment
    )
    os.close(process_side)
    received = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:
            some = b""
        if not some:
            break
        received += some
    os.close(terminal)
    return process.wait(), received.decode()
