"""Names in other forms: with other endings, or as initials."""

from __future__ import annotations

from collections.abc import Iterator

from answerable.text.claims import Kind
from answerable.text.wording import Wording

SHORTEST = 4
ENDING = 4


def is_form(one: str, other: str) -> bool:
    """Return whether two words differ in their endings only."""
    shorter, longer = sorted((one, other), key=len)
    shared = next((at for at, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    return shared >= SHORTEST and len(longer) - shared <= ENDING


def initials(wording: Wording) -> Iterator[str]:
    """Yield the initials of the names of several words, in lower case."""
    run = ""
    end = -2
    for claim in wording.claims:
        if claim.kind is not Kind.NAME:
            continue
        if claim.start - end > 1 and len(run) > 1:
            yield run
        run = (run if claim.start - end <= 1 else "") + wording.text[claim.start].lower()
        end = claim.end
    if len(run) > 1:
        yield run
