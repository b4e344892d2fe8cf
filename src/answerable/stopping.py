"""Work that is ended before it is done: nobody waits for it any more, or it costs more than it may."""

from __future__ import annotations

import threading
import time


class Stopped(Exception):
    """The error in a thread whose work nobody waits for."""


class OverBudget(Exception):
    """The error in a thread whose work has used up its CPU time."""


class Work:
    """Work of one thread, which other threads may stop; the thread asks `check` from time to time."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Have the next `check` raise Stopped. Idempotent."""
        self._stopped.set()

    def check(self) -> None:
        """Raise Stopped if nobody waits for the work."""
        if self._stopped.is_set():
            raise Stopped


class Budget:
    """The CPU time, in seconds, that the thread that makes this may use from now on."""

    def __init__(self, seconds: float, work: Work) -> None:
        self._work = work
        self._end = time.thread_time() + seconds

    def check(self) -> None:
        """Raise OverBudget if it is used up, Stopped if nobody waits for the work."""
        self._work.check()
        if time.thread_time() > self._end:
            raise OverBudget
