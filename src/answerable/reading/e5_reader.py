"""The packaged reader: does a window of a passage answer a question, and with which words?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from answerable.protocols import Reading
from answerable.reading.pair_reader import PairReader, PairReading
from answerable.reading.weights import ReaderWeights

NAME = "answerable-reader"
FILE = "reader.npz"
WINDOW = 112
QUESTION = 48
HEADER = 40
LONGEST_ANSWER = 30


class E5Reader:
    """Reads at most `QUESTION` tokens of a question, and `WINDOW + HEADER` of a window. See `PairReader`."""

    def __init__(
        self, threads: int = 0, cache_folder: Path | None = None, weights: ReaderWeights | None = None
    ) -> None:
        self._pairs = PairReader(weights or FILE, (QUESTION, WINDOW + HEADER), threads, cache_folder)

    def __str__(self) -> str:
        """The model and how many examples it was trained on."""
        return f"{NAME}, trained on {self._pairs.weights.about['examples']:,} examples"

    def read(self, question: str, windows: Sequence[str]) -> list[Reading]:
        """Read each window together with the question."""
        return [_reading(found) for found in self._pairs.read([(question, window) for window in windows])]


def _reading(found: PairReading) -> Reading:
    """Make a reading of the logits of starts and ends."""
    tokens, scores = found.tokens, found.scores
    if not len(tokens.ids):
        return Reading(found.logit, 0, 0, tokens.starts, np.zeros(0, np.float32))
    both = scores[:, 0, None] + scores[None, :, 1]
    allowed = np.triu(np.ones_like(both, bool)) & ~np.triu(np.ones_like(both, bool), LONGEST_ANSWER)
    first, last = divmod(int(np.argmax(np.where(allowed, both, -np.inf))), len(scores))
    likely = np.exp(scores[:, 0] - scores[:, 0].max())
    return Reading(found.logit, int(tokens.starts[first]), int(tokens.ends[last]), tokens.starts, likely / likely.sum())
