"""Limit the length of a model's answer: servers may ignore the token limit, and models may never stop."""

from __future__ import annotations

# More than any language has, so that only answers far beyond their limit are stopped.
CHARACTERS_OF_TOKEN = 8
LONGEST_ANSWER = 400_000


class Allowance:
    """Counts down the characters that an answer may still have, from LONGEST_ANSWER without a token limit.

    Each piece costs one more character, to limit pieces without text (a model's reasoning) too.
    """

    def __init__(self, max_tokens: int | None) -> None:
        self._left = LONGEST_ANSWER if max_tokens is None else CHARACTERS_OF_TOKEN * max_tokens

    @property
    def is_used_up(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def take(self, text: str) -> str:
        """Return the part of a piece that is within the allowance."""
        allowed = text[: max(self._left, 0)]
        self._left -= len(text)
        return allowed

    def count_piece(self) -> None:
        """Count a piece, even one without text."""
        self._left -= 1
