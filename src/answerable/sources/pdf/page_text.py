"""Clean the text that PDFium extracts from a page, rejoin hyphenated words, and find running heads and footers.

PDFium joins lines at a hyphenated word and writes U+FFFE there. We restore "-" and the line end that the page shows;
then `docu-` and `ment` become `document` on the first of the two lines. A hyphen that belongs to the word stays: `e-`
and `mail` become `e-mail`. Other occurrences in the document decide first, then the letters around the hyphen, in
English, Spanish and Portuguese. Running heads, footers, page and line numbers are lines that repeat or count from page
to page; no threshold was measured by itself. Imports no module of this package, so that the worker starts fast.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

_LINE_END_HYPHEN = "\ufffe"
_LINE_END = re.compile(r"\r\n|\r|\n|\ufffe")
# Unmapped glyphs appear as control characters, often in place of spaces. Form feeds are reserved as page separators.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_INK = re.compile(r"[^\s\-\xad\ufffe\x00-\x1f\x7f-\x9f\uffff\ufdd0-\ufdef]")
_SURROGATES = re.compile(r"[\ud800-\udfff]")

NOWHERE = -1  # the offset, in the text that a PDF draws, of a character that was added
Span = tuple[int, int]
PageSpan = tuple[int, int, int]
"""A page's number from 0, and where a span begins and ends, as indices into the page's `ink`."""
Rectangle = tuple[int, float, float, float, float]
"""A page's number from 1, and left, bottom, right and top in points."""


