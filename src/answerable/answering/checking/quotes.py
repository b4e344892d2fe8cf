"""Find the quotes of a statement in the passages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answerable.answering.checking.passage_text import PassageText
from answerable.answering.citations import cite
from answerable.datatypes import Citation, Span
from answerable.text.characters import is_hidden

SHORTEST_PART = 5
"""A quote of fewer words is a phrase; a longer one within a sentence may leave out its condition."""

_EDGES = " \t\r\n\"'‘’“”«»"
_STOPS = _EDGES + ".,;:!?…"
_NOT_PLAIN = re.compile("[*_`|<>\\[\\]]|\u00ad|\ufffe|[-‐‑–—]\\s*\n")


@dataclass(frozen=True, slots=True)
class LocatedQuote:
    """A quote: its span in the statement, the passage that contains it, and the spans of its pieces there."""

    start: int
    end: int
    passage: PassageText
    spans: tuple[tuple[int, int], ...]

    @property
    def span(self) -> tuple[int, int]:
        """The span in the passage from the start of the first piece to the end of the last piece."""
        return self.spans[0][0], self.spans[-1][1]


def first_with(
    quote: str, passages: Sequence[PassageText], is_code: bool = False
) -> tuple[PassageText, tuple[tuple[int, int], ...]] | None:
    """Return the first passage that contains a quote, with the spans of the quote's pieces; None if no passage does."""
    for passage in passages:
        spans = passage.searchable.find_whole(quote) if is_code else passage.searchable.find(quote)
        if spans:
            return passage, tuple(spans)
    return None


def cited_span(passage: PassageText, start: int, end: int) -> Citation | None:
    """Return the citation of a span of a passage; None if it can't be verified in the document."""
    offset = passage.result.chunk.start
    return cite(passage.result, offset + start, offset + end)


def without_quotes(body: str, located: Sequence[LocatedQuote]) -> str:
    """Return the text without its quotes."""
    kept, reached = [], 0
    for quote in located:
        kept.append(body[reached : quote.start])
        reached = quote.end
    return " ".join([*kept, body[reached:]])


def verbatim(body: str, located: Sequence[LocatedQuote]) -> str:
    """Return the statement with each quote on one line, spelled exactly as in its passage.

    A quote keeps the model's spelling where the passage has formatting, hidden characters or a hyphen at a line end.
    """
    kept, reached = [], 0
    for quote in located:
        inside = body[quote.start : quote.end]
        source = quote.passage.content[quote.span[0] : quote.span[1]]
        is_plain = len(quote.spans) == 1 and not _NOT_PLAIN.search(source) and not any(map(is_hidden, source))
        if is_plain and not inside.lstrip(_EDGES).startswith("["):
            lead = inside[: len(inside) - len(inside.lstrip(_EDGES))]
            tail = inside[len(inside.rstrip(_STOPS)) :]
            inside = lead + " ".join(source.strip(_EDGES).rstrip(_STOPS).split()) + tail
        kept += [body[reached : quote.start], inside]
        reached = quote.end
    return "".join([*kept, body[reached:]])


def is_part(passage: PassageText, spans: Sequence[Span]) -> bool:
    """Return whether spans of a passage are several words of a longer sentence."""
    start, end = spans[0][0], spans[-1][1]
    touched = [passage.sentences[number] for number in passage.touched(start, end)]
    around = passage.content[touched[0].start : start] + passage.content[end : touched[-1].end] if touched else ""
    return len(passage.content[start:end].split()) >= SHORTEST_PART and any(map(str.isalnum, around))
