"""Kills the reading process when it takes too long."""

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
    """Kills a process that hasn't answered in time.

    The process limits its own processor time. The deadline also ends a process that sleeps, or whose system has no such
    limit; it is longer, so that a busy machine doesn't trigger it.
    """

    def __init__(self) -> None:
        self._at: float | None = None
        self._seconds = 0.0

    def extend(self, bounds: Bounds | None = None) -> None:
        """Restart the countdown, with these bounds or the previous ones."""
        self._seconds = self._seconds if bounds is None else bounds.seconds * 3 + 30
        self._at = time.monotonic() + self._seconds

    def lift(self) -> None:
        """Remove the deadline while no answer is due."""
        self._at = None

    def watch(self, process: subprocess.Popen[bytes]) -> None:
        """Kill the process after the deadline, from a thread that ends with it."""
        # A weak reference, so that dropping the process without closing ends it.
        reference = weakref.ref(process)
        threading.Thread(target=self._watch, args=(reference,), name="reading-deadline", daemon=True).start()

    def _watch(self, reference: weakref.ref[subprocess.Popen[bytes]]) -> None:
        while (process := reference()) is not None and process.poll() is None:
            at = self._at
            if at is not None and time.monotonic() > at:
                kill(process)
            del process
            time.sleep(1)


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its children."""
    if os.name != "posix":
        process.kill()
    elif process.poll() is None:
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
