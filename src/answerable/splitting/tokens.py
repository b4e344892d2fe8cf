"""Chunks measured in the tokens of a model's vocabulary, cut at paragraphs, lines, sentences and words."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from answerable.datatypes import Chunk, Document
from answerable.errors import MissingPackage
from answerable.protocols import Span
from answerable.splitting.make_chunks import check_sizes, make_chunks
from answerable.splitting.recursive import LINE, PARAGRAPH, SENTENCE, belongs_together, skip_space

VOCABULARIES = ("cl100k_base", "o200k_base", "o200k_harmony")

# The last pattern finds every possible beginning of a word.
_SEPARATORS = tuple(map(re.compile, (PARAGRAPH, LINE, SENTENCE, r"\s+|[。！？]+")))
_BREAK = re.compile(r"[\s。！？]")
# A token is at least a byte, and a character at most four of them in UTF-8.
_TOKENS_OF_CHARACTER = 4


class TokenSplitter:
    """Chunks of at most `chunk_size` tokens of a vocabulary with an overlap of up to `chunk_overlap`.

    A chunk ends after the last paragraph, line or sentence in the second half of what fits, otherwise after the last
    word; a word that is too long for a chunk is cut between two grapheme clusters. Counts are exact for each chunk's
    own text; special tokens count as text. Nothing is downloaded. Raises ValueError for invalid numbers or an unknown
    vocabulary, MissingPackage without toktok-rs.
    """

    def __init__(self, vocabulary: str = "cl100k_base", chunk_size: int = 400, chunk_overlap: int = 50) -> None:
        if vocabulary not in VOCABULARIES:
            raise ValueError(f"There is no vocabulary {vocabulary!r}. Use one of {', '.join(VOCABULARIES)}.")
        if chunk_size < _TOKENS_OF_CHARACTER:
            raise ValueError(
                f"chunk_size is {chunk_size}: it must be at least {_TOKENS_OF_CHARACTER} tokens, "
                "since a single character can take that many"
            )
        check_sizes(chunk_size=chunk_size, chunk_overlap=chunk_overlap)
        try:
            from toktok import truncate
        except ImportError as error:
            raise MissingPackage(
                "Counting tokens needs the package toktok-rs (Python 3.11 or later): pip install toktok-rs"
            ) from error
        self.vocabulary = vocabulary
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self._truncate = truncate

    def count(self, text: str) -> int:
        """Return the number of tokens of a text."""
        # `batch_count` takes a hundred times as long for a short text.
        tokens: int = self._truncate(text, 1, self.vocabulary)[1]
        return tokens

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return make_chunks(document, self._spans(document.content))

    def _spans(self, content: str) -> Iterator[Span]:
        end = len(content.rstrip())
        cuts = [[match.end() for match in separator.finditer(content, 0, end)] for separator in _SEPARATORS]
        # `covered` is the beginning of the first word that isn't in a chunk yet; each chunk ends after it.
        start = covered = skip_space(content, 0, end)
        while start < end:
            cut = self._cut(content, cuts, start, covered, end)
            if cut <= covered:
                # The overlap leaves no room for the next word.
                start = covered
                continue
            yield start, cut
            if cut == end:
                return
            covered = skip_space(content, cut, end)
            start = skip_space(content, self._overlap_start(content, cuts[-1], start, cut), end)

    def _cut(self, content: str, cuts: Sequence[Sequence[int]], start: int, covered: int, end: int) -> int:
        """Return the end of the chunk from `start`; at most `covered` if the overlap leaves no room for a word."""
        cut = furthest = self._reach(content, start, end)
        if furthest < end:
            cut = self._best_cut(content, cuts, start, covered, furthest)
        # A shorter text can have more tokens: a part of a word may have more than the whole word.
        while cut > covered and self.count(content[start:cut].rstrip()) > self.chunk_size:
            furthest = cut - 1
            cut = self._best_cut(content, cuts, start, covered, furthest)
        return cut

    def _best_cut(self, content: str, cuts: Sequence[Sequence[int]], start: int, covered: int, furthest: int) -> int:
        nearest = max(start + (furthest - start) // 2, covered + 1)
        for positions in cuts:
            index = bisect_right(positions, furthest)
            if index and positions[index - 1] >= nearest:
                return positions[index - 1]
        word = _last(cuts[-1], furthest)
        if (word > covered or start < covered) and self._word_fits(content, word, furthest):
            return word
        cut = furthest
        while cut > covered and belongs_together(content, start, cut):
            cut -= 1
        return cut if cut > covered or start < covered else furthest

    def _overlap_start(self, content: str, words: Sequence[int], start: int, cut: int) -> int:
        """Return where the next chunk begins: at the first word within the overlap, or in a word that is too long."""
        if not self.chunk_overlap:
            return cut
        earliest = self._reach_back(content, start, cut)
        later = words[bisect_left(words, earliest) : bisect_left(words, cut)]
        for word in later:
            # Without the white space before it a word can have more tokens.
            if self.count(content[word:cut].rstrip()) <= self.chunk_overlap:
                return word
        if later or self._word_fits(content, _last(words, earliest), earliest):
            return cut
        while earliest < cut and belongs_together(content, start, earliest):
            earliest += 1
        return earliest

    def _word_fits(self, content: str, word: int, index: int) -> bool:
        """Whether the word that begins at `word` and continues at an index would fit into a chunk."""
        furthest = self._reach(content, word, len(content))
        return furthest == len(content) or bool(_BREAK.search(content, index, furthest))

    def _reach(self, content: str, start: int, end: int) -> int:
        """Return an estimate of the furthest end that fits; the exact count is known only after cutting."""
        length = 4 * self.chunk_size
        while True:
            beyond = min(start + length, end)
            kept, tokens = self._truncate(content[start:beyond], self.chunk_size, self.vocabulary)
            if tokens > self.chunk_size:
                return skip_space(content, start + len(kept), end)
            if beyond == end:
                return end
            length *= 2

    def _reach_back(self, content: str, start: int, end: int) -> int:
        """Return the earliest index after `start` from which at most `chunk_overlap` tokens follow up to `end`."""
        end = start + len(content[start:end].rstrip())
        # Exponential, then binary search, because the overlap is a small part of a chunk.
        fits, step = end, self.chunk_overlap
        beyond = max(end - step, start + 1)
        while self.count(content[beyond:end]) <= self.chunk_overlap:
            if beyond == start + 1:
                return beyond
            step *= 2
            fits, beyond = beyond, max(end - step, start + 1)
        while fits - beyond > 1:
            middle = (fits + beyond) // 2
            if self.count(content[middle:end]) <= self.chunk_overlap:
                fits = middle
            else:
                beyond = middle
        return fits


def _last(positions: Sequence[int], index: int) -> int:
    found = bisect_right(positions, index)
    return positions[found - 1] if found else 0
