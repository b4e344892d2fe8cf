"""reStructuredText, Org and AsciiDoc → Document: the unchanged file, with its sections.

See docutils.sourceforge.io/docs/ref/rst/restructuredtext.html, orgmode.org/worg/org-syntax.html and
docs.asciidoctor.org/asciidoc/latest. Comments, link targets, options, drawers, attributes, delimiters and the names of
directives are hidden; the content of notes and tables is text. In Org, a headline with a keyword such as TODO is an
entry of its own, which can be quoted. Files that AsciiDoc includes are documents of their own.
"""

from __future__ import annotations

import re

from answerable.datatypes import Document, DocumentType
from answerable.sources.markup.sections import LONGEST_TITLE, Line, LineReader, Marks, after, read_marked

_ADORNMENT = re.compile(r"([!-/:-@\[-`{-~])\1+[ \t]*")
_EXPLICIT = re.compile(r"([ \t]*)\.\.(?:[ \t]+|$)")
_DIRECTIVE = re.compile(r"(?:\|[^|\n]+\|[ \t]+)?([\w.:+-]+?)[ \t]*::(?:[ \t]+|$)")
_NOTE = re.compile(r"\[[^\]\n]+\][ \t]+\S")
_OPTION = re.compile(r"[ \t]+:[\w -]+:(?:[ \t]|$)")
_FIELD = re.compile(r":(author|authors|date|version):[ \t]+(\S.*)", re.IGNORECASE)
_SHORTEST = 4  # characters of a rule, as in the specification
# Directives that are hidden with their content, which isn't text of this file.
_HIDDEN = frozenset(
    "image toctree contents include literalinclude raw meta highlight default-role role index module currentmodule "
    "py:module py:currentmodule sectnum section-numbering header footer target-notes bibliography replace unicode "
    "automodule autoclass autofunction automethod autosummary autodata autoexception tabularcolumns plot graphviz "
    "title class container-class mermaid uml".split()
)
_HIDDEN_ARGUMENTS = frozenset("code code-block sourcecode figure parsed-literal only ifconfig csv-table".split())


def read_rst(content: str, source: str) -> Document:
    """Return a document with a part for each section. Raise EmptySource."""
    return read_marked(content, source, DocumentType.RST, _RstReader(content).marks())


class _RstReader(LineReader):
    def __init__(self, content: str) -> None:
        super().__init__(content)
        self._styles: list[str] = []

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            number = self._explicit(number) or self._heading(number) or self._plain(number)
        return self._marks

    def _plain(self, number: int) -> int:
        line = self._lines[number]
        if not self._marks.headings[1:] and (field := _FIELD.fullmatch(line.text)):
            self._marks.metadata.setdefault(field[1].lower().removesuffix("s"), field[2].strip())
        is_rule = _ADORNMENT.fullmatch(line.text) and len(line.text.strip()) >= _SHORTEST
        if is_rule and not self._text(number - 1).strip() and not self._text(number + 1).strip():
            self._marks.hide(line)
        return number + 1

    def _heading(self, number: int) -> int | None:
        """Add the heading at this line, with or without an overline; return the next line's number, or None."""
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
        """Hide markup that begins with two dots, or a directive's name only; return the number of the line after it."""
        line = self._lines[number]
        mark = _EXPLICIT.match(line.text)
        if not mark:
            return None
        rest = line.text[mark.end() :]
        directive = _DIRECTIVE.match(rest)
        if directive and directive[1].lower() not in _HIDDEN:
            hides_arguments = directive[1].lower() in _HIDDEN_ARGUMENTS
            self._marks.hide_in(line, 0, len(line.text) if hides_arguments else mark.end() + directive.end())
            number += 1
            while _OPTION.match(self._text(number)):
                self._marks.hide(self._lines[number])
                number += 1
            return number
        if not directive and _NOTE.match(rest):
            self._marks.hide_in(line, 0, mark.end())
            return number + 1
        end = self._block_end(number, len(mark[1])) if rest or self._text(number + 1).strip() else number + 1
        self._marks.hide(*self._lines[number:end])
        return end

    def _block_end(self, number: int, indent: int) -> int:
        """Return the number of the line after the block that is indented by more than `indent`."""
        end = number + 1
        for place in range(end, len(self._lines)):
            text = self._text(place)
            if text.strip() and len(text) - len(text.lstrip()) <= indent:
                break
            end = place + 1 if text.strip() else end
        return end


def _may_be_title(text: str, is_indented: bool) -> bool:
    is_text = bool(text.strip()) and len(text) <= LONGEST_TITLE and not _ADORNMENT.fullmatch(text)
    return is_text and (is_indented or text[0] not in " \t")


_ROLE = re.compile(r":[\w:+.-]+:`([^`<]*?)(?:[ \t]*<[^`>]*>)?`")


def _plain_title(title: str) -> str:
    """Return a heading without roles and back-quotes."""
    return _ROLE.sub(r"\1", title).replace("``", "").replace("`", "").replace("**", "")


