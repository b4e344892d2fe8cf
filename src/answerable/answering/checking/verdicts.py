"""The results of a check: a verdict on each statement, and the checked answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from answerable.datatypes import Citation


class Support(str, Enum):
    """How the passages support a sentence."""

    QUOTED = "quoted"
    """It is copied from a passage letter for letter, or what it claims is such a quote."""
    SUPPORTED = "supported"
    """A model read it together with a passage and found that the passage supports it."""
    CORRECTED = "corrected"
    """Backed by another passage than the one cited; the citation was corrected."""
    UNSUPPORTED = "unsupported"
    NOTHING_CLAIMED = "nothing claimed"
    """A greeting, lead-in, heading or refusal."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence as shown in the checked answer or, if removed, as the model wrote it; `how` explains why."""

    text: str
    support: Support
    how: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """The text, in which `[n]` marks the n-th citation.

    `claims` tells whether a sentence claims anything, `refuses` whether the answer begins by saying that the documents
    don't answer.
    """

    text: str
    citations: tuple[Citation, ...]
    sentences: tuple[CheckedSentence, ...]
    claims: bool = False
    refuses: bool = False

    @property
    def removed(self) -> tuple[CheckedSentence, ...]:
        """The sentences that no passage backs."""
        return tuple(sentence for sentence in self.sentences if sentence.support is Support.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The support of a statement and the reason; `body` is the statement's new text, with verbatim quotes."""

    support: Support
    how: str
    citations: tuple[Citation, ...] = ()
    body: str | None = None
    is_refusal: bool = False
