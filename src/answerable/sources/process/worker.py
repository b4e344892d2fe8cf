"""The process that files are read in: takes requests on stdin, gives answers on stdout.

A hostile file can make a parser loop, eat all memory or crash, so files are read apart from the engine, under limits.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from typing import IO, Any

from answerable.sources.process.frames import read_pair, write_pair
from answerable.sources.process.own_limits import Limits
from answerable.sources.process.requests import answer

_LOOKS_AFTER_PARENT = 0.5


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until the engine closes the pipe."""

    limits = Limits()

    def send(message: dict[str, Any], data: bytes = b"") -> None:
        # The engine need not wake up for what it can't act on yet.
        write_pair(answers, message, data, flush=message["outcome"] in ("working", "file"))

    while (pair := read_pair(requests)) is not None:
        try:
            last = answer(*pair, send, limits)
        except MemoryError:
            last = {"outcome": "memory"}
        write_pair(answers, last, b"")


def _end_with(parent: int) -> None:
    """Ends this process and what it started when the engine dies while a file is read."""
    while os.getppid() == parent:
        time.sleep(_LOOKS_AFTER_PARENT)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Serve the engine that started this process until it closes stdin."""
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    to_engine = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, to_engine)
