"""How much a model may write: a server may take no notice of the limit that it is told, and a model go on for ever."""

from __future__ import annotations

# More than any language has: only what is far beyond its limit is stopped here.
CHARACTERS_OF_TOKEN = 8
LONGEST_ANSWER = 400_000


class Allowance:
    """The characters that an answer may still have; without a limit of tokens the most that any answer has.

    A piece without a text, such as what a model thinks to itself, counts as one character.
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
        self._left -= max(len(text), 1)
        return allowed
