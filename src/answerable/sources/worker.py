"""The process that files are read in: takes requests on stdin, gives answers on stdout.

A hostile file can make a parser loop, eat all memory or crash, so files are read apart from the engine, under limits.
This file is run by its path and imports little of ours, so that starting it costs little. Both directions carry
frames: a length in eight bytes, then that many bytes. A request is a frame of JSON and a frame with the file; each
answer is a frame of JSON and a frame with the text that goes with it. Answers whose outcome is in `GOING_ON` have more
behind them.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import IO, Any

LENGTH = struct.Struct(">Q")
GOING_ON = frozenset({"working", "file", "document", "error", "empty"})
_LOOKS_AFTER_PARENT = 0.5
# A limit serves for so many small files, as long as only a little of it is used up.
_FILES_PER_LIMIT = 100
_USED_PER_LIMIT = 0.1

Send = Callable[..., None]
"""Gives an answer: a dictionary for JSON, and the bytes that go with it, if any."""


def write_frame(stream: IO[bytes], data: bytes) -> None:
    """Send bytes with their length before them."""
    stream.write(LENGTH.pack(len(data)))
    stream.write(data)


def read_frame(stream: IO[bytes]) -> bytes | None:
    """Receive what write_frame sent, or None when the other side has gone."""
    header = stream.read(LENGTH.size)
    if len(header) < LENGTH.size:
        return None
    (size,) = LENGTH.unpack(header)
    data = stream.read(size)
    return data if len(data) == size else None


def write_pair(stream: IO[bytes], message: dict[str, Any], data: bytes, flush: bool = True) -> None:
    """Send a message as JSON, and the bytes that go with it; with others that follow unless it is flushed."""
    # The default escapes everything beyond ASCII, lone surrogates too.
    write_frame(stream, json.dumps(message).encode("ascii"))
    write_frame(stream, data)
    if flush:
        stream.flush()


def read_pair(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Receive what write_pair sent, or None when the other side has gone."""
    message = read_frame(stream)
    data = None if message is None else read_frame(stream)
    return None if message is None or data is None else (json.loads(message), data)


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer requests until the engine closes the pipe."""

    limits = Limits()

    def send(message: dict[str, Any], data: bytes = b"") -> None:
        # The engine need not wake up for what it can't act on yet.
        write_pair(answers, message, data, flush=message["outcome"] in ("working", "file"))

    while (pair := read_pair(requests)) is not None:
        # Imported here: only a process that was started by its path knows by now where from.
        from answerable.sources.worker_requests import answer

        try:
            last = answer(*pair, send, limits)
        except MemoryError:
            last = {"outcome": "memory"}
        write_pair(answers, last, b"")


class Limits:
    """What this process may use; to set it takes as long as to read a small file (POSIX only)."""

    def __init__(self) -> None:
        self._set: tuple[float, int] | None = None
        self._since = 0.0
        self._files = 0

    def allow(self, seconds: float, memory: int) -> None:
        """Lets the process use that much more processor time and address space than it has used so far."""
        used = time.process_time()
        self._files += 1
        is_fresh = self._files < _FILES_PER_LIMIT and used - self._since < seconds * _USED_PER_LIMIT
        if self._set == (seconds, memory) and is_fresh:
            return
        self._set, self._since, self._files = (seconds, memory), used, 0
        limit(seconds, memory)


def limit(seconds: float, memory: int) -> None:
    """Let this process use that much more processor time and address space than it has used so far (POSIX only)."""
    try:
        import resource
    except ImportError:
        return
    wanted = {
        resource.RLIMIT_CPU: int(time.process_time() + seconds) + 1,
        resource.RLIMIT_AS: _address_space() + memory,
    }
    for kind, most in wanted.items():
        _, hard = resource.getrlimit(kind)
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (soft, hard))
        except (ValueError, OSError):
            # Some systems (macOS) don't let an address space be limited; the other limits still hold.
            continue


def _address_space() -> int:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1_000_000_000


def _end_with(parent: int) -> None:
    """Ends this process and what it started when the engine dies while a file is read."""
    while os.getppid() == parent:
        time.sleep(_LOOKS_AFTER_PARENT)
    os.killpg(0, signal.SIGKILL)


def _find_siblings() -> None:
    """Let the modules beside this one be imported by name, without what their packages would import."""
    here = Path(__file__).resolve().parent
    for name, folder in (("answerable", here.parent), ("answerable.sources", here)):
        package = ModuleType(name)
        package.__path__ = [str(folder)]
        sys.modules[name] = package


if __name__ == "__main__":
    # Started without the usual search path (see process.py): no file beside this one or the user's is taken for a
    # module of another name.
    sys.path[:] = json.loads(sys.argv[1])
    _find_siblings()
    if os.name == "posix":
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    to_engine = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints must not get between the frames.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, to_engine)
