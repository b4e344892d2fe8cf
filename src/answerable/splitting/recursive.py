"""Cut text at the strongest separator within reach: paragraph, line, sentence, word, and only then anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from answerable.datatypes import Chunk, Document
from answerable.protocols import Span
from answerable.splitting.make_chunks import check_sizes, make_chunks

PARAGRAPH = r"\n[ \t\r]*\n\s*|\f"
LINE = r"\n"
# The pattern begins with one class of characters and checks the rest afterwards, which is fast in `re`.
SENTENCE = r"[.!?…؟।。！？](?:(?<=[。！？])[。！？]*[」』”’）]*|(?<![.!?…؟।].)[.!?…؟।]*[\"'”’»)\]]*\s+)"
WORD = r"\s+"
SEPARATORS = (PARAGRAPH, LINE, SENTENCE, WORD)

# The search for separators extends this many characters beyond both ends, for matches that cross them.
REACH = 64

_NO_SPACE = re.compile(r"\S")
_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# Characters that extend a grapheme cluster (Unicode UAX 29) but aren't in a category of marks.
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

    `separators` are regular expressions, strongest first, whose matches have at most 64 characters. Pieces are the
    texts between two separators.

    A chunk ends after a separator in the second half of the text that fits: after the last match of the strongest
    separator found there. The first separator may also match in the second quarter, if the piece after it (a paragraph)
    fits into one chunk. Without a match a chunk ends between two grapheme clusters.

    The next chunk begins after the earliest match of the strongest separator in the overlap, or without overlap if
    there is no match. After a cut at the first separator only whole pieces overlap.

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

        The index is `len(separators)` if it ends without one. `origin` is where the text to split begins, `fresh` where
        the text that no chunk contains yet begins.
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
        # The overlap leaves room for new text.
        earliest = max(last - self.chunk_overlap, start + 1, fresh + 1 - self.chunk_size)
        if self._whole_pieces:
            pieces = (self._piece_end(each, content, fresh, end) for each in range(strength, len(self._separators)))
            earliest = max(earliest, next(filter(None, pieces), 0) - self.chunk_size)
        # After a cut at a paragraph's end only whole paragraphs are worth repeating.
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
    """Return the end of the last match that ends by `furthest`, or -1."""
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
    """Whether the characters before and after an index are in one grapheme cluster; one begins at `start`."""
    before, after = content[index - 1], content[index]
    if before in _FLAG_LETTERS and after in _FLAG_LETTERS:
        # A flag is a pair of letters: an odd number before the index leaves one without its pair.
        return (index - start - len(content[start:index].rstrip(_FLAG_LETTERS))) % 2 == 1
    return before == _JOINER or after in _EXTENDING or unicodedata.category(after).startswith("M")
