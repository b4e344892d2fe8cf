"""Find quotable spans of code: statements with their continuation lines, comments, paragraphs of docstrings."""

from __future__ import annotations

import re

from answerable.protocols import Span

MAX_LINES = 8
MAX_CHARACTERS = 600

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|%)")
_WORD = re.compile(r"\w")
_QUOTES = re.compile(r'"""|\'\'\'')
# Strings, and comments after code: their brackets don't count.
_QUIET = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?:#|//).*')


def statement_spans(code: str) -> list[Span]:
    """Return start and end of each quotable span, in order, trimmed; lines of only brackets are left out."""
    spans: list[Span] = []
    reader = _Reader()
    for line in _LINE.finditer(code):
        start, end = line.span()
        text = line[0]
        if not text.strip():
            reader.blank()
            continue
        first, last = start + len(text) - len(text.lstrip()), start + len(text.rstrip())
        if reader.continues(text) and spans and end - spans[-1][0] <= MAX_CHARACTERS:
            spans[-1] = (spans[-1][0], last)
        else:
            reader.lines = 0
            spans.append((first, last))
        reader.take(text)
    return [(start, end) for start, end in spans if _WORD.search(code, start, end)]


class _Reader:
    """Tracks the brackets, docstrings and comments that are open after the lines so far, in any language.

    `lines` is the number of lines of the current span.
    """

    def __init__(self) -> None:
        self.lines = 0
        self._depth = 0
        self._in_text = False
        self._in_comment = False

    def blank(self) -> None:
        """End the span and any comment at a blank line; open brackets and docstrings stay open."""
        self.lines = MAX_LINES
        self._in_comment = False

    def continues(self, line: str) -> bool:
        """Whether a line belongs to the current span."""
        if not 0 < self.lines < MAX_LINES:
            return False
        return self._in_text or self._depth > 0 or (self._in_comment and bool(_COMMENT.match(line)))

    def take(self, line: str) -> None:
        """Update the state with the brackets, strings and comments that the line opens or closes."""
        self.lines += 1
        marks = len(_QUOTES.findall(line))
        if self._in_text or marks % 2:
            self._in_text ^= bool(marks % 2)
            self._in_comment = False
            return
        self._in_comment = bool(_COMMENT.match(line))
        if self._in_comment or marks:
            return
        bare = _QUIET.sub("", line)
        # Braces enclose blocks, whose statements are spans of their own.
        depth = self._depth + sum(map(bare.count, "([")) - sum(map(bare.count, ")]"))
        self._depth = max(0, depth)
