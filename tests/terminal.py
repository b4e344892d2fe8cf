"""Run a command in a separate pseudo-terminal.

`pexpect.spawn` forks the test process with its threads; late in a long run, such a child sometimes ended without any
output. Here, a new process opens the terminal and then executes the command.
"""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pexpect.fdpexpect import fdspawn

_TAKES_THE_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


class Terminal(fdspawn):  # type: ignore[misc]
    """The terminal's other side, with what pexpect expects of it; `size` is in rows and columns."""

    def __init__(
        self,
        command: Sequence[str | Path],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
        size: tuple[int, int] = (24, 80),
    ) -> None:
        terminal, process_side = pty.openpty()
        _resize(process_side, *size)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TAKES_THE_TERMINAL, *command],
            stdin=process_side,
            stdout=process_side,
            stderr=process_side,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
        os.close(process_side)
        super().__init__(terminal, encoding="utf-8", timeout=timeout)
        self.exitstatus: int | None = None
        self.signalstatus: int | None = None

    def setwinsize(self, rows: int, columns: int) -> None:
        """Resizes the terminal, of which the command is told."""
        _resize(self.child_fd, rows, columns)

    def sendintr(self) -> None:
        """Types Ctrl-C."""
        self.send("\x03")

    def sendeof(self) -> None:
        """Types Ctrl-D."""
        self.send("\x04")

    def isalive(self) -> bool:
        """Whether the command runs."""
        return self._process.poll() is None

    def close(self, **_: Any) -> None:
        """Hangs up and waits for the command to end; then `exitstatus` or `signalstatus` is known."""
        super().close()
        try:
            status = self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self.exitstatus, self.signalstatus = (status, None) if status >= 0 else (None, -status)


def _resize(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
