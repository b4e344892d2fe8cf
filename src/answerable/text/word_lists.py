"""Read word lists from TOML files, which are next to the code that uses them; each file is read once."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LANGUAGES = ("en", "es", "pt")
FOLDER = Path(__file__).with_name("words")


@cache
def read_toml(path: Path) -> dict[str, Any]:
    """Return the contents of a TOML file of the package. Don't modify the result: all callers share it."""
    return tomllib.loads(path.read_text("utf-8"))
