"""The lines of a request as RFC 9112 has them, and no others.

h11 also takes a line that ends in a line feed alone, one that goes on in the next (obs-fold), and a length that is said
twice. A proxy in front may read such a request otherwise, and what the one takes for a body be a request to the other.
"""

from __future__ import annotations

import re

from h11 import LocalProtocolError
from h11._receivebuffer import ReceiveBuffer

_END = b"\r\n\r\n"
_LOOSE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\n[ \t]|\0")
_LENGTH = re.compile(rb"content-length:(.*)", re.IGNORECASE | re.DOTALL)


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
        return lines
