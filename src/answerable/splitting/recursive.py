"""Cut text at the strongest separator within reach: paragraph, line, sentence, word, and only then anywhere; or into a
few whole sentences. Sizes are in characters, or in the tokens of a model's vocabulary.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

from answerable.datatypes import Chunk, Document, Span
from answerable.errors import MissingPackage
from answerable.splitting.make_chunks import check_sizes, make_chunks
from answerable.text.sentences import sentence_spans

PARAGRAPH = r"\n[ \t\r]*\n\s*|\f"
LINE = r"\n"
# The pattern begins with a single character class and checks the rest afterwards, which is fast in `re`.
SENTENCE = r"[.!?…؟।。！？](?:(?<=[。！？])[。！？]*[」』”’）]*|(?<![.!?…؟।].)[.!?…؟।]*[\"'”’»)\]]*\s+)"
WORD = r"\s+"
SEPARATORS = (PARAGRAPH, LINE, SENTENCE, WORD)

# The search for separators extends this many characters beyond both ends, for matches that cross an end.
REACH = 64

_NO_SPACE = re.compile(r"\S")
_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# Characters that extend a grapheme cluster (Unicode UAX 29) but aren't in a Mark category of Unicode.
_NON_JOINER_AND_VOICING = "\u200c\uff9e\uff9f"
_SKIN_TONES = map(chr, range(0x1F3FB, 0x1F400))
_TAGS = map(chr, range(0xE0020, 0xE0080))
_THAI_AND_LAO_AM = "\u0e33\u0eb3"
_KOREAN_VOWELS_AND_FINALS = map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)))
_EXTENDING = frozenset(
    (_JOINER, *_NON_JOINER_AND_VOICING, *_SKIN_TONES, *_TAGS, *_THAI_AND_LAO_AM, *_KOREAN_VOWELS_AND_FINALS)
)


class RecursiveSplitter:
    """Chunks of at most `chunk_size` characters with an overlap of up to `chunk_overlap`.

    `separators` are regular expressions, strongest first, whose matches have at most 64 characters. The text between
    two separators is a piece.

    A chunk ends after a separator in the second half of the text that fits: after the last match of the strongest
    separator found there. The first separator may also match in the second quarter, if the piece after it (a paragraph)
    fits into one chunk. Without a match a chunk ends between two grapheme clusters.

    The next chunk begins after the earliest match of the strongest separator in the overlap; without a match, there is
    no overlap. After a cut at the first separator, only whole pieces overlap.

    With `whole_pieces`, a piece that fits into one chunk is never cut, even if the previous chunk gets short and the
    overlap small; after a cut between two characters the overlap may begin at any character. Raises ValueError for
    invalid sizes.
    """

    def __init__(
        self,
        chunk_size: int = 1800,
        chunk_overlap: int = 200,
        separators: Sequence[str] = SEPARATORS,
        whole_pieces: bool = False,
    ) -> None:
        check_sizes(chunk_size=chunk_size, chunk_overlap=chunk_overlap)
        self.chunk_size = chunk_size
        self.chunk_overlap = chunk_overlap
        self._separators = [re.compile(separator) for separator in separators]
        self._whole_pieces = whole_pieces

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        return self.chunks(document, [(0, len(document.content))])

    def chunks(self, document: Document, spans: Iterable[Span]) -> list[Chunk]:
        """Return the chunks of the spans, long spans cut."""
        return make_chunks(document, (cut for span in spans for cut in self.spans(document.content, *span)))

    def spans(self, content: str, start: int, end: int) -> list[Span]:
        """Return spans of `content[start:end]` that fit, in order, without white space at their ends."""
        end = start + len(content[start:end].rstrip())
        origin = start = fresh = skip_space(content, start, end)
        spans = []
        while end - start > self.chunk_size:
            cut, strength = self._cut(content, origin, start, fresh, end)
            last = start + len(content[start : min(cut, start + self.chunk_size)].rstrip())
            spans.append((start, last))
            fresh = skip_space(content, cut, end)
            start = skip_space(content, self._next_start(content, (start, last), fresh, strength, end), end)
        spans.append((start, end))
        return spans

    def _cut(self, content: str, origin: int, start: int, fresh: int, end: int) -> tuple[int, int]:
        """Return the end of the chunk that begins at `start`, and the index of the separator that it ends with.

        The index is `len(separators)` if the chunk ends without a separator. `origin` is where the text to split
        begins, `fresh` where the text that no chunk contains yet begins.
        """
        fits = start + self.chunk_size
        furthest = skip_space(content, fits, end)
        # A chunk must contain more than its overlap with the previous chunk.
        least = fresh + 1 if self._whole_pieces else start + self.chunk_overlap + 1
        second_quarter, second_half = (max(start + self.chunk_size // part, least) for part in (4, 2))
        cut = -1
        for strength, separator in enumerate(self._separators):
            nearest = least if self._whole_pieces else second_half if strength else second_quarter
            cut = max(cut, _last_end(separator, content, max(nearest - REACH, origin), furthest, end))
            if cut >= second_half or (cut >= nearest and self._piece_end(strength, content, cut, end)):
                return cut, strength
        cut = fits
        while cut > second_half and belongs_together(content, start, cut):
            cut -= 1
        return cut if cut > second_half else fits, len(self._separators)

    def _piece_end(self, strength: int, content: str, start: int, end: int) -> int | None:
        """Return the end of the piece from `start` to the next separator of this strength, if it fits into a chunk."""
        furthest = start + self.chunk_size
        ends = [end] if end <= furthest else []
        for separator in self._separators[: strength + 1]:
            for match in separator.finditer(content, start, min(furthest + REACH, end)):
                if match.start() > start:
                    ends.append(start + len(content[start : match.end()].rstrip()))
                    break
        return min((piece_end for piece_end in ends if piece_end <= furthest), default=None)

    def _next_start(self, content: str, chunk: Span, fresh: int, strength: int, end: int) -> int:
        """Return where the next chunk begins: at the earliest of the strongest boundaries within the overlap."""
        start, last = chunk
        # Leave room for new text next to the overlap.
        earliest = max(last - self.chunk_overlap, start + 1, fresh + 1 - self.chunk_size)
        if self._whole_pieces:
            pieces = (self._piece_end(each, content, fresh, end) for each in range(strength, len(self._separators)))
            earliest = max(earliest, next(filter(None, pieces), 0) - self.chunk_size)
        # After a cut at a paragraph's end, only whole paragraphs are worth repeating.
        for separator in (self._separators if strength else self._separators[:1]) if earliest < last else ():
            for match in separator.finditer(content, max(earliest - REACH, start), last):
                if earliest <= match.end() < last:
                    return match.end()
        if not self._whole_pieces or strength < len(self._separators):
            return fresh
        while earliest < fresh and belongs_together(content, start, earliest):
            earliest += 1
        return min(earliest, fresh)


def _last_end(separator: re.Pattern[str], content: str, start: int, furthest: int, end: int) -> int:
    """Return the end of the last match that ends at or before `furthest`, or -1."""
    last = -1
    for match in separator.finditer(content, start, min(furthest + REACH, end)):
        if match.end() > furthest:
            break
        last = match.end()
    return last


def skip_space(content: str, start: int, end: int) -> int:
    """Return the index of the first character that isn't white space, or `end`."""
    found = _NO_SPACE.search(content, start, end)
    return found.start() if found else end


