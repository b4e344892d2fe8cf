"""Code → the spans that can be quoted: statements with their continuation lines, comments, paragraphs of docstrings."""

from __future__ import annotations

import re

MAX_LINES = 8
MAX_CHARACTERS = 600

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_COMMENT = re.compile(r"\s*(?:#|//|/\*|\*|--|%)")
_WORD = re.compile(r"\w")
_QUOTES = re.compile(r'"""|\'\'\'')
# What a line holds that opens and closes nothing: texts, and comments behind the code.
_QUIET = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|(?:#|//).*')


def statement_spans(code: str) -> list[tuple[int, int]]:
    """Start and end of each, in order, without the white space around it; lines of mere brackets are left out."""
    spans: list[tuple[int, int]] = []
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
            reader.begin()
            spans.append((first, last))
        reader.take(text)
    return [(start, end) for start, end in spans if _WORD.search(code, start, end)]


class _Reader:
    """What the lines so far have left open. It knows no language: it looks at brackets, quotes and comment marks."""

    def __init__(self) -> None:
        self._lines = 0
        self._depth = 0
        self._in_text = False
        self._in_comment = False

    def blank(self) -> None:
        """A blank line ends everything but a bracket or a docstring, whose paragraphs stand for themselves."""
        self._lines = MAX_LINES
        self._in_comment = False

    def begin(self) -> None:
        """A new span starts with the next line."""
        self._lines = 0

    def continues(self, line: str) -> bool:
        """Whether a line belongs to the span before it."""
        if self._lines >= MAX_LINES or not self._lines:
            return False
        return self._in_text or self._depth > 0 or (self._in_comment and bool(_COMMENT.match(line)))

    def take(self, line: str) -> None:
        """Notes what a line opens and closes."""
        self._lines += 1
        marks = len(_QUOTES.findall(line))
        if self._in_text or marks % 2:
            self._in_text ^= bool(marks % 2)
            self._in_comment = False
            return
        self._in_comment = bool(_COMMENT.match(line))
        if self._in_comment or marks:
            return
        bare = _QUIET.sub("", line)
        # Braces hold blocks, whose statements stand for themselves.
        depth = self._depth + sum(map(bare.count, "([")) - sum(map(bare.count, ")]"))
        self._depth = max(0, depth)
