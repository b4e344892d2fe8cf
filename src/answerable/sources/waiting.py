"""Reading that may take long, done beside who waits for it, so that they can give it up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Generic, TypeVar

Result = TypeVar("Result")
Sign = TypeVar("Sign")

# How often who waits is told that it goes on, in seconds.
_PACE = 0.2
_PATIENCE = 0.05


def while_waiting(work: Callable[[], Result], sign: Sign, stop: Callable[[], None]) -> Generator[Sign, None, Result]:
    """What the work gives or raises; gives out the sign again and again until then. Closed early, it stops the work."""
    done = _Beside(work)
    try:
        while not done.wait(_PACE):
            yield sign
    finally:
        # It may only be about to begin what can be stopped.
        while not done.wait(0):
            stop()
            done.wait(_PATIENCE)
    return done.result()


class _Beside(Generic[Result]):
    """Work in a thread of its own."""

    def __init__(self, work: Callable[[], Result]) -> None:
        self._work = work
        self._results: list[Result] = []
        self._error: BaseException | None = None
        self._is_over = threading.Event()
        threading.Thread(target=self._run, name="reading", daemon=True).start()

    def wait(self, seconds: float) -> bool:
        """Whether it is over, after so many seconds at most."""
        return self._is_over.wait(seconds)

    def result(self) -> Result:
        """What came of it."""
        if self._error is not None:
            raise self._error
        return self._results[0]

    def _run(self) -> None:
        try:
            self._results.append(self._work())
        except BaseException as error:
            self._error = error
        finally:
            self._is_over.set()
