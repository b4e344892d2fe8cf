"""Word lists, kept in TOML files beside the code that uses them; each file is read once."""

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
    """Return the contents of a TOML file of the package. Do not change them: callers share them."""
    return tomllib.loads(path.read_text("utf-8"))
