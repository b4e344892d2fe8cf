"""Run modules of this project as separate processes, and exchange messages with them: JSON and bytes in frames.

Such a process limits what it uses by `set_limit`. A frame is a length in eight bytes, then that many bytes.
"""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def write_pair(stream: IO[bytes], message: dict[str, Any], data: bytes, flush: bool = True) -> None:
    """Send a message as JSON, and the bytes that belong to it."""
    # By default json escapes everything beyond ASCII, lone surrogates too.
    for frame in (json.dumps(message).encode("ascii"), data):
        stream.write(_LENGTH.pack(len(frame)))
        stream.write(frame)
    if flush:
        stream.flush()


def read_pair(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Receive a message with its bytes, or None if the other process has ended."""
    message = _read_frame(stream)
    data = None if message is None else _read_frame(stream)
    return None if message is None or data is None else (json.loads(message), data)


def _read_frame(stream: IO[bytes]) -> bytes | None:
    header = stream.read(_LENGTH.size)
    if len(header) < _LENGTH.size:
        return None
    (size,) = _LENGTH.unpack(header)
    data = stream.read(size)
    return data if len(data) == size else None


class Child:
    """A process that runs `main` of a module: started on first use, and again after it has ended or after a fork.

    It is isolated (-I), without the start-up code of site packages (-S), and has this process's search path. With
    `leads`, it gets no Ctrl-C from the terminal, and is killed together with the processes that it has started.
    """

    def __init__(self, module: str, *arguments: str, leads: bool = False) -> None:
        self._module = module
        self._arguments = arguments
        self._leads = leads
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def answer(
        self, seconds: float, request: dict[str, Any] | None = None, data: bytes = b""
    ) -> tuple[dict[str, Any], bytes] | None:
        """Send a request, if there is one; return the next answer. Raise OSError if the process can't be started.

        Return None if the process ends, or is killed because it takes longer than `seconds`.
        """
        process = self._process if request is None else self._running()
        assert process
        assert process.stdin
        assert process.stdout
        deadline = threading.Timer(seconds, self._kill, (process,))
        deadline.daemon = True
        deadline.start()
        try:
            if request is not None:
                write_pair(process.stdin, request, data)
            return read_pair(process.stdout)
        except OSError:
            return None
        finally:
            deadline.cancel()

    def kill(self) -> None:
        """Kill the process, if it is running."""
        process = self._process
        if process is not None and self._owner == os.getpid():
            self._kill(process)

    def end(self) -> int | None:
        """End the process, by force if it goes on for two seconds; return its exit status. Idempotent."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return None
        for pipe in filter(None, (process.stdin, process.stdout)):
            with suppress(OSError):
                pipe.close()
        try:
            return process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._kill(process)
            return process.wait()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._owner != os.getpid():
            # After a fork the process belongs to the parent process.
            self._process = None
        elif self._process and self._process.poll() is not None:
            self.end()
        self._process = self._process or self._started()
        self._owner = os.getpid()
        return self._process

    def _started(self) -> subprocess.Popen[bytes]:
        program = (
            f"import json, sys\nsys.path[:] = json.loads(sys.argv[1])\nfrom {self._module} import main\n"
            "main(*sys.argv[2:])"
        )
        search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[2])]
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", program, json.dumps(search_path), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            close_fds=True,
            start_new_session=self._leads,
        )

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        if not self._leads or os.name != "posix":
            process.kill()
        elif process.poll() is None:
            with suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)


def set_limit(name: str, most: int) -> None:
    """Limit what this process may use, by the limit's name in `resource`; do nothing on systems that can't."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
