"""What a model wants before questions and before texts to be searched."""

from __future__ import annotations

import re
from collections.abc import Mapping

_E5 = re.compile(r"(?:^|[/_-])e5-(?!mistral)(?!.*instruct)", re.IGNORECASE)


def prefixes(model: str, prompts: Mapping[str, str | None]) -> tuple[str, str]:
    """Return the prefixes of questions and of passages: those of the E5 family, or the model's own `prompts`."""
    if _E5.search(model):
        return "query: ", "passage: "
    return prompts.get("query") or "", prompts.get("document") or prompts.get("passage") or ""
