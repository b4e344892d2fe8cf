"""Tell sentences that copy another one from those that copy it but for a number, a name, a negation or an opposite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cached_property

from answerable.text.claim_words import claim_words, shared_words
from answerable.text.claims import Claim, Kind, find_claims
from answerable.text.negation import folded_words

COPIED = 0.7
SHORTEST_CLAUSE = 5
BEFORE = 3
CONTRADICTED = "its evidence has"

_PARENTHESIS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_CLAUSE = re.compile(r"[,;:]\s+")


def changed_in_copy(statement: str, source: str, language: str) -> str:
    """Return the reason why a statement that otherwise copies the source contradicts it; "" if it doesn't.

    Clauses are compared one by one, since they may stand in another order. The alignment is that of `difflib`.
    """
    told = _Words(source, language)
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(told.words)
    reached = 0
    for end in [*(match.end() for match in _CLAUSE.finditer(statement)), len(statement)]:
        clause = _Words(statement[reached:end], language)
        if len(clause.words) >= SHORTEST_CLAUSE or end == len(statement):
            matcher.set_seq1(clause.words)
            if why := _changed(clause, told, matcher):
                return why
        reached = end if len(clause.words) >= SHORTEST_CLAUSE else reached
    return ""


def told_in_clauses(statement: str, source: str, language: str) -> bool:
    """Return whether each clause of a statement stands word for word in a sentence, in any order.

    Parentheses of the sentence may be left out, but no negation before a clause.
    """
    clauses: list[list[str]] = []
    for text in _CLAUSE.split(statement):
        clause = [word for word, _, _ in folded_words(text)]
        # A short clause goes with the one before it.
        if clauses and min(len(clause), len(clauses[-1])) < SHORTEST_CLAUSE:
            clauses[-1] += clause
        else:
            clauses.append(clause)
    known = claim_words(language).negations
    return any(
        all(
            len(clause) >= SHORTEST_CLAUSE
            and (at := _place(clause, told)) >= 0
            and known.isdisjoint(told[max(at - BEFORE, 0) : at])
            for clause in clauses
        )
        for told in ([word for word, _, _ in folded_words(text)] for text in (source, _PARENTHESIS.sub(" ", source)))
    )


def _place(part: Sequence[str], whole: Sequence[str]) -> int:
    size = len(part)
    return next((at for at in range(len(whole) - size + 1) if whole[at : at + size] == part), -1)


class _Words:
    def __init__(self, text: str, language: str) -> None:
        found = list(folded_words(text))
        self.text = text
        self.language = language
        self.words = [word for word, _, _ in found]
        self.spans = [(start, end) for _, start, end in found]

    @cached_property
    def claims(self) -> list[Claim]:
        return [claim for claim in find_claims(self.text, self.language) if claim.kind is not Kind.LINK]

    def values(self, first: int, last: int, is_sure: bool = False) -> list[frozenset[str]]:
        """Return the values of the numbers and names in words `first` to `last`."""
        if first >= last:
            return []
        start, end = self.spans[first][0], self.spans[last - 1][1]
        inside = [claim for claim in self.claims if claim.start < end and claim.end > start]
        return [claim.values for claim in inside if claim.is_sure or not is_sure]

    def negates(self, first: int, last: int) -> bool:
        known, only = claim_words(self.language).negations, shared_words("only")
        following = [*self.words[1:], ""]
        return any(self.words[at] in known and following[at] not in only for at in range(first, last))


def _changed(clause: _Words, told: _Words, matcher: SequenceMatcher[str]) -> str:
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    copied = sum(block.size for block in blocks)
    if not blocks or copied < COPIED * len(clause.words):
        return ""
    low, high = blocks[0].b, blocks[-1].b + blocks[-1].size
    if high - low > len(clause.words) / COPIED:
        return ""
    for operation, a, b, c, d in matcher.get_opcodes():
        if operation == "equal" or d <= low - (b - a) - 1 or c >= high + (b - a) + 1:
            continue
        own, other = clause.values(a, b, is_sure=True), told.values(c, d)
        if operation == "replace" and own and other and not _share(own, other):
            return f"{CONTRADICTED} {' '.join(told.words[c:d])}, not {' '.join(clause.words[a:b])}, in that place"
        if clause.negates(a, b) != (told.negates(c, d) and low <= c < high):
            return f"{CONTRADICTED} the opposite: a negation"
        if _are_opposed(clause.words[a:b], told.words[c:d], clause.language):
            return f"{CONTRADICTED} {' '.join(told.words[c:d])}, not {' '.join(clause.words[a:b])}, in that place"
    return ""


def _share(own: Sequence[frozenset[str]], other: Sequence[frozenset[str]]) -> bool:
    everything = frozenset().union(*other)
    return all(not values.isdisjoint(everything) for values in own)


def _are_opposed(own: Sequence[str], other: Sequence[str], language: str) -> bool:
    opposites = claim_words(language).opposites
    return any(not opposites.get(word, frozenset()).isdisjoint(other) for word in own)
