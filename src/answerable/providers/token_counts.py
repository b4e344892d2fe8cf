"""Count tokens: exact for OpenAI's models, estimated for others."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from answerable.text.characters import encodable

CHARACTERS_OF_TOKEN = 3.5

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
    if name is not None:
        try:
            from toktok import truncate
        except ImportError:
            # An estimate will do, as documented.
            return [_estimate(text) for text in texts]
        # `batch_count` takes a hundred times longer for a short text.
        return [truncate(encodable(text), 1, name)[1] for text in texts]
    return [_estimate(text) for text in texts]


def _estimate(text: str) -> int:
    dense = len(_DENSE.findall(text))
    return dense + math.ceil((len(text) - dense) / CHARACTERS_OF_TOKEN)