def clean(raw: str) -> str:
    """Return the text for a document: with `\\n` line ends, and spaces or U+FFFD in place of invalid characters."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n").replace(_LINE_END_HYPHEN, "-\n")
    return _SURROGATES.sub("\ufffd", _CONTROLS.sub(" ", text))


def line_starts(raw: str) -> list[int]:
    """Return the offset in the raw text at which each line of the cleaned text begins."""
    return [0, *(match.end() for match in _LINE_END.finditer(raw))]


def in_order(raw: str, spans: Sequence[Span]) -> tuple[str, Sequence[int]]:
    """Return the raw text in the order of its spans, each span on lines of its own, and each character's offset in it.

    A line end that is added has the offset NOWHERE.
    """
    if len(spans) == 1:
        return raw, range(len(raw))
    pieces: list[str] = []
    places: list[int] = []
    for start, end in spans:
        piece = raw[start:end]
        if not piece.endswith(("\n", "\r", _LINE_END_HYPHEN)):
            piece = piece.rstrip(" ") + "\r\n"
        pieces.append(piece)
        places += range(start, start + len(piece))
        if piece != raw[start:end]:
            places[-2:] = [NOWHERE, NOWHERE]
    text = "".join(pieces).removesuffix("\r\n")
    return text, places[: len(text)]


class Edit(NamedTuple):
    """What replaces a span of a page's text; and its box on the page, if it isn't drawn as text."""

    start: int
    end: int
    text: str
    box: tuple[float, float, float, float] | None = None


class Edited(NamedTuple):
    """A page's text with edits, each character's offset in the raw text or NOWHERE, and the edits in the new text."""

    text: str
    places: Sequence[int]
    edits: Sequence[Edit]
    shifts: Sequence[tuple[int, int]]

    def moved(self, offset: int) -> int:
        """Return where the character at an offset in the old text is in the new text, or what is before it there."""
        found = bisect_left(self.shifts, (offset, -len(self.text))) - 1
        return offset + (self.shifts[found][1] if found >= 0 else 0)


def edited(text: str, places: Sequence[int], edits: Iterable[Edit]) -> Edited:
    """Apply edits to a text, without those that overlap another. One of the same length changes letters in place."""
    pieces: list[str] = []
    new: list[int] = []
    done: list[Edit] = []
    shifts: list[tuple[int, int]] = []
    reached = 0
    for edit in sorted(edits, key=lambda edit: edit[:2]):
        if edit.start < reached:
            continue
        new += places[reached : edit.start]
        start, is_in_place = len(new), len(edit.text) == edit.end - edit.start
        new += places[edit.start : edit.end] if is_in_place else [NOWHERE] * len(edit.text)
        pieces += text[reached : edit.start], edit.text
        done.append(Edit(start, len(new), edit.text, edit.box))
        reached = edit.end
        shifts.append((edit.start, len(new) - reached))
    if not done:
        return Edited(text, places, [], [])
    return Edited("".join([*pieces, text[reached:]]), [*new, *places[reached:]], done, shifts)


def ink(text: str) -> list[int]:
    """Return the offsets of the characters that cleaning and joining keep: not white space, controls and hyphens."""
    return [match.start() for match in _INK.finditer(text)]


SHORTEST_WORD = 3  # letters, at least, of a word that may be part of a compound
_HYPHENS = ("-", "- ", "\xad", "\xad ")
_LAST_TOKEN = re.compile(r"(\S*[^\W\d_])[-\xad] *$")
_FIRST_TOKEN = re.compile(r" *-?(\w\S*) *")
_LETTERS = re.compile(r"[^\W_]+")
# In addresses, paths and code the hyphen is part of the text, whatever the words are.
_WRITTEN = re.compile(r"[/\\@=_.:\d]|--")
# Parts of words that are also words by themselves: "under-stand", "entre-tanto".
_OPENINGS = frozenset(
    "after any con contra del des dis ent entre every for fore hand inter into mal mis non out over par para per pre "
    "pro pros re semi sobre some sub super sur there trans under upon with".split()
)
# Words after a hanging hyphen: "short- and long-term".
_CONJUNCTIONS = frozenset("and or to y o u e ou und oder bis et".split())
_HYPHENATED = frozenset(("self", "quasi", "vice"))
# Pronouns that follow a hyphen after Portuguese verbs: "fazê-lo", "disse-me".
_PRONOUNS = frozenset("me te se lhe lhes lo la los las no na nos nas vos".split())
_STRESSED = tuple("áâéêíóô")


def whole_words(pages: Sequence[str], fixed: Sequence[Collection[int]]) -> list[tuple[str, list[int]]]:
    """Return each page's text with hyphenated words rejoined, and the numbers of the lines that remain on the page.

    Lines in `fixed`, by page, keep their text. A line that was only the rest of a word is removed.
    """
    if not any("-\n" in page or "- \n" in page or "\xad" in page for page in pages):
        return [(page, list(range(page.count("\n") + 1))) for page in pages]
    written: set[str] = set()
    for page in pages:
        # The part of a broken word isn't a word. Splitting at white space is many times faster than matching words.
        text = reduce(lambda text, hyphen: text.replace(f"{hyphen}\n", "\0"), _HYPHENS, page.lower())
        written.update(text.replace(",", " ").replace(".", " ").split())
    return [_joined(page, lines, written) for page, lines in zip(pages, fixed, strict=True)]


def _joined(page: str, fixed: Collection[int], written: Set[str]) -> tuple[str, list[int]]:
    lines = page.split("\n")
    removed = set()
    for number in [number for number, line in enumerate(lines[:-1]) if line.endswith(_HYPHENS)]:
        # The word may have begun some lines above, if the lines between have been removed.
        before = next(line for line in range(number, -1, -1) if line not in removed)
        rest = _FIRST_TOKEN.match(lines[number + 1])
        head = _LAST_TOKEN.search(lines[before])
        if rest is None or head is None or before in fixed or number + 1 in fixed or rest[1] in _CONJUNCTIONS:
            continue
        hyphen = "-" if _stays(head[1], rest, written) else ""
        lines[before] = lines[before][: head.end(1)] + hyphen + rest[1]
        lines[number + 1] = lines[number + 1][rest.end() :]
        if not lines[number + 1]:
            removed.add(number + 1)
    kept = [number for number in range(len(lines)) if number not in removed]
    lines = [line if number in fixed else line.replace("\xad", "") for number, line in enumerate(lines)]
    return "\n".join(lines[number] for number in kept), kept


def _stays(head: str, rest: re.Match[str], written: Set[str]) -> bool:
    """Whether the hyphen between the last token of a line and the first token of the next belongs to the word."""
    letters = _LETTERS.match(rest[1])
    after = letters[0] if letters else rest[1]
    if rest[0].lstrip().startswith("-") or not after.isalpha() or _WRITTEN.search(head):
        return True
    before = re.split(r"[^\w-]", head)[-1]
    part = before.rsplit("-", 1)[-1]
    if after[0].isupper():
        return len(part) < 2 or not part.isupper()
    return _is_compound(before.lower(), part.lower(), after.lower(), written)


def _is_compound(before: str, part: str, after: str, written: Set[str]) -> bool:
    if (is_joined := before + after in written) != (f"{before}-{after}" in written):
        return not is_joined
    if len(part) == 1 or part in _HYPHENATED or (part != before and part in written):
        return True
    if after in _PRONOUNS and part.endswith(_STRESSED):
        return True
    if part in _OPENINGS or min(len(part), len(after)) < SHORTEST_WORD:
        return False
    return not is_joined and part in written and after in written


EDGE = 3  # lines at the top of a page and at its bottom
LONGEST = 150  # characters of a header or footer at most
LONGEST_NUMBER = 30  # characters, at most, of a line with only a page number
SHORT = 12  # characters; a shorter line counts as occurring again in its page if other lines contain it
WINDOW = 4  # pages before a page, and as many after it, with which its lines are compared
REPEATS = 2  # other pages, at least, that have the same header or footer
MANY = 4  # other pages, at least, that must confirm a page number next to text
FEWEST_LETTERS = 5  # letters of the text next to a page number at least
MISPRINTS = 2  # pages by which the page number next to a repeated text may be off
FEWEST_LINES = 8  # numbered lines of a page at least
FEWEST_FIFTHS = 4  # line numbers of a page, at least, if every fifth line is numbered
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_NUMERAL = r"(\d{1,4}|[ivxlc]{1,7})"
# Lines with only a page number: "12", "- 12 -", "12 / 63", "Page 12 of 63", "Página 12 de 63".
_PAGE_NUMBER = re.compile(rf"\W*(?:p[aá]g(?:e|ina|\.)? |p\. ?)?{_NUMERAL}(?:(?: ?/ ?| of | de )\d+)?\W*")
_NUMBER_BESIDE = re.compile(_NUMERAL)
_LINE_NUMBER = re.compile(r"\n(\d{1,4}) *(?=\n)")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

Edges = Sequence[tuple[str, Span]]


def headers_and_footers(pages: Sequence[str]) -> list[list[Span]]:
    """Return for each page the spans of its headers, footers and numbers, in order.

    A line is a header or footer if it is among the first or last three of its page and repeats on at least two of the
    four pages before and after; the numbers in it may grow by one per page. So is a line with only a number that counts
    the pages, and the first or last line with such a number at its side. Line numbers count everywhere on the page. If
    all that would be most of the text, nothing is removed.
    """
    edges = [[(page[start:end].strip().casefold(), (start, end)) for start, end in _edges(page)] for page in pages]
    found: list[set[Span]] = [set(_line_numbers(page)) for page in pages]
    for number, span in (*_repeated(edges, pages), *_counted(edges)):
        found[number].add(span)
    covered = sum(end - start for spans in found for start, end in spans)
    # Tickets and labels have one or two lines per page and no other text.
    return [sorted(spans) for spans in found] if 2 * covered <= sum(map(len, pages)) else [[] for _ in pages]


def _edges(page: str) -> list[Span]:
    """Return the first and last three lines that aren't blank, including their line ends."""
    lines = [match.span() for match in _LINE.finditer(page) if not match[0].isspace()]
    edges = lines[:EDGE] + lines[EDGE:][-EDGE:]
    return [(start, end) for start, end in edges if end - start <= LONGEST]


