"""Tokens, prices and lengths of what models read and write.

Token counts are exact for OpenAI's models and estimated for others. Servers may ignore the token limit of an answer,
and models may never stop, so this module limits an answer's length, too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from answerable.text.characters import encodable
from answerable.text.word_lists import read_toml

CHARACTERS_PER_TOKEN = 3.5
"""For models whose vocabulary this package doesn't have: a guess, not measured."""

_VOCABULARIES = (
    (re.compile(r"gpt-oss"), "o200k_harmony"),
    (re.compile(r"(gpt-4o|gpt-4\.[1-9]|gpt-[5-9]|chatgpt|o[1-9])"), "o200k_base"),
    (re.compile(r"(gpt-4|gpt-3\.5|text-embedding-(3|ada))"), "cl100k_base"),
)
# Scripts that are written without spaces: Chinese, Japanese, Korean, Thai, Lao, Burmese, Khmer.
_DENSE = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


def vocabulary(model: str) -> str | None:
    """Return the vocabulary of an OpenAI model, ignoring prefixes (`openai/`, `ft:`), or None."""
    name = model.rpartition("/")[2].removeprefix("ft:")
    return next((name_of for pattern, name_of in _VOCABULARIES if pattern.match(name)), None)


def count_tokens(texts: Sequence[str], model: str) -> list[int]:
    """Count the tokens of each text.

    Exact for OpenAI's models. For others, and without toktok-rs (Python 3.10), an estimate: one token for each
    character of a script without spaces, one for every 3.5 other characters.
    """
    name = vocabulary(model)
    # Not `batch_count`, which takes a hundred times longer for a short text.
    with suppress(ImportError):
        if name is not None:
            from toktok import truncate

            return [truncate(encodable(text), 1, name)[1] for text in texts]
    return [_estimate(text) for text in texts]


def _estimate(text: str) -> int:
    dense = len(_DENSE.findall(text))
    return dense + math.ceil((len(text) - dense) / CHARACTERS_PER_TOKEN)


_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the maximum price of a call in US dollars, or None for a model of unknown price."""
    prices = read_toml(Path(__file__).with_name("prices.toml"))
    price = prices.get(model) or prices.get(_DATED.sub("", model))
    if price is None:
        return None
    return float(input_tokens * price[0] + output_tokens * price[1]) / 1_000_000


# More characters per token than in any language, so that only answers far beyond their token limit are stopped.
MOST_CHARACTERS_OF_TOKEN = 8
LONGEST_ANSWER = 400_000  # characters, about 200 pages: a round number, not measured


class Allowance:
    """Counts down the characters that an answer may still have; without a token limit, from `LONGEST_ANSWER`.

    Each piece costs one character more than its text, to limit also pieces without text (a model's reasoning).
    """

    def __init__(self, max_tokens: int | None) -> None:
        self._left = LONGEST_ANSWER if max_tokens is None else MOST_CHARACTERS_OF_TOKEN * max_tokens

    @property
    def is_used_up(self) -> bool:
        """Whether no characters are left."""
        return self._left <= 0

    def take(self, text: str) -> str:
        """Return the part of a piece that is within the allowance."""
        allowed = text[: max(self._left, 0)]
        self._left -= len(text)
        return allowed

    def count_piece(self) -> None:
        """Count a piece, even one without text."""
        self._left -= 1
