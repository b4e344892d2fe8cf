"""Defaults that an environment variable can change; it is read when an object is made or a method is called."""

from __future__ import annotations

import os


class Default(int):
    """A default that gives way to an environment variable; a number that the caller gives is no Default."""

    variable: str
    least: int

    def __new__(cls, value: int, variable: str, least: int) -> Default:
        """`least` is the smallest number that makes sense."""
        default = super().__new__(cls, value)
        default.variable = f"CODOMYRMEX_RAG_{variable}"
        default.least = least
        return default

    @property
    def text(self) -> str:
        """What the variable says, empty where it isn't set."""
        return os.environ.get(self.variable, "").strip()


CHUNK_SIZE = Default(1000, "CHUNK_SIZE", 1)
CHUNK_OVERLAP = Default(200, "CHUNK_OVERLAP", 0)
TOP_K = Default(5, "TOP_K", 1)
MAX_CONTEXT_LENGTH = Default(4000, "MAX_CONTEXT_LENGTH", 1)


def resolve(value: int) -> int:
    """The number that holds: the caller's, the variable's, the default's. Raises ValueError that names the variable."""
    if not isinstance(value, Default) or not value.text:
        return int(value)
    try:
        number = int(value.text)
    except ValueError:
        number = value.least - 1
    if number < value.least:
        raise ValueError(f"{value.variable} is {value.text!r}: it must be a whole number of at least {value.least}")
    return number
