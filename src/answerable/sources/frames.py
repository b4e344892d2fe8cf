"""Messages between processes: JSON and bytes in frames. A frame is a length in eight bytes, then the bytes."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

_LENGTH = struct.Struct(">Q")


def write_pair(stream: IO[bytes], message: dict[str, Any], data: bytes, flush: bool = True) -> None:
    """Send a message as JSON with its bytes."""
    # By default json escapes everything beyond ASCII, lone surrogates too.
    for frame in (json.dumps(message).encode("ascii"), data):
        stream.write(_LENGTH.pack(len(frame)))
        stream.write(frame)
    if flush:
        stream.flush()


def read_pair(stream: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Receive a message with its bytes, or None if the other side is gone."""
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