def _repeated(edges: Sequence[Edges], pages: Sequence[str]) -> Iterator[tuple[int, Span]]:
    """Yield the page and span of each line that nearby pages repeat, except for the numbers in it."""
    seen: defaultdict[str, dict[int, list[tuple[list[int], Span]]]] = defaultdict(dict)
    for number, lines in enumerate(edges):
        for text, span in lines:
            values = [_value(match[0]) for match in _NUMBER.finditer(text)]
            seen[_NUMBER.sub("#", text)].setdefault(number, []).append((values, span))
    for same in seen.values():
        for number, lines_of_page in same.items() if len(same) > REPEATS else ():
            for values, span in lines_of_page:
                near = [page for page in _near(number, len(pages)) if page in same]
                alike = [any(_alike(values, other, page - number) for other, _ in same[page]) for page in near]
                if sum(alike) >= REPEATS and not _recurs(pages[number], span):
                    yield number, span


def _near(number: int, count: int) -> list[int]:
    return [page for page in range(max(number - WINDOW, 0), min(number + WINDOW + 1, count)) if page != number]


def _recurs(page: str, span: Span) -> bool:
    """Whether the line occurs again within the page, like a table cell or a brace that happens to be at the edge."""
    line = page[slice(*span)].strip()
    if page.count(line) < 2:
        return False
    return len(line) < SHORT or [other.strip() for other in page.split("\n")].count(line) > 1


