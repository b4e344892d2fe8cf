"""Word lists from `words/*.toml`, each file read on first use."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@cache
def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists."""
    return tomllib.loads((files("answerable.answering") / "words" / f"{name}.toml").read_text("utf-8"))
