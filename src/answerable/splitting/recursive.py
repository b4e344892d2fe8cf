"""Cutting at the strongest separator within reach: paragraph, line, sentence, word, and only then anywhere."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks

PARAGRAPH = r"\n[ \t\r]*\n\s*|\f"
LINE = r"\n"
SENTENCE = r"(?<![.!?…])[.!?…]+[\"'”’»)\]]*\s+|[。！？]+"
WORD = r"\s+"
SEPARATORS = (PARAGRAPH, LINE, SENTENCE, WORD)

_NO_SPACE = re.compile(r"\S")
_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
_SKIN_TONES = map(chr, range(0x1F3FB, 0x1F400))
_TAGS = map(chr, range(0xE0020, 0xE0080))
_EXTENDING = frozenset((_JOINER, *_SKIN_TONES, *_TAGS))


class RecursiveSplitter:
    """Chunks of at most `chunk_size` characters, neighbours sharing up to `chunk_overlap` of them.

    `separators` are regular expressions, strongest first; a cut falls behind the last match of the strongest one that
    occurs in the second half of what fits. Where none does, it falls between two characters that belong apart.
    Raises ValueError when the sizes make no sense.
    """

    def __init__(
        self, chunk_size: int = 1800, chunk_overlap: int = 200, separators: Sequence[str] = SEPARATORS
    ) -> None:
        if chunk_size < 1:
            raise ValueError(f"chunk_size is {chunk_size}: it must be at least 1")
        if not 0 <= chunk_overlap < chunk_size:
            raise ValueError(
                f"chunk_overlap is {chunk_overlap}: it must be at least 0 and below chunk_size ({chunk_size})"
            )
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self._separators = [re.compile(separator) for separator in separators]

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        return make_chunks(document, self.spans(document.content, 0, len(document.content)))

    def spans(self, content: str, start: int, end: int) -> list[tuple[int, int]]:
        """Spans of `content[start:end]` that fit, in order."""
        cuts = [
            [match.end() for match in separator.finditer(content, start, end)] if end - start > self.chunk_size else []
            for separator in self._separators
        ]
        spans = []
        start = skip_space(content, start, end)
        while end - start > self.chunk_size:
            cut = self._cut(content, cuts, start)
            spans.append((start, cut))
            start = skip_space(content, max(self._overlap_start(cuts, start, cut), start + 1), end)
        spans.append((start, end))
        return spans

    def _cut(self, content: str, cuts: Sequence[Sequence[int]], start: int) -> int:
        nearest, furthest = start + max(self.chunk_size // 2, self.chunk_overlap + 1), start + self.chunk_size
        for positions in cuts:
            index = bisect_right(positions, furthest)
            if index and positions[index - 1] >= nearest:
                return positions[index - 1]
        cut = furthest
        while cut > nearest and belongs_together(content, start, cut):
            cut -= 1
        return cut if cut > nearest else furthest

    def _overlap_start(self, cuts: Sequence[Sequence[int]], start: int, cut: int) -> int:
        """Where the next chunk begins: at the earliest strong boundary within the overlap, otherwise at the cut."""
        for positions in cuts:
            index = bisect_left(positions, cut - self.chunk_overlap)
            if index < len(positions) and start < positions[index] < cut:
                return positions[index]
        return cut


def skip_space(content: str, start: int, end: int) -> int:
    """Where the first character that is no white space stands, or the end."""
    found = _NO_SPACE.search(content, start, end)
    return found.start() if found else end


def belongs_together(content: str, start: int, index: int) -> bool:
    """Whether the characters before and after an index are parts of one that people see; `start` begins one."""
    before, after = content[index - 1], content[index]
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        # A flag is a pair of letters: an odd number of them before the index leaves one open.
        return (index - start - len(content[start:index].rstrip(_FLAG_LETTERS))) % 2 == 1
    return before == _JOINER or after in _EXTENDING or unicodedata.category(after).startswith("M")
