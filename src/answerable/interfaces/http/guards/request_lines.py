"""The lines of a request as RFC 9112 has them, and no others.

h11 also takes a line that ends in a line feed alone, one that goes on in the next (obs-fold), a length that is said
twice, chunks of HTTP/1.0, and anything behind a chunk's size. A proxy in front may read such a request otherwise, and
what the one takes for a body be a request to the other.
"""

from __future__ import annotations

import re

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer

_END = b"\r\n\r\n"
_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]|\0")
_LENGTH = re.compile(rb"content-length:(.*)", re.IGNORECASE | re.DOTALL)
_ENCODING = re.compile(rb"transfer-encoding:", re.IGNORECASE)
# Nothing that is said of a chunk besides its size is of use here.
_LONGEST_CHUNK_LINE = 1_024


class StrictBuffer(ReceiveBuffer):
    """What has come and wasn't read yet, whose lines must end in CR LF. h11 turns the error into one of the client."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        """The lines up to the first empty one, or None where that hasn't come yet. Raises LocalProtocolError."""
        end = 0 if self._data.startswith(b"\r\n") else self._data.find(_END)
        if _LOOSE.search(self._data if end < 0 else self._data[:end]):
            raise LocalProtocolError("a line that does not end in CR LF, or goes on in the next")
        lines = super().maybe_extract_lines()
        lengths = [match[1] for line in lines or () if (match := _LENGTH.match(line))]
        if len(lengths) > 1 or any(b"," in length for length in lengths):
            raise LocalProtocolError("more than one length")
        if lines and lines[0].endswith(b" HTTP/1.0") and any(map(_ENCODING.match, lines)):
            raise LocalProtocolError("chunks in a version that has none")
        return lines

    def maybe_extract_next_line(self) -> bytearray | None:
        """The line before a chunk with its end, or None where that hasn't come yet. Raises LocalProtocolError."""
        line: bytearray | None = super().maybe_extract_next_line()
        if len(line or self._data) > _LONGEST_CHUNK_LINE or (line and b"\r" in line[:-2]):
            raise LocalProtocolError("a line before a chunk that is too long, or has a carriage return in it")
        return line
