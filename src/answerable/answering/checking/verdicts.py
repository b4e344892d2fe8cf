"""What a check finds: of each statement what the passages say to it, of the answer what is left."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from answerable.datatypes import Citation


class Support(str, Enum):
    """What the passages have to say to a sentence of an answer."""

    SUPPORTED = "supported"
    CORRECTED = "corrected"
    """Backed by another given passage than the one cited: the citation was corrected."""
    UNSUPPORTED = "unsupported"
    NOTHING_CLAIMED = "nothing claimed"
    """A greeting, a lead-in, a heading, the sentence that refuses."""

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence as it stands in the checked answer (as the model wrote it where it was taken out), and why.

    `how` says in a few words what backs it, or what doesn't.
    """

    text: str
    support: Support
    how: str
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """What is left of an answer: `[n]` in the text is the n-th citation. Both are empty when nothing is backed."""

    text: str
    citations: tuple[Citation, ...]
    sentences: tuple[CheckedSentence, ...]

    @property
    def removed(self) -> tuple[CheckedSentence, ...]:
        """The sentences that nothing backs."""
        return tuple(sentence for sentence in self.sentences if sentence.support is Support.UNSUPPORTED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the passages have to say to a statement, and why.

    `body` is the statement with its quotes as they stand in the passages, None where it stays as it was written.
    """

    support: Support
    how: str
    citations: tuple[Citation, ...] = ()
    body: str | None = None
    is_refusal: bool = False
