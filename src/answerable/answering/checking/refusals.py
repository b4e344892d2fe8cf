"""Tell a sentence that says, in a model's own words, that the documents don't answer, from one that answers.

"2025 isn't given, only 2026: 70 euros" refuses; "no fault was found", of a report, doesn't. Words tell these apart
badly (negations and verbs of saying find half of such refusals, and take a third of such answers for one), so a linear
model on the sentence's vector decides. `training/refusals.py` fits it.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from answerable.answering.answer_text.statements import Statement
from answerable.answering.checking.verdicts import Support, Verdict
from answerable.datatypes import FloatArray
from answerable.protocols import Embedder

WEIGHTS = Path(__file__).with_name("refusals.json")
DOUBT = 0.1
"""A sentence that a passage backs needs a score this far above 0, one that none backs may be as far below."""
VERBATIM = "it is in the passage, letter for letter"

_NOTHING = Support.NOTHING_CLAIMED


class RefusalReader:
    """Reads sentences; `embedder` must be the local one, on whose vectors the weights were fitted."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def scores(self, sentences: Sequence[str]) -> list[float]:
        """Return a score for each sentence, above 0 if it more likely than not says that the documents don't answer."""
        weights, bias = _weights()
        return [float(self._embedder.embed_query(each) @ weights) + bias for each in sentences]


def with_refusals(
    statements: Sequence[Statement], verdicts: Sequence[Verdict], refusals: RefusalReader
) -> list[Verdict]:
    """Return the verdicts, with those of sentences that refuse: the first that says anything, any that isn't backed."""
    found = list(verdicts)
    says = [number for number, each in enumerate(found) if each.is_refusal or each.support is not _NOTHING]
    read = [
        number
        for number in says
        if not (found[number].is_refusal or statements[number].is_code or statements[number].is_row)
        and not statements[number].is_label
        and (found[number].support is Support.UNSUPPORTED or (number == says[0] and found[number].how != VERBATIM))
    ]
    for number, score in zip(read, refusals.scores([statements[each].body for each in read]), strict=True):
        if score > (-DOUBT if found[number].support is Support.UNSUPPORTED else DOUBT):
            found[number] = replace(found[number], support=_NOTHING, how="it refuses", is_refusal=True)
    return found


@cache
def _weights() -> tuple[FloatArray, float]:
    read = json.loads(WEIGHTS.read_text("utf-8"))
    return np.frombuffer(b64decode(read["weights"]), np.float16).astype(np.float32), float(read["bias"])