def _counted(edges: Sequence[Edges]) -> Iterator[tuple[int, Span]]:
    """Yield the page and span of each line with a page number."""
    marks = [list(_marks(lines)) for lines in edges]
    shifts = [{value - number for value, _, _ in page} for number, page in enumerate(marks)]
    texts = [[(text, value - number) for value, text, _ in page if text] for number, page in enumerate(marks)]
    for number, page in enumerate(marks):
        near = _near(number, len(edges)) if page else []
        support = {shift: sum(shift in shifts[other] for other in near) for shift in shifts[number]}
        best = max(support.values(), default=0)
        for value, text, span in page:
            shift = value - number
            needed = MANY if text else min(REPEATS, len(near))
            # Other figures at the edge may seem to count pages, but on fewer pages than the page numbers do.
            counts = 0 < needed <= support[shift] == best
            if counts or (text and sum(_names(texts[other], text, shift) for other in near) >= REPEATS):
                yield number, span


def _marks(lines: Edges) -> Iterator[tuple[int, str, Span]]:
    """Yield the numbers that may be page numbers, the letters next to each number if any, and the span of the line.

    A number next to text is as in "Chapter 2: Setup 17" or "16 The Manual"; "1. Introduction" is a heading.
    """
    for place, (text, span) in enumerate(lines):
        if len(text) <= LONGEST_NUMBER and (alone := _PAGE_NUMBER.fullmatch(text)):
            yield _value(alone[1]), "", span
        elif place in (0, len(lines) - 1):
            first, _, after = text.partition(" ")
            before, _, last = text.rpartition(" ")
            for numeral, rest in ((first, after), (last, before)):
                letters = "".join(filter(str.isalpha, rest)) if _NUMBER_BESIDE.fullmatch(numeral) else ""
                if len(letters) >= FEWEST_LETTERS:
                    yield _value(numeral), letters, span


def _names(texts: Sequence[tuple[str, int]], text: str, shift: int) -> bool:
    """Whether a page has this text next to roughly the expected number: scans lack pages, and OCR misreads numbers."""
    return any(other == text and abs(found - shift) <= MISPRINTS for other, found in texts)


def _line_numbers(page: str) -> Iterator[Span]:
    """Yield the spans of lines with only a number, if these numbers count the page's lines: 1, 2, 3 or 5, 10, 15."""
    numbers = [(int(match[1]), match.start(), match.end()) for match in _LINE_NUMBER.finditer(f"\n{page}\n")]
    run = numbers[:1]
    for one, other in pairwise([*numbers, (0, -1, -1)]):
        step = other[0] - one[0]
        follows = other[1] == one[2] and step == (run[1][0] - run[0][0] if len(run) > 1 else step) and step in (1, 5)
        if follows:
            run.append(other)
            continue
        is_count = len(run) >= FEWEST_FIFTHS and len(run) * (run[1][0] - run[0][0]) >= FEWEST_LINES
        yield from ((start, min(end, len(page))) for _, start, end in run if is_count)
        run = [other]


def _alike(values: list[int], others: list[int], pages: int) -> bool:
    return all(other - value in (0, pages) for value, other in zip(values, others, strict=True))


def _value(numeral: str) -> int:
    if numeral.isdecimal():
        # Longer numbers aren't page numbers; comparing their last digits is enough.
        return int(numeral[-9:])
    digits = [_ROMAN[letter] for letter in numeral]
    return sum(-digit if digit < max(digits[place:]) else digit for place, digit in enumerate(digits))
