"""Let a quote bring along what belongs to it: the list, code, table or address that it introduces, or its reason.

An item of a list brings the whole list if the question asks for several things. What is brought is cut at a length, at
the end of an item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice

from answerable.answering.evidence import Sentence
from answerable.answering.word_lists import word_lists
from answerable.datatypes import DocumentType
from answerable.text.sentences import sentence_spans
from answerable.text.terms import fold

MOST_ITEMS = 25
LONGEST = 1_500
LONGEST_PARAGRAPH = 300
LONGEST_ADDRESS = 60
LINES_OF_ADDRESS = 5
LINES_TO_CODE = 4
REACH = 20_000
"""How far from the quote a list is followed."""

_ITEM = re.compile(r"[ \t]*(?:[-*+•·‣–—]|\d{1,3}[.)]|[a-z][.)]|\[[ xX]\])[ \t]+\S")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_COMMAND = re.compile(r"(?: {4}|\t)[ \t]*\S|[ \t]*[$>] \S")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_NEVER_GROWN = (DocumentType.CHAT, DocumentType.RECORDS, DocumentType.SPREADSHEET, DocumentType.CODE)
_LEADS = (":", ":**", ":*", ":_", "：")


@dataclass(frozen=True, slots=True)
class Growth:
    """The span that a quote has grown to in its document, and how many items of its list had to be left out."""

    start: int
    end: int
    left_out: int = 0


def grown(sentence: Sentence, question: str) -> Growth | None:
    """Return what a quote grows to, or None if it stays as it is."""
    document = sentence.result.document
    if document.type in _NEVER_GROWN:
        return None
    content = document.content
    lines = _Lines(content, sentence)
    text = sentence.text.rstrip()
    if text.endswith(_LEADS):
        return lines.block_below()
    folded = fold(question.lower())
    if _pattern("several").search(folded) and _ITEM.match(lines.line_of(sentence.start)):
        return lines.whole_list()
    if _pattern("how_to").search(folded) and (code := lines.code_below()):
        return code
    if _pattern("where").search(folded) and (address := lines.address_below()):
        return address
    return _with_reason(content, sentence, document.language) if _pattern("why").search(folded) else None


class _Lines:
    """The lines around a quote, each with its place in the document."""

    def __init__(self, content: str, sentence: Sentence) -> None:
        self._content = content
        self._sentence = sentence

    def line_of(self, place: int) -> str:
        """Return the line that has this place."""
        start = self._content.rfind("\n", 0, place) + 1
        return self._content[start:].partition("\n")[0] if start < len(self._content) else ""

    def _below(self, place: int) -> Iterator[tuple[int, int, str]]:
        """Yield start, end and text of the lines after the one of this place."""
        end = self._content.find("\n", place)
        limit = min(len(self._content), place + REACH)
        while 0 <= end < limit:
            start = end + 1
            end = self._content.find("\n", start)
            stop = len(self._content) if end < 0 else end
            yield start, stop, self._content[start:stop]

    def block_below(self) -> Growth | None:
        """Return the quote with the list, code, table or paragraph that it introduces."""
        sentence = self._sentence
        rest = self._content[sentence.end :].partition("\n")[0].strip()
        if rest:
            return None
        first = next(((start, text) for start, _, text in self._below(sentence.end) if text.strip()), None)
        if first is None or self._content.count("\n", sentence.end, first[0]) > 3:
            return None
        start, text = first
        if _ITEM.match(text):
            return self._list_from(start, sentence.start)
        if _FENCE.match(text) or _COMMAND.match(text):
            return self._code_from(start, text)
        if _ROW.match(text):
            return self._table_from(start)
        end = self._content.find("\n\n", start)
        end = len(self._content.rstrip()) if end < 0 else end
        return Growth(sentence.start, end) if start < end <= start + LONGEST_PARAGRAPH else None

    def whole_list(self) -> Growth | None:
        """Return the list that the quote is an item of, with the line that introduces it."""
        first = self._content.rfind("\n", 0, self._sentence.start) + 1
        start = first
        while start > 0 and self._sentence.start - start < REACH:
            above = self._content.rfind("\n", 0, start - 1) + 1
            line = self._content[above : start - 1]
            if _ITEM.match(line) or (line[:1] in " \t" and line.strip()):
                start = first = above
            elif not line.strip():
                start = above
            else:
                start = above if line.rstrip().endswith(_LEADS) else first
                break
        else:
            start = first
        found = self._list_from(first, start)
        return found if found.end > found.start and self._sentence.start < found.end else None

    def _list_from(self, first: int, start: int) -> Growth:
        """Return a quote from `start` with the items from the line `first` on."""
        end, items, left_out = first, 0, 0
        for begin, stop, line in self._below(first - 1):
            is_item = bool(_ITEM.match(line))
            if not line.strip():
                continue
            if not is_item and not (items and line[:1] in " \t") and (items == 0 or self._is_apart(end, begin)):
                break
            items += is_item
            if left_out or items > MOST_ITEMS or stop - start > LONGEST:
                left_out += is_item
            else:
                end = stop
        end = min(end, len(self._content))
        return Growth(start, start + len(self._content[start:end].rstrip()), left_out)

    def _is_apart(self, end: int, begin: int) -> bool:
        return self._content.count("\n", end, begin) > 1 or not self._content[begin : begin + 1].islower()

    def code_below(self) -> Growth | None:
        """Return the quote with a block of code below it, with at most one line of text between them."""
        between = 0
        for start, _, line in islice(self._below(self._sentence.end), LINES_TO_CODE):
            if _FENCE.match(line) or _COMMAND.match(line):
                return self._code_from(start, line)
            between += bool(line.strip())
            if between > 1 or line.lstrip().startswith("#"):
                return None
        return None

    def address_below(self) -> Growth | None:
        """Return the quote with the short lines that follow it in its paragraph."""
        end = self._sentence.end
        for start, stop, line in islice(self._below(end), LINES_OF_ADDRESS):
            if not line.strip() or len(line) > LONGEST_ADDRESS or self._content[end:start].strip():
                break
            end = stop
        return Growth(self._sentence.start, end) if end > self._sentence.end else None

    def _code_from(self, first: int, opening: str) -> Growth | None:
        fence = _FENCE.match(opening)
        end = 0
        for begin, stop, line in self._below(first - 1):
            if stop - self._sentence.start > LONGEST:
                return None
            if fence and begin > first and line.strip().startswith(fence[1]):
                return Growth(self._sentence.start, stop)
            if not fence and line.strip() and not _COMMAND.match(line):
                break
            end = stop if line.strip() else end
        return Growth(self._sentence.start, end) if end and not fence else None

    def _table_from(self, first: int) -> Growth | None:
        end, rows, left_out = first, 0, 0
        for _, stop, line in self._below(first - 1):
            if not _ROW.match(line):
                break
            rows += 1
            if left_out or rows > MOST_ITEMS + 2 or stop - self._sentence.start > LONGEST:
                left_out += not _RULE.fullmatch(line)
            else:
                end = stop
        return Growth(self._sentence.start, end, left_out) if rows > 1 else None


def _with_reason(content: str, sentence: Sentence, language: str) -> Growth | None:
    """Return a quote with the sentence after it that gives the reason, or a reason with the sentence before it."""
    if _begins_as_reason(sentence.text):
        start = max(content.rfind("\n\n", 0, sentence.start) + 1, sentence.start - LONGEST_PARAGRAPH)
        before = sentence_spans(content[start : sentence.start], language)
        return Growth(start + before[-1][0], sentence.end) if before else None
    below = content[sentence.end : sentence.end + LONGEST_PARAGRAPH].partition("\n\n")[0]
    after = sentence_spans(below, language)
    if after and _begins_as_reason(below[after[0][0] :]):
        return Growth(sentence.start, sentence.end + after[0][1])
    return None


def _begins_as_reason(text: str) -> bool:
    return _pattern("reason").match(fold(text[:40].lower())) is not None


@cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?:{word_lists('growing')[name]})", re.VERBOSE)