def belongs_together(content: str, start: int, index: int) -> bool:
    """Whether the characters before and after an index are in one grapheme cluster; a cluster begins at `start`."""
    before, after = content[index - 1], content[index]
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        # A flag is a pair of letters: an odd number of letters before the index splits a pair.
        return (index - start - len(content[start:index].rstrip(_FLAG_LETTERS))) % 2 == 1
    return before == _JOINER or after in _EXTENDING or unicodedata.category(after).startswith("M")


class SentenceSplitter:
    """Chunks of `sentences_per_chunk` sentences that overlap by `overlap`. Raises ValueError for invalid numbers."""

    def __init__(self, sentences_per_chunk: int = 5, overlap: int = 1) -> None:
        check_sizes(sentences_per_chunk=sentences_per_chunk, overlap=overlap)
        self.sentences_per_chunk = sentences_per_chunk
        self.overlap = overlap

    def split(self, document: Document) -> list[Chunk]:
        """Return the chunks in order; together they cover everything except white space."""
        sentences = sentence_spans(document.content, document.language)
        size, step = self.sentences_per_chunk, self.sentences_per_chunk - self.overlap
        groups = (sentences[first : first + size] for first in range(0, max(len(sentences) - self.overlap, 1), step))
        return make_chunks(document, [(group[0][0], group[-1][1]) for group in groups if group])


VOCABULARIES = ("cl100k_base", "o200k_base", "o200k_harmony")

# The last pattern matches everywhere that a word may begin.
_SEPARATORS = tuple(map(re.compile, (PARAGRAPH, LINE, SENTENCE, r"\s+|[。！？]+")))
_BREAK = re.compile(r"[\s。！？]")
# A token has at least one byte, and a character at most four bytes in UTF-8.
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
        # For short texts, `batch_count` takes a hundred times as long.
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
        # A shorter text can have more tokens: a part of a word may have more tokens than the whole word.
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
        """Return the beginning of the next chunk: the first word within the overlap, or a place in a too long word."""
        if not self.chunk_overlap:
            return cut
        earliest = self._reach_back(content, start, cut)
        later = words[bisect_left(words, earliest) : bisect_left(words, cut)]
        for word in later:
            # Without the white space before it, a word can have more tokens.
            if self.count(content[word:cut].rstrip()) <= self.chunk_overlap:
                return word
        if later or self._word_fits(content, _last(words, earliest), earliest):
            return cut
        while earliest < cut and belongs_together(content, start, earliest):
            earliest += 1
        return earliest

    def _word_fits(self, content: str, word: int, index: int) -> bool:
        """Whether the word that begins at `word` and continues at `index` would fit into a chunk."""
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

        def fits(index: int) -> bool:
            return self.count(content[index:end]) <= self.chunk_overlap

        return bisect_left(range(end), True, start + 1, end, key=fits)


def _last(positions: Sequence[int], index: int) -> int:
    found = bisect_right(positions, index)
    return positions[found - 1] if found else 0
