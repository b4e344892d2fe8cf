"""The words and symbols that cells of tables are read by: `words/*.toml`."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from answerable.filters import normalize
from answerable.text.word_lists import read_toml


def lists(name: str) -> dict[str, Any]:
    """Return the contents of a file of words; each file is read once."""
    return read_toml(Path(__file__).with_name("words") / f"{name}.toml")


@cache
def word_set(file: str, *path: str) -> frozenset[str]:
    """Return the words under a key, which are separated by blanks."""
    found: Any = lists(file)
    for key in path:
        found = found[key]
    return frozenset(found.split() if isinstance(found, str) else found)


@cache
def meanings(file: str, section: str) -> dict[str, str]:
    """Return for each word of a section's keys the key: "marzo" → "3"."""
    return {word: key for key, words in lists(file)[section].items() for word in words.split()}


def folded(text: str) -> str:
    """Return a text for comparison: lower case, without accents, single blanks."""
    return " ".join(str(normalize(text)).split())
