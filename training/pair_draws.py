"""Statements drawn from those that were written one by one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from training.corpus import Pair
from training.statement import Statement

SHARES = {
    "written": 6.0, "snli": 1.0, "fool_me_twice": 2.0, "wice": 2.0, "med": 0.5, "inferes": 4.0, "inferbr": 1.2,
    "assin": 1.5, "new_protocols": 1.5, "fever": 1.5, "fever_symmetric": 3.0, "dialfact": 2.0, "mnli": 1.5,
    "taxinli": 0.5, "counterfactual": 1.5, "scitail": 1.0, "ambient": 1.5, "conjnli": 2.0, "breaking_nli": 0.3,
}  # fmt: skip
"""How often a set's pairs are drawn, relative to 1."""
SENTENCES = ("snli", "med", "mnli", "counterfactual", "inferbr", "breaking_nli", "taxinli", "ambient")
"""The sets whose passages are single sentences."""
OWN_WORDS = 0.6
OWN_LANGUAGE = 0.65
BESIDE = 0.5
ELSEWHERE = 0.3
UNRELATED = 0.07


class PairDraws:
    """Draws as many true as false statements of every set, in all their wordings and languages.

    A few more false ones are statements with the passage of another one.
    """

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self._pairs = pairs
        counts: dict[tuple[str, bool], int] = {}
        for pair in pairs:
            counts[pair.source, pair.is_true] = counts.get((pair.source, pair.is_true), 0) + 1
        sizes = {source: sum(counts.get((source, label), 0) for label in (True, False)) for source, _ in counts}
        self._cumulative = np.cumsum(
            [SHARES[pair.source] * sizes[pair.source] / counts[pair.source, pair.is_true] for pair in pairs]
        )

    def draw(self, draw: random.Random) -> Statement:
        pair = self._pair(draw)
        language = _language(pair.statements, draw)
        wordings = pair.statements[language]
        text = wordings[0] if draw.random() < OWN_WORDS else draw.choice(wordings)
        spoken = _language(pair.passages, draw)
        parts = [pair.passages[spoken]]
        if pair.beside and draw.random() < BESIDE:
            parts += draw.sample(pair.beside, draw.randint(1, min(3, len(pair.beside))))
            draw.shuffle(parts)
        elif pair.source in SENTENCES and draw.random() < ELSEWHERE:
            # A sentence on something else before or after teaches to find the one that matters.
            others = [draw.choice(self._pairs) for _ in range(draw.randint(1, 2))]
            parts += [other.passages[spoken] for other in others if other.source == pair.source]
            draw.shuffle(parts)
        if draw.random() < UNRELATED:
            other = self._pair(draw)
            if other.source == pair.source and spoken in other.passages and other.passages[spoken] not in parts:
                return Statement(text, other.passages[spoken], language, False, f"{pair.source} unrelated", "", spoken)
        return Statement(text, " ".join(parts), language, pair.is_true, f"{pair.source} {pair.kind}", "", spoken)

    def _pair(self, draw: random.Random) -> Pair:
        place = int(np.searchsorted(self._cumulative, draw.random() * self._cumulative[-1]))
        return self._pairs[min(place, len(self._pairs) - 1)]


def _language(spoken: Mapping[str, object], draw: random.Random) -> str:
    """Return the language of the original, the first, more often than those it was translated to."""
    languages = list(spoken)
    return languages[0] if draw.random() < OWN_LANGUAGE else draw.choice(languages)
