"""The terminal in UTF-8, whatever the locale."""

from __future__ import annotations

import io
import sys


def use_utf8() -> None:
    """Makes standard input, output and errors UTF-8; bytes that aren't become U+FFFD."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
