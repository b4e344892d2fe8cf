"""Enforce the line format of RFC 9112 in requests.

h11 also accepts bare line feeds, folded lines (obs-fold), repeated lengths, chunks in HTTP/1.0, and anything after a
chunk's size. A proxy may read such a request differently, so an attacker could smuggle a second request in its body.
h11 has no public hook for raw lines (its events no longer show line ends), so this module replaces its private buffer.
"""

from __future__ import annotations

import re

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer

_END = b"\r\n\r\n"
_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]|\0")
_LENGTH = re.compile(rb"content-length:(.*)", re.IGNORECASE | re.DOTALL)
_ENCODING = re.compile(rb"transfer-encoding:", re.IGNORECASE)
# Chunk extensions are not used.
_LONGEST_CHUNK_LINE = 1_024


class StrictBuffer(ReceiveBuffer):
    """The unread input, whose lines must end in CR LF. h11 reports any other line end as the client's error."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """Return the lines up to the first empty one, or None until it arrives. Raise LocalProtocolError."""
        end = 0 if self._data.startswith(b"\r\n") else self._data.find(_END)
        if _LOOSE.search(self._data if end < 0 else self._data[:end]):
            raise LocalProtocolError("a line doesn't end in CR LF, or is folded")
        lines = super().maybe_extract_lines()
        lengths = [match[1] for line in lines or () if (match := _LENGTH.match(line))]
        if len(lengths) > 1 or any(b"," in length for length in lengths):
            raise LocalProtocolError("more than one length")
        if lines and lines[0].endswith(b" HTTP/1.0") and any(map(_ENCODING.match, lines)):
            raise LocalProtocolError("HTTP/1.0 has no chunks")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """Return the line before a chunk, or None until it arrives. Raise LocalProtocolError."""
        line: bytearray | None = super().maybe_extract_next_line()
        if len(line or self._data) > _LONGEST_CHUNK_LINE or (line and b"\r" in line[:-2]):
            raise LocalProtocolError("a chunk's line is too long or has a carriage return")
        return line
