"""Prices of models, for usage reports and estimates."""

from __future__ import annotations

import re
from pathlib import Path

from answerable.text.word_lists import read_toml

_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the maximum price of a call in US dollars, or None for a model of unknown price."""
    prices = read_toml(Path(__file__).with_name("prices.toml"))
    price = prices.get(model) or prices.get(_DATED.sub("", model))
    if price is None:
        return None
    return float(input_tokens * price[0] + output_tokens * price[1]) / 1_000_000
