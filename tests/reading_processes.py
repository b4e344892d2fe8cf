"""Find the processes in which files are read, and make a file that keeps such a process busy."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

# Markdown, half a minute's work.
SLOW = b"- x\n" * 1_000_000


def wait_until(is_so: Callable[[], bool], seconds: float = 60) -> None:
    """Returns as soon as it is so."""
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)


def children(parent: int, mark: bytes = b"process.worker") -> list[int]:
    """The processes that one has started to read files."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if int(stat_of(int(folder.name))[1]) == parent and mark in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def spawned(parent: int) -> list[int]:
    """The workers that a process has started."""
    return children(parent, b"spawn_main")


class Started:
    """The reading processes that this process has started since this was made."""

    def __init__(self) -> None:
        self._before = children(os.getpid())

    def all(self) -> list[int]:
        """Those that are there now."""
        return [child for child in children(os.getpid()) if child not in self._before]

    def busy(self, seconds: float = 0.7) -> int:
        """One that has been reading for a while; waits until there is one."""
        wait_until(lambda: any(seconds_used(child) > seconds for child in self.all()))
        return next(child for child in self.all() if seconds_used(child) > seconds)


def is_running(process: int) -> bool:
    """Whether there is such a process, other than as a zombie."""
    try:
        return stat_of(process)[0] != "Z"
    except OSError:
        return False


def seconds_used(process: int) -> float:
    """The processor time of a process, 0 where there is none."""
    try:
        return sum(map(int, stat_of(process)[11:13])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        return 0.0


def stat_of(process: int) -> list[str]:
    """What /proc says of a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
