"""Chunks of code: whole functions and classes if they fit, otherwise whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from answerable.datatypes import Chunk, Document, Part
from answerable.splitting.make_chunks import pack
from answerable.splitting.recursive import LINE, WORD, RecursiveSplitter

_PARAGRAPH = r"\n[ \t]*\n(?:[ \t]*\n)*"


class CodeSplitter:
    """One chunk per class or function: small neighbours share one, long ones are cut between their parts.

    A part that is still too long is cut at blank lines and line ends, with an overlap of up to `chunk_overlap`
    characters. Raises ValueError for invalid sizes.
    """

    def __init__(self, chunk_size: int = 1800, chunk_overlap: int = 200) -> None:
        self._within = RecursiveSplitter(chunk_size, chunk_overlap, (_PARAGRAPH, LINE, WORD))

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        size = self._within.chunk_size
        return self._within.chunks(document, (span for group in self._groups(document) for span in pack(group, size)))

    def _groups(self, document: Document) -> Iterator[list[int]]:
        """Yield the starts of pieces that may share a chunk, and the end of the last."""
        starts: list[int] = [0]
        end = 0
        for _, found in groupby(document.parts, key=_outermost):
            parts = list(found)
            end = parts[-1].end
            if end - parts[0].start <= self._within.chunk_size:
                starts.append(end)
                continue
            # A class that is too long for one chunk begins a new one, and so does the code after it.
            if len(starts) > 1:
                yield starts
            yield [starts[-1], *(part.end for part in parts)]
            starts = [end]
        if end < len(document.content):
            starts.append(len(document.content))
        if len(starts) > 1:
            yield starts


def _outermost(part: Part) -> str:
    return part.symbol.split(".", 1)[0] if part.symbol else ""
