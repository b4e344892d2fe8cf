"""A path as the user typed it, and the name of a document's source."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Surrogates that encode no byte of a file name; they come from JSON, say.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def expanded(path: str) -> str:
    """Return a path with the user's folder for its ~. One with a NUL, which no file has, is returned as it is."""
    return path if "\0" in path else os.path.expanduser(path)


def source_of(path: Path) -> str:
    """Return a file's name as a source: its absolute path with slashes; U+FFFD replaces invalid characters."""
    name = _NO_BYTE.sub("\ufffd", Path(os.path.abspath(path)).as_posix())
    return os.fsencode(name).decode("utf-8", "replace")
