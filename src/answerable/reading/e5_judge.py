"""The packaged judge: does a text support a statement, in English, Spanish and Portuguese and across them?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from answerable.reading.pair_reader import PairReader
from answerable.reading.weights import ReaderWeights

NAME = "answerable-judge"
FILE = "judge.npz"
STATEMENT = 64
TEXT = 224


class E5Judge:
    """Reads at most `STATEMENT` tokens of a statement, and `TEXT` of a text. See `PairReader`."""

    def __init__(
        self, threads: int = 0, cache_folder: Path | None = None, weights: ReaderWeights | None = None
    ) -> None:
        self._pairs = PairReader(weights or FILE, (STATEMENT, TEXT), threads, cache_folder)

    def __str__(self) -> str:
        """The model and how many examples it was trained on."""
        return f"{NAME}, trained on {self._pairs.weights.about['examples']:,} examples"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return, for each statement and text, the logit that the text supports the whole statement."""
        return [found.logit for found in self._pairs.read(pairs)]
