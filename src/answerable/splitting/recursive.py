"""Cutting at the strongest separator within reach: paragraph, line, sentence, word, and only then anywhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from answerable.datatypes import Chunk, Document
from answerable.splitting.chunks import make_chunks

PARAGRAPH = r"\n[ \t\r]*\n\s*|\f"
LINE = r"\n"
# One class of characters comes first, and what else there is to say behind it: so `re` finds the places fast.
SENTENCE = r"[.!?…؟।。！？](?:(?<=[。！？])[。！？]*[」』”’）]*|(?<![.!?…؟।].)[.!?…؟।]*[\"'”’»)\]]*\s+)"
WORD = r"\s+"
SEPARATORS = (PARAGRAPH, LINE, SENTENCE, WORD)

# A separator is looked for so many characters beyond where it may end or what is behind it must be seen.
REACH = 64

_NO_SPACE = re.compile(r"\S")
_JOINER = "\u200d"
_FLAG_LETTERS = "".join(map(chr, range(0x1F1E6, 0x1F200)))
# What Unicode's rules for grapheme clusters (UAX 29) add to the one before without calling it a mark.
_NON_JOINER_AND_VOICING = "\u200c\uff9e\uff9f"
_SKIN_TONES = map(chr, range(0x1F3FB, 0x1F400))
_TAGS = map(chr, range(0xE0020, 0xE0080))
_THAI_AND_LAO_AM = "\u0e33\u0eb3"
_KOREAN_VOWELS_AND_FINALS = map(chr, (*range(0x1160, 0x1200), *range(0xD7B0, 0xD7FC)))
_EXTENDING = frozenset(
    (_JOINER, *_NON_JOINER_AND_VOICING, *_SKIN_TONES, *_TAGS, *_THAI_AND_LAO_AM, *_KOREAN_VOWELS_AND_FINALS)
)


class RecursiveSplitter:
    """Chunks of at most `chunk_size` characters, neighbours sharing up to `chunk_overlap` of them.

    `separators` are regular expressions, strongest first; a cut falls behind the last match of the strongest one that
    occurs in the second half of what fits, for the first of them already in the second quarter if what it would break
    otherwise (a paragraph) has room in a chunk. Where none does, it falls between two characters that belong apart.
    A match may be up to 64 characters long. The overlap begins behind the earliest match of the strongest separator
    within it. Where there is none nothing is shared, and behind a cut at the first separator nothing but whole pieces
    between two of its matches. Raises ValueError when the sizes make no sense.

    With `whole_pieces` nothing that stands between two separators and has room in a chunk is cut, however short the
    chunk before it gets and however little they share, and characters are shared where a cut falls between any two.
    """

    def __init__(
        self,
        chunk_size: int = 1800,
        chunk_overlap: int = 200,
        separators: Sequence[str] = SEPARATORS,
        whole_pieces: bool = False,
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
        self._whole_pieces = whole_pieces

    def split(self, document: Document) -> list[Chunk]:
        """Chunks in order that cover everything but white space."""
        return make_chunks(document, self.spans(document.content, 0, len(document.content)))

    def spans(self, content: str, start: int, end: int) -> list[tuple[int, int]]:
        """Spans of `content[start:end]` that fit, in order; none begins or ends with white space."""
        end = start + len(content[start:end].rstrip())
        start = fresh = skip_space(content, start, end)
        spans = []
        while end - start > self.chunk_size:
            cut, strength = self._cut(content, start, fresh, end)
            last = start + len(content[start : min(cut, start + self.chunk_size)].rstrip())
            spans.append((start, last))
            fresh = skip_space(content, cut, end)
            start = skip_space(content, self._next_start(content, (start, last), fresh, strength, end), end)
        spans.append((start, end))
        return spans

    def _cut(self, content: str, start: int, fresh: int, end: int) -> tuple[int, int]:
        """Where a chunk ends, and the place of the separator there among all of them; behind the last: none.

        `fresh` is where the chunk begins to have something that no chunk before it has.
        """
        fits = start + self.chunk_size
        furthest = skip_space(content, fits, end)
        # Whatever a chunk shares with the one before, it goes on behind it.
        least = fresh + 1 if self._whole_pieces else start + self.chunk_overlap + 1
        second_quarter, second_half = (max(start + self.chunk_size // part, least) for part in (4, 2))
        cut = -1
        for strength, separator in enumerate(self._separators):
            nearest = least if self._whole_pieces else second_half if strength else second_quarter
            cut = max(cut, _last_end(separator, content, max(nearest - REACH, start), furthest, end))
            if cut >= second_half or (cut >= nearest and self._piece_end(strength, content, cut, end)):
                return cut, strength
        cut = fits
        while cut > second_half and belongs_together(content, start, cut):
            cut -= 1
        return cut if cut > second_half else fits, len(self._separators)

    def _piece_end(self, strength: int, content: str, start: int, end: int) -> int | None:
        """Where the piece ends that begins here, at the next match of a separator this strong, if a chunk has room."""
        furthest = start + self.chunk_size
        ends = [end] if end <= furthest else []
        for separator in self._separators[: strength + 1]:
            for match in separator.finditer(content, start, min(furthest + REACH, end)):
                if match.start() > start:
                    ends.append(start + len(content[start : match.end()].rstrip()))
                    break
        return min((piece_end for piece_end in ends if piece_end <= furthest), default=None)

    def _next_start(self, content: str, chunk: tuple[int, int], fresh: int, strength: int, end: int) -> int:
        """Where the next chunk begins: the earliest of the strongest boundaries within the overlap, if any."""
        start, last = chunk
        # What is shared leaves room for something that isn't.
        earliest = max(last - self.chunk_overlap, start + 1, fresh + 1 - self.chunk_size)
        if self._whole_pieces:
            pieces = (self._piece_end(each, content, fresh, end) for each in range(strength, len(self._separators)))
            earliest = max(earliest, next(filter(None, pieces), 0) - self.chunk_size)
        # Behind a paragraph nothing is broken that the next chunk would have to repeat but whole paragraphs.
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
    """Where the last match ends that does so by `furthest`, otherwise -1."""
    last = -1
    for match in separator.finditer(content, start, min(furthest + REACH, end)):
        if match.end() > furthest:
            break
        last = match.end()
    return last


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