_HEADLINE = re.compile(r"(\*+)[ \t]+(\S.*)")
_PRIORITY = re.compile(r"\[#\w{1,2}\][ \t]*")
_TAGS = re.compile(r"[ \t](:[\w@#%:]{1,500}:)[ \t]*$")
_KEYWORD = re.compile(r"[ \t]*#\+([\w-]+)(?:\[[^\]\n]*\])?:[ \t]*")
_BLOCK = re.compile(r"[ \t]*#\+begin_(\w+)", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*")
_COMMENT = re.compile(r"[ \t]*#(?: |$)")
_RULE = re.compile(r"[ \t]*-{5,}[ \t]*")
_ORG_FACTS = {"author": "author", "date": "date", "language": "language", "description": "description"}
_ORG_UNREAD = frozenset({"comment", "export"})


def read_org(content: str, source: str) -> Document:
    """Return a document with a part for each headline. Raise EmptySource."""
    return read_marked(content, source, DocumentType.ORG, _OrgReader(content).marks())


class _OrgReader(LineReader):
    def __init__(self, content: str) -> None:
        super().__init__(content)
        self._states = set("TODO DONE NEXT WAITING WAIT HOLD CANCELLED CANCELED STARTED SOMEDAY".split())
        self._tags: dict[str, None] = {}
        self._commented = 0
        self._closing = self._numbers(lambda text: text.strip().lower())
        self._headlines = self._numbers(lambda text: "*" if _HEADLINE.match(text) else "").get("*", [])

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            line = self._lines[number]
            if headline := _HEADLINE.fullmatch(line.text):
                self._headline(line, len(headline[1]), headline[2])
            elif self._commented:
                self._marks.hide(line)
            elif after_it := self._enclosed(number):
                number = after_it
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

    def _enclosed(self, number: int) -> int | None:
        """Hide a drawer, or a block's delimiters or all of it; return the next line's number. None for other lines."""
        line = self._lines[number]
        block = _BLOCK.match(line.text)
        if not block and not _DRAWER.fullmatch(line.text):
            return None
        name = block[1].lower() if block else ""
        end = after(number, self._closing.get(f"#+end_{name}" if block else ":end:", ()))
        headline = after(number, self._headlines)
        if end is None or (headline is not None and headline < end):
            # Without an end it is no block, and the first line of a drawer is text.
            self._marks.hide(*([line] if block else []))
            return number + 1
        is_read = block and name not in _ORG_UNREAD
        self._marks.hide(*((line, self._lines[end]) if is_read else self._lines[number : end + 1]))
        return end + 1

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
        elif name in _ORG_FACTS:
            self._marks.metadata.setdefault(_ORG_FACTS[name], value)
        elif name == "filetags":
            self._tags.update(dict.fromkeys(filter(None, value.replace(" ", ":").split(":"))))
        elif name in ("todo", "seq_todo", "typ_todo"):
            self._states.update(state.partition("(")[0] for state in value.split() if state != "|")


_HEADING = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|```\w*|[|,:!]={3,})[ \t]*")
_ATTRIBUTE = re.compile(r":!?(\w[\w-]*)!?:(?:[ \t]+(.*))?")
_BLOCK_ATTRIBUTES = re.compile(r"\[[^\n]*\][ \t]*")
_MACRO = re.compile(r"[a-z_]\w*::[^\s\[]*\[.*\][ \t]*")
_ASCIIDOC_FACTS = {"author": "author", "revdate": "date", "description": "description", "keywords": "keywords"}
_ASCIIDOC_UNREAD = "/+"
_VERBATIM = "-.`"


def read_asciidoc(content: str, source: str) -> Document:
    """Return a document with a part for each section. Raise EmptySource."""
    return read_marked(content, source, DocumentType.ASCIIDOC, _AsciidocReader(content).marks())


class _AsciidocReader(LineReader):
    def __init__(self, content: str) -> None:
        super().__init__(content)
        self._closing = self._numbers(str.rstrip)

    def marks(self) -> Marks:
        number = 0
        while number < len(self._lines):
            number = self._block(number) or self._line(number)
        return self._marks

    def _block(self, number: int) -> int | None:
        """Hide a block's delimiters, or a whole comment block; return the number of the line after it, or None."""
        found = _DELIMITER.fullmatch(self._text(number))
        if not found:
            return None
        self._marks.hide(self._lines[number])
        mark = found[1]
        end = after(number, self._closing.get("```" if mark.startswith("```") else mark, ()))
        if end is None or mark == "--" or mark[0] not in _ASCIIDOC_UNREAD + _VERBATIM:
            return number + 1
        if mark[0] in _ASCIIDOC_UNREAD:
            self._marks.hide(*self._lines[number : end + 1])
        self._marks.hide(self._lines[end])
        return end + 1

    def _line(self, number: int) -> int:
        line = self._lines[number]
        text = line.text
        if len(text) <= LONGEST_TITLE and (found := _HEADING.fullmatch(text)):
            self._marks.add(line.start, line.end, len(found[1]), found[2])
        elif attribute := _ATTRIBUTE.fullmatch(text):
            name = _ASCIIDOC_FACTS.get(attribute[1].lower())
            if name and attribute[2]:
                self._marks.metadata.setdefault(name, attribute[2].strip())
            self._marks.hide(line)
        elif _is_directive(text):
            self._marks.hide(line)
        elif text.startswith(".") and text[1:2].isalnum():
            # Hide the full stop before a block's title.
            self._marks.hide_in(line, 0, 1)
        return number + 1


def _is_directive(text: str) -> bool:
    """Whether a line is a comment, attributes, a macro, or a mark between blocks."""
    is_comment = text.startswith("//") and not text.startswith("///")
    is_mark = text.rstrip() in ("+", "'''", "<<<")
    return is_comment or is_mark or any(pattern.fullmatch(text) for pattern in (_MACRO, _BLOCK_ATTRIBUTES))
