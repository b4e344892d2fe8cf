"""How much a model may write: a server may take no notice of the limit that it is told, and a model go on for ever."""

from __future__ import annotations

# More than any language has: only what is far beyond its limit is stopped here.
CHARACTERS_OF_TOKEN = 8
LONGEST_ANSWER = 400_000


class Allowance:
    """The characters that an answer may still have; without a limit of tokens the most that any answer has.

    Each piece costs one more: without a text it may be what a model thinks to itself, and that can go on for ever too.
    """

    def __init__(self, max_tokens: int | None) -> None:
        self._left = LONGEST_ANSWER if max_tokens is None else CHARACTERS_OF_TOKEN * max_tokens

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more may come."""
        return self._left <= 0

    def take(self, text: str) -> str:
        """What of a piece is within the allowance."""
        allowed = text[: max(self._left, 0)]
        self._left -= len(text)
        return allowed

    def count_piece(self) -> None:
        """Counts a piece, whatever it holds."""
        self._left -= 1
