"""Word lists of computing: `words/*.toml`, and patterns made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from answerable.text.terms import fold
from answerable.text.word_lists import read_toml


def word_lists(name: str) -> Mapping[str, Any]:
    """Return the contents of a file of word lists. Each file is read only once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


@cache
def words_of(section: str, name: str) -> frozenset[str]:
    """Return a word list of `operations.toml`, in lower case without accents."""
    lists = word_lists("operations")
    for step in section.split("."):
        lists = lists[step]
    return frozenset(fold(word) for word in lists[name].split())


@cache
def pattern(section: str, name: str) -> re.Pattern[str]:
    """Return a pattern of `operations.toml`, for whole words."""
    return re.compile(rf"(?<!\w)(?:{word_lists('operations')[section][name]})(?!\w)", re.VERBOSE)
