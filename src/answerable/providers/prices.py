"""Prices of models, for usage reports and estimates."""

from __future__ import annotations

import re

# US dollars for a million tokens, in and out, as they stood in June 2026. Input that the provider has in its cache is
# cheaper, so that a cost is at most what is said here.
_PRICES = {
    "gpt-5": (1.25, 10.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5-nano": (0.05, 0.40),
    "gpt-4.1": (2.0, 8.0),
    "gpt-4.1-mini": (0.40, 1.60),
    "gpt-4.1-nano": (0.10, 0.40),
    "gpt-4o": (2.50, 10.0),
    "gpt-4o-2024-05-13": (5.0, 15.0),
    "gpt-4o-mini": (0.15, 0.60),
    "o3": (2.0, 8.0),
    "o3-mini": (1.10, 4.40),
    "o4-mini": (1.10, 4.40),
    "text-embedding-3-small": (0.02, 0.0),
    "text-embedding-3-large": (0.13, 0.0),
    "text-embedding-ada-002": (0.10, 0.0),
    "embed-english-v3.0": (0.10, 0.0),
    "embed-multilingual-v3.0": (0.10, 0.0),
    "embed-english-light-v3.0": (0.10, 0.0),
    "embed-multilingual-light-v3.0": (0.10, 0.0),
    "embed-v4.0": (0.12, 0.0),
}
_DATED = re.compile(r"-\d{4}-\d{2}-\d{2}$")


def cost(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """Return the maximum price of a call in US dollars, or None for a model of unknown price."""
    price = _PRICES.get(model) or _PRICES.get(_DATED.sub("", model))
    if price is None:
        return None
    return (input_tokens * price[0] + output_tokens * price[1]) / 1_000_000
