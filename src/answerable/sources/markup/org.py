"""Org → Document: the unchanged file, with its headlines; their tags and the file's are metadata.

See orgmode.org/worg/org-syntax.html. Comments, keywords, drawers and the lines around blocks are hidden. A headline
with a keyword such as TODO is an entry of its own, which can be quoted.
"""

from __future__ import annotations

import re

from answerable.datatypes import Document, DocumentType
from answerable.sources.markup.sections import Line, Marks, lines_of, read_marked

_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_PRIORITY = re.compile(r"\[#\w{1,2}\][ \t]*")
_TAGS = re.compile(r"[ \t](:[\w@#%:]{1,500}:)[ \t]*$")
_KEYWORD = re.compile(r"[ \t]*#\+([\w-]+)(?:\[[^\]\n]*\])?:[ \t]*")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*")
_COMMENT = re.compile(r"[ \t]*#(?: |$)")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*")
_DONE = "TODO DONE NEXT WAITING WAIT HOLD CANCELLED CANCELED STARTED SOMEDAY"
_FACTS = {"author": "author", "date": "date", "language": "language", "description": "description"}
_UNREAD = frozenset({"comment", "export"})


def read_org(content: str, source: str) -> Document:
    """Return a document with a part for each headline. Raise EmptySource."""
    return read_marked(content, source, DocumentType.ORG, _Reader(lines_of(content)).marks())


class _Reader:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._marks = Marks()
        self._states = set(_DONE.split())
        self._tags: dict[str, None] = {}
        self._commented = 0
        # How far lines have been searched for an end, by what begins there.
        self._without_end: dict[str, int] = {}

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            line = self._lines[number]
            if headline := _HEADLINE.fullmatch(line.text):
                self._headline(line, len(headline[1]), headline[2])
            elif self._commented:
                self._marks.hide(line)
            elif block := _BLOCK.match(line.text):
                number = self._block(number, block[1].lower())
                continue
            elif _DRAWER.fullmatch(line.text):
                number = self._drawer(number)
                continue
            else:
                self._line(line)
            number += 1
        self._marks.metadata["tags"] = list(self._tags)
        return self._marks

    def _headline(self, line: Line, level: int, text: str) -> None:
        if self._commented and level > self._commented:
            self._marks.hide(line)
            return
        self._commented = 0
        if tags := _TAGS.search(text):
            self._tags.update(dict.fromkeys(filter(None, tags[1].split(":"))))
            text = text[: tags.start()]
        first, _, rest = text.partition(" ")
        has_state = first in self._states
        title = _PRIORITY.sub("", rest if has_state else text, count=1)
        if title.split(" ")[0] == "COMMENT":
            self._commented = level
            self._marks.hide(line)
            return
        body = line.start + level + 1 if has_state else line.end
        self._marks.add(line.start, body, level, title)

    def _block(self, number: int, name: str) -> int:
        """Hide the lines around a block, or all of it; return the line after it. One without an end is no block."""
        end = self._end(number, f"#+end_{name}")
        if end is None:
            self._marks.hide(self._lines[number])
            return number + 1
        unread = self._lines[number : end + 1] if name in _UNREAD else (self._lines[number], self._lines[end])
        self._marks.hide(*unread)
        return end + 1

    def _drawer(self, number: int) -> int:
        """Hide a drawer, and return the line after it. One without an end is a line of text."""
        end = self._end(number, ":end:")
        if end is None:
            return number + 1
        self._marks.hide(*self._lines[number : end + 1])
        return end + 1

    def _end(self, number: int, closing: str) -> int | None:
        """Return the line that closes what begins here, if one does before the next headline."""
        if number < self._without_end.get(closing, 0):
            return None
        for end in range(number + 1, len(self._lines)):
            text = self._lines[end].text
            if text.strip().lower() == closing:
                return end
            if _HEADLINE.match(text):
                break
        else:
            end = len(self._lines)
        self._without_end[closing] = end
        return None

    def _line(self, line: Line) -> None:
        if keyword := _KEYWORD.match(line.text):
            self._keyword(line, keyword[1].lower(), line.text[keyword.end() :].strip(), keyword.end())
        elif _COMMENT.match(line.text) or _RULE.fullmatch(line.text) or line.text.lstrip().startswith("#+"):
            self._marks.hide(line)

    def _keyword(self, line: Line, name: str, value: str, end: int) -> None:
        if name == "caption":
            self._marks.hide_in(line, 0, end)
            return
        self._marks.hide(line)
        if name == "title":
            self._marks.title = f"{self._marks.title} {value}".strip()
        elif name in _FACTS:
            self._marks.metadata.setdefault(_FACTS[name], value)
        elif name == "filetags":
            self._tags.update(dict.fromkeys(filter(None, value.replace(" ", ":").split(":"))))
        elif name in ("todo", "seq_todo", "typ_todo"):
            self._states.update(state.partition("(")[0] for state in value.split() if state != "|")
