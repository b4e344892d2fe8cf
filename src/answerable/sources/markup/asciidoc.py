"""AsciiDoc → Document: the unchanged file, with its sections; author and attributes of the header are metadata.

See docs.asciidoctor.org/asciidoc/latest. Comments, attributes, block macros and delimiters are hidden; included files
are documents of their own.
"""

from __future__ import annotations

import re

from answerable.datatypes import Document, DocumentType
from answerable.sources.markup.sections import LONGEST_TITLE, Line, Marks, lines_of, read_marked

_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|[|,:!]={3,})[ \t]*")
_UNDERLINE = {"=": 1, "-": 2, "~": 3, "^": 4}
_ATTRIBUTE = re.compile(r":!?(\w[\w-]*)!?:(?:[ \t]+(.*))?")
_BLOCK_ATTRIBUTES = re.compile(r"\[[^\n]*\][ \t]*")
_MACRO = re.compile(r"[a-z_]\w*::[^\s\[]*\[.*\][ \t]*")
_AUTHOR = re.compile(r"[^\W\d_][^<>:\n]{0,200}?(?:[ \t]+<[^<>\n]*>)?")
_REVISION = re.compile(r"v?\d[\w.]*(?:,.*)?|.*\d{4}-\d\d-\d\d.*")
_FACTS = {"author": "author", "revdate": "date", "description": "description", "keywords": "keywords", "lang": "lang"}
_UNREAD = "/+"
_VERBATIM = "-.`"


def read_asciidoc(content: str, source: str) -> Document:
    """Return a document with a part for each section. Raise EmptySource."""
    return read_marked(content, source, DocumentType.ASCIIDOC, _Reader(lines_of(content)).marks())


class _Reader:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._marks = Marks()
        self._last_of: dict[str, int] = {}
        for number, line in enumerate(lines):
            self._last_of[line.text.rstrip()] = number

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            number = self._block(number) or self._underlined(number) or self._line(number)
        return self._marks

    def _text(self, number: int) -> str:
        return self._lines[number].text if 0 <= number < len(self._lines) else ""

    def _block(self, number: int) -> int | None:
        """Hide a delimiter, or a comment block with its text; return the line after what has been looked at."""
        found = _DELIMITER.fullmatch(self._text(number))
        if not found:
            return None
        self._marks.hide(self._lines[number])
        mark = found[1]
        closing = "```" if mark.startswith("```") else mark
        if mark == "--" or mark[0] not in _UNREAD + _VERBATIM or self._last_of.get(closing, -1) <= number:
            return number + 1
        end = number + 1
        while self._text(end).rstrip() != closing:
            end += 1
        if mark[0] in _UNREAD:
            self._marks.hide(*self._lines[number : end + 1])
        self._marks.hide(self._lines[end])
        return end + 1

    def _underlined(self, number: int) -> int | None:
        """Add a heading with a line below it of the same length."""
        title, under = self._text(number).rstrip(), self._text(number + 1).rstrip()
        if not 2 <= len(title) <= LONGEST_TITLE or not title[0].isalnum() or not under or set(under) - {under[0]}:
            return None
        before = self._text(number - 1)
        is_apart = not before.strip() or _BLOCK_ATTRIBUTES.fullmatch(before)
        if under[0] not in _UNDERLINE or abs(len(title) - len(under)) > 1 or not is_apart:
            return None
        return self._heading(number, number + 2, _UNDERLINE[under[0]], title)

    def _heading(self, number: int, body: int, level: int, title: str) -> int:
        is_first = not self._marks.headings
        self._marks.add(self._lines[number].start, self._lines[body - 1].end, level, title)
        if is_first and level == 1:
            self._marks.title = " ".join(title.split())
            return self._header(body)
        return body

    def _header(self, number: int) -> int:
        """Hide the lines of author and revision below the title; return the line after them."""
        if _AUTHOR.fullmatch(text := self._text(number).rstrip()):
            self._marks.metadata["author"] = text.partition("<")[0].strip()
            self._marks.hide(self._lines[number])
            number += 1
            if _REVISION.fullmatch(self._text(number).rstrip()):
                self._marks.hide(self._lines[number])
                number += 1
        return number

    def _line(self, number: int) -> int:
        line = self._lines[number]
        text = line.text
        if len(text) <= LONGEST_TITLE and (found := _HEADING.fullmatch(text)):
            return self._heading(number, number + 1, len(found[1]), found[2])
        if attribute := _ATTRIBUTE.fullmatch(text):
            name = _FACTS.get(attribute[1].lower())
            if name and attribute[2]:
                self._marks.metadata.setdefault(name, attribute[2].strip())
            self._marks.hide(line)
        elif _is_directive(text):
            self._marks.hide(line)
        elif text.startswith(".") and text[1:2].isalnum():
            # The title of a block.
            self._marks.hide_in(line, 0, 1)
        return number + 1


def _is_directive(text: str) -> bool:
    """Whether a line is a comment, attributes, a macro, or a mark between blocks."""
    is_comment = text.startswith("//") and not text.startswith("///")
    is_mark = text.rstrip() in ("+", "'''", "<<<")
    return is_comment or is_mark or any(pattern.fullmatch(text) for pattern in (_MACRO, _BLOCK_ATTRIBUTES))
