"""Paths → the names that documents have as sources."""

from __future__ import annotations

import os
import re
from pathlib import Path

# Surrogates that stand for no byte of a file's name: somebody wrote them, in JSON say.
_NO_BYTE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


def source_of(path: Path) -> str:
    """How a file is named as a source: its absolute path with slashes. What in its name is no Unicode gets U+FFFD."""
    name = _NO_BYTE.sub("\ufffd", Path(os.path.abspath(path)).as_posix())
    return os.fsencode(name).decode("utf-8", "replace")
