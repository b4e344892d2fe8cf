"""Run slow work in a thread, so that the caller can stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from concurrent.futures import wait as wait_for
from typing import TypeVar

Result = TypeVar("Result")
Sign = TypeVar("Sign")

_SIGN_SECONDS = 0.2
_STOP_SECONDS = 0.05


def while_waiting(work: Callable[[], Result], sign: Sign, stop: Callable[[], None]) -> Generator[Sign, None, Result]:
    """Run `work` in a thread and return its result; meanwhile yield `sign` every 0.2 s. Closing early calls `stop`."""
    future: Future[Result] = Future()
    threading.Thread(target=_run, args=(work, future), name="reading", daemon=True).start()
    try:
        while not wait_for([future], _SIGN_SECONDS).done:
            yield sign
    finally:
        # Repeat, since the work may not have begun what `stop` ends.
        while not future.done():
            stop()
            wait_for([future], _STOP_SECONDS)
    return future.result()


def _run(work: Callable[[], Result], future: Future[Result]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
