"""Two questions in one message ("who is the treasurer, and when was she elected?"): answered apart, shown together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from answerable.answering.messages import QUOTING, REFUSAL, phrase
from answerable.datatypes import Answer, Citation, Reason

_MARKS = re.compile(r"(?: \[\d{1,3}\])+$")
_MARK = re.compile(r"\d{1,3}")


def together(message: str, both: Sequence[str], first: Answer, second: Answer) -> Answer | None:
    """Return the answers to both questions of a message as one; None if neither is answered.

    A question that isn't answered is named.
    """
    if not (first.answered or second.answered):
        return None
    lead = phrase(QUOTING, first.language)
    lines: list[str] = [lead]
    citations: tuple[Citation, ...] = ()
    for asked, each in zip(both, (first, second), strict=True):
        if not each.answered:
            lines.append(f"“{asked}”: {phrase(REFUSAL, first.language)}")
            continue
        known = {(citation.document_id, citation.start, citation.end) for citation in citations}
        is_repeated = [(one.document_id, one.start, one.end) in known for one in each.citations]
        if is_repeated and all(is_repeated):
            continue
        shift = len(citations)
        lines += [_renumbered(line, shift) for line in each.text.split("\n") if line != lead]
        citations += each.citations
    reason = Reason.ANSWERED if first.answered and second.answered else Reason.PARTLY
    confidence = min(each.confidence for each in (first, second) if each.answered)
    why = (*first.why, *second.why)
    said = replace(first, question=message, text="\n".join(lines), answered=True, reason=reason, confidence=confidence)
    return replace(said, citations=citations, results=(*first.results, *second.results), why=why)


def _renumbered(line: str, shift: int) -> str:
    return _MARKS.sub(lambda marks: _MARK.sub(lambda mark: str(int(mark[0]) + shift), marks[0]), line)
