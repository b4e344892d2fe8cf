"""Chunks of code: whole functions and classes where they fit, otherwise whole lines."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from answerable.datatypes import Chunk, Document, Part
from answerable.splitting.chunks import make_chunks
from answerable.splitting.packing import pack
from answerable.splitting.recursive import LINE, WORD, RecursiveSplitter

_PARAGRAPH = r"\n[ \t]*\n(?:[ \t]*\n)*"


class CodeSplitter:
    """One chunk per class or function, small neighbours packed together, long ones cut between their own parts.

    What is still too long is cut at blank lines and line ends, neighbours sharing up to `chunk_overlap` characters.
    Raises ValueError when the sizes make no sense.
    """

    def __init__(self, chunk_size: int = 1800, chunk_overlap: int = 200) -> None:
        self._within = RecursiveSplitter(chunk_size, chunk_overlap, (_PARAGRAPH, LINE, WORD))

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        spans = (
            cut
            for group in self._groups(document)
            for start, end in pack(group, self._within.chunk_size)
            for cut in self._within.spans(document.content, start, end)
        )
        return make_chunks(document, spans)

    def _groups(self, document: Document) -> Iterator[list[int]]:
        """The starts of pieces that may share a chunk, with the end of the last."""
        starts: list[int] = [0]
        end = 0
        for _, found in groupby(document.parts, key=_outermost):
            parts = list(found)
            end = parts[-1].end
            if end - parts[0].start <= self._within.chunk_size:
                starts.append(end)
                continue
            # A class too long for one chunk begins a new one, and so does what follows it.
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
