"""reStructuredText → Document: the unchanged file, with its sections.

See docutils.sourceforge.io/docs/ref/rst/restructuredtext.html. Comments, link targets, options and the names of
directives are hidden; what stands in a note or a table is text.
"""

from __future__ import annotations

import re

from answerable.datatypes import Document, DocumentType
from answerable.sources.markup.sections import LONGEST_TITLE, Line, Marks, lines_of, read_marked

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*")
_EXPLICIT = re.compile(r"([ \t]*)\.\.(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"(?:\|[^|\n]+\|[ \t]+)?([\w.:+-]+?)[ \t]*::(?:[ \t]+|$)")
_NOTE = re.compile(r"\[[^\]\n]+\][ \t]+\S")
_OPTION = re.compile(r"[ \t]+:[\w -]+:(?:[ \t]|$)")
_FIELD = re.compile(r":(author|authors|date|version):[ \t]+(\S.*)", re.IGNORECASE)
_SHORTEST = 4
# Nothing of these is text of this file.
_HIDDEN = frozenset(
    "image toctree contents include literalinclude raw meta highlight default-role role index module currentmodule "
    "py:module py:currentmodule sectnum section-numbering header footer target-notes bibliography replace unicode "
    "automodule autoclass autofunction automethod autosummary autodata autoexception tabularcolumns plot graphviz "
    "title class container-class mermaid uml".split()
)
_HIDDEN_ARGUMENTS = frozenset("code code-block sourcecode figure parsed-literal only ifconfig csv-table".split())


def read_rst(content: str, source: str) -> Document:
    """Return a document with a part for each section. Raise EmptySource."""
    return read_marked(content, source, DocumentType.RST, _Reader(lines_of(content)).marks())


class _Reader:
    def __init__(self, lines: list[Line]) -> None:
        self._lines = lines
        self._marks = Marks()
        self._styles: list[str] = []

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            number = self._explicit(number) or self._heading(number) or self._plain(number)
        if self._marks.headings:
            self._marks.title = self._marks.headings[0].title
        return self._marks

    def _text(self, number: int) -> str:
        return self._lines[number].text if 0 <= number < len(self._lines) else ""

    def _plain(self, number: int) -> int:
        line = self._lines[number]
        if not self._marks.headings[1:] and (field := _FIELD.fullmatch(line.text)):
            self._marks.metadata.setdefault(field[1].lower().removesuffix("s"), field[2].strip())
        is_rule = _ADORNMENT.fullmatch(line.text) and len(line.text.strip()) >= _SHORTEST
        if is_rule and not self._text(number - 1).strip() and not self._text(number + 1).strip():
            self._marks.hide(line)
        return number + 1

    def _heading(self, number: int) -> int | None:
        """Add the heading at this line, with or without a line above it; return the line after it."""
        if self._text(number - 1).strip() and not _ADORNMENT.fullmatch(self._text(number - 1)):
            return None
        above = _ADORNMENT.fullmatch(self._text(number))
        first = number + bool(above)
        title, under = self._text(first), _ADORNMENT.fullmatch(self._text(first + 1))
        if not under or not _may_be_title(title, is_indented=bool(above)):
            return None
        if above and above[0].strip() != under[0].strip():
            return None
        if len(under[0].strip()) < min(len(title.rstrip()), _SHORTEST):
            return None
        style = under[1] * (2 if above else 1)
        if style not in self._styles:
            self._styles.append(style)
        line = self._lines[first + 1]
        self._marks.add(self._lines[number].start, line.end, self._styles.index(style), _plain_title(title))
        return first + 2

    def _explicit(self, number: int) -> int | None:
        """Hide what begins with two dots, or its name; return the line after what is hidden."""
        line = self._lines[number]
        mark = _EXPLICIT.match(line.text)
        if not mark:
            return None
        rest = line.text[mark.end() :]
        directive = _DIRECTIVE.match(rest)
        if directive and directive[1].lower() not in _HIDDEN:
            hides_arguments = directive[1].lower() in _HIDDEN_ARGUMENTS
            self._marks.hide_in(line, 0, len(line.text) if hides_arguments else mark.end() + directive.end())
            return self._after_options(number + 1)
        if not directive and _NOTE.match(rest):
            self._marks.hide_in(line, 0, mark.end())
            return number + 1
        end = self._block_end(number, len(mark[1])) if rest or self._text(number + 1).strip() else number + 1
        self._marks.hide(*self._lines[number:end])
        return end

    def _after_options(self, number: int) -> int:
        while _OPTION.match(self._text(number)):
            self._marks.hide(self._lines[number])
            number += 1
        return number

    def _block_end(self, number: int, indent: int) -> int:
        """Return the line after the block that is indented further than this."""
        end = number = number + 1
        while number < len(self._lines):
            text = self._text(number)
            if text.strip():
                if len(text) - len(text.lstrip()) <= indent:
                    break
                end = number + 1
            number += 1
        return end


def _may_be_title(text: str, is_indented: bool) -> bool:
    is_text = bool(text.strip()) and len(text) <= LONGEST_TITLE and not _ADORNMENT.fullmatch(text)
    return is_text and (is_indented or text[0] not in " \t")


_ROLE = re.compile(r":[\w:+.-]+:`([^`<]*?)(?:[ \t]*<[^`>]*>)?`")


def _plain_title(title: str) -> str:
    """Return a heading without roles and back-quotes."""
    return _ROLE.sub(r"\1", title).replace("``", "").replace("`", "").replace("**", "")
