"""Start modules of this project as separate processes, and exchange messages with them: JSON and bytes in frames.

Such a process limits what it uses by `set_limit`. A frame is a length in eight bytes, then that many bytes.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
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


def start_program(module: str, *arguments: str, start_new_session: bool = False) -> subprocess.Popen[bytes]:
    """Start a process that calls `main` of a module with these arguments. Raise OSError.

    It is isolated (-I), without the start-up code of site packages (-S), and has this process's search path.
    """
    program = f"import json, sys\nsys.path[:] = json.loads(sys.argv[1])\nfrom {module} import main\nmain(*sys.argv[2:])"
    search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[2])]
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", program, json.dumps(search_path), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        close_fds=True,
        start_new_session=start_new_session,
    )


def set_limit(name: str, most: int) -> None:
    """Limit what this process may use, by the limit's name in `resource`; do nothing on systems that can't."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        limit = getattr(resource, name)
        _, hard = resource.getrlimit(limit)
        resource.setrlimit(limit, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    """Close the pipes to a process and from it."""
    for pipe in (process.stdin, process.stdout):
        if pipe:
            with suppress(OSError):
                pipe.close()
