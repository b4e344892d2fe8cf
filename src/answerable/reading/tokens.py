"""Text → token ids of the reader's vocabulary, with the characters that each token covers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from answerable.e5.tokenizer import Tokenizer
from answerable.text.characters import sendable

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token ids of a text, and the start and end of each token in it. Three arrays of one length."""

    ids: Ints
    starts: Ints
    ends: Ints


def tokens_of(text: str, tokenizer: Tokenizer) -> Tokens:
    """Tokenize a text like the embedder. The space before a word is not in its first token's span."""
    normal, origins = _normalized(text, tokenizer.normalization)
    pieces = np.array(list(tokenizer.spans(normal)), np.int32).reshape(-1, 3)
    places = np.array([*origins, len(text)], np.int32)
    ids, starts, ends = pieces.T
    # Several characters may come from one, and a token may end between them.
    return Tokens(ids, places[starts], np.where(ends > starts, places[ends - 1] + 1, places[starts]).astype(np.int32))


def _normalized(text: str, table: dict[int, str]) -> tuple[str, list[int]]:
    """Return the text as the vocabulary expects it, and the offset in `text` of each of its characters."""
    letters: list[str] = []
    origins: list[int] = []
    for number, letter in _letters(sendable(text), table):
        if letter != " " or (letters and letters[-1] != " "):
            letters.append(letter)
            origins.append(number)
    while letters and letters[-1] == " ":
        letters.pop()
        origins.pop()
    return "".join(letters), origins


def _letters(text: str, table: dict[int, str]) -> Iterator[tuple[int, str]]:
    for number, letter in enumerate(text):
        for made in table.get(ord(letter), letter):
            yield number, made
