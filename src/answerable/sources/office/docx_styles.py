"""What a Word paragraph is, by its style: a heading, an item of a list, a line of the table of contents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TITLE = 0
"""The level of the document's own title, above all headings."""

_DEEPEST = 9
_LONGEST_CHAIN = 20
# Word keeps the English names of its own styles in every language; other programs, and people, write theirs.
_HEADING_NAMES = (
    "heading|título|titulo|ttulo|encabezado|cabeçalho|titre|überschrift|berschrift|titolo|kop|rubrik|overskrift"
    "|otsikko|nagłówek|nadpis|заголовок|标题|見出し"
)
_HEADING = re.compile(rf"(?:{_HEADING_NAMES})\s*([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"title|document title|título|titulo|ttulo|titre|titel|titolo", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|índice|sumário|contents)\s*[1-9]|table of figures", re.IGNORECASE)
_NO_MARKER = frozenset({"bullet", "none", ""})


def value(element: Any, path: str) -> str | None:
    """The `w:val` of the first element at a path of names, None where there is none."""
    for name in path.split("/"):
        element = None if element is None else element.find(W + name)
    return None if element is None else element.get(W + "val", "")


def is_on(element: Any, path: str) -> bool:
    """Whether a switch at a path is set: it is when it stands there, unless it says otherwise."""
    return value(element, path) not in (None, "0", "false", "off", "none")


@dataclass(frozen=True, slots=True)
class _Style:
    """What a paragraph style makes of a paragraph: a heading's level, a line of the contents, an item of a list."""

    level: int | None
    is_contents: bool
    number: str | None
    depth: str | None


class Styles:
    """The paragraph styles of a document. Each is read once: a hostile one is long, and used by all paragraphs."""

    def __init__(self, root: Any | None) -> None:
        styles = () if root is None else root.iterchildren(W + "style")
        self._styles = {style.get(W + "styleId", ""): style for style in styles}
        self._read: dict[str, _Style] = {}

    def heading(self, paragraph: Any) -> int | None:
        """The level of a heading from 1, TITLE for the document's title, None for other paragraphs."""
        own = _level(value(paragraph, "pPr/outlineLvl"))
        if own is not None:
            return None if own > _DEEPEST else own
        return self._of(paragraph).level

    def item(self, paragraph: Any) -> tuple[str, int] | None:
        """The list that a paragraph is an item of, and how deep in it; None for other paragraphs."""
        number, level = _numbering(paragraph)
        if number is None:
            style = self._of(paragraph)
            number, level = style.number, level or style.depth
        if number is None or number == "0":
            return None
        return number, min(int(level), 8) if level and level.isdecimal() else 0

    def is_contents(self, paragraph: Any) -> bool:
        """Whether a paragraph is a line of a table of contents, which only repeats the headings."""
        return self._of(paragraph).is_contents

    def _of(self, paragraph: Any) -> _Style:
        name = value(paragraph, "pPr/pStyle") or ""
        if name not in self._read:
            own_names = (name, value(self._styles.get(name), "name") or "")
            numberings = (_numbering(style) for style in self._chain(name))
            number, depth = next((each for each in numberings if each[0] is not None), (None, None))
            is_contents = any(_CONTENTS.fullmatch(each) for each in own_names)
            self._read[name] = _Style(self._level_of(name), is_contents, number, depth)
        return self._read[name]

    def _level_of(self, style_id: str) -> int | None:
        for style in self._chain(style_id):
            outline = _level(value(style, "pPr/outlineLvl"))
            if outline is not None:
                return None if outline > _DEEPEST else outline
            names = (value(style, "name") or "", style.get(W + "styleId", ""))
            for name in names:
                if match := _HEADING.fullmatch(name.strip()):
                    return int(match[1])
                if _TITLE.fullmatch(name.strip()):
                    return TITLE
        return None

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        """A style and those it is based on."""
        for _ in range(_LONGEST_CHAIN):
            style = self._styles.get(style_id or "")
            if style is None:
                return
            yield style
            style_id = value(style, "basedOn")


def _level(outline: str | None) -> int | None:
    """Outline levels count from 0; 9 is body text."""
    return int(outline) + 1 if outline and outline.isdecimal() and len(outline) < 3 else None


def _numbering(holder: Any) -> tuple[str | None, str | None]:
    """The list that a paragraph or a style names, and how deep in it."""
    return value(holder, "pPr/numPr/numId"), value(holder, "pPr/numPr/ilvl")


class Lists:
    """The lists of a document, and how far each has counted."""

    def __init__(self, root: Any | None) -> None:
        numbers = () if root is None else root.iterchildren(W + "num")
        kinds = () if root is None else root.iterchildren(W + "abstractNum")
        self._numbers = {
            number.get(W + "numId"): (
                value(number, "abstractNumId") or "",
                _by_level(number, "lvlOverride", "startOverride"),
            )
            for number in numbers
        }
        self._kinds = {
            kind.get(W + "abstractNumId"): (_by_level(kind, "lvl", "numFmt"), _by_level(kind, "lvl", "start"))
            for kind in kinds
        }
        self._counts: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def marker(self, number: str, level: int) -> str:
        """How Markdown marks the next item of a list: `- ` or its number."""
        kind_id, overrides = self._numbers.get(number, ("", {}))
        formats, starts = self._kinds.get(kind_id, ({}, {}))
        if (formats.get(str(level)) or "") in _NO_MARKER:
            return "- "
        override = overrides.get(str(level))
        # Lists of one kind count on, unless one says where it starts.
        counts = self._counts[(kind_id, number if override is not None else "")]
        first = override or starts.get(str(level)) or "1"
        start = int(first) if first.isdecimal() and len(first) < 9 else 1
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return f"{counts[level]}. "


def _by_level(element: Any, name: str, path: str) -> dict[str | None, str | None]:
    """The value at a path in each child of that name, by its level; of two for one level the first."""
    children = element.iterchildren(W + name, reversed=True)
    return {child.get(W + "ilvl"): value(child, path) for child in children}
