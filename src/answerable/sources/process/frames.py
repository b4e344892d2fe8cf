"""Frames between the engine and the process that reads files: a length in eight bytes, then that many bytes.

A request is a frame of JSON and a frame with the file; each answer is a frame of JSON and a frame with the text that
goes with it. Answers whose outcome is in `GOING_ON` have more behind them.
"""

from __future__ import annotations

import json
import struct
from typing import IO, Any

LENGTH = struct.Struct(">Q")
GOING_ON = frozenset({"working", "file", "document", "error", "empty"})


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
