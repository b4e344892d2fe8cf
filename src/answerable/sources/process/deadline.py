"""When the process that reads files is killed that still hasn't answered."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import weakref
from contextlib import suppress

from answerable.sources.limits import Bounds


class Deadline:
    """When a process is killed that still hasn't answered.

    The process's own limit counts processor time. This one also ends a process that waits, or whose system has no such
    limit, and is wider, so that a busy machine is no reason to give up.
    """

    def __init__(self) -> None:
        self._at: float | None = None
        self._seconds = 0.0

    def extend(self, bounds: Bounds | None = None) -> None:
        """From now on it has as long as these bounds say, or those before."""
        self._seconds = self._seconds if bounds is None else bounds.seconds * 3 + 30
        self._at = time.monotonic() + self._seconds

    def lift(self) -> None:
        """Nobody waits."""
        self._at = None

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """Kills the process after the deadline, from a thread that ends with it."""
        # Not to keep it alive: who drops it without closing ends it.
        there = weakref.ref(process)
        threading.Thread(target=self._watch, args=(there,), name="reading-deadline", daemon=True).start()

    def _watch(self, there: weakref.ref[subprocess.Popen[bytes]]) -> None:
        while (process := there()) is not None and process.poll() is None:
            at = self._at
            if at is not None and time.monotonic() > at:
                kill(process)
            del process
            time.sleep(1)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process, and what it started."""
    if os.name != "posix":
        process.kill()
    elif process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
