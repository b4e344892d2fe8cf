"""What a Word paragraph is, by its style: a heading, an item of a list, a line of the table of contents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
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


class Styles:
    """The paragraph styles of a document."""

    def __init__(self, root: Any | None) -> None:
        styles = () if root is None else root.iterchildren(W + "style")
        self._styles = {style.get(W + "styleId", ""): style for style in styles}
        self._levels: dict[str, int | None] = {}

    def heading(self, paragraph: Any) -> int | None:
        """The level of a heading from 1, TITLE for the document's title, None for other paragraphs."""
        own = _level(value(paragraph, "pPr/outlineLvl"))
        if own is not None:
            return None if own > _DEEPEST else own
        name = value(paragraph, "pPr/pStyle") or ""
        if name not in self._levels:
            self._levels[name] = self._level_of(name)
        return self._levels[name]

    def item(self, paragraph: Any) -> tuple[str, int] | None:
        """The list that a paragraph is an item of, and how deep in it; None for other paragraphs."""
        name = value(paragraph, "pPr/pStyle") or ""
        for holder in (paragraph, *self._chain(name)):
            number = value(holder, "pPr/numPr/numId")
            if number is not None:
                level = value(paragraph, "pPr/numPr/ilvl") or value(holder, "pPr/numPr/ilvl") or ""
                return None if number == "0" else (number, min(int(level), 8) if level.isdecimal() else 0)
        return None

    def is_contents(self, paragraph: Any) -> bool:
        """Whether a paragraph is a line of a table of contents, which only repeats the headings."""
        name = value(paragraph, "pPr/pStyle") or ""
        return any(_CONTENTS.fullmatch(each) for each in self._names(name))

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

    def _names(self, style_id: str) -> tuple[str, ...]:
        return (style_id, value(self._styles.get(style_id), "name") or "")

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


class Lists:
    """The lists of a document, and how far each has counted."""

    def __init__(self, root: Any | None) -> None:
        numbers = () if root is None else root.iterchildren(W + "num")
        kinds = () if root is None else root.iterchildren(W + "abstractNum")
        self._numbers = {number.get(W + "numId"): number for number in numbers}
        self._kinds = {kind.get(W + "abstractNumId"): kind for kind in kinds}
        self._counts: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def marker(self, number: str, level: int) -> str:
        """How Markdown marks the next item of a list: `- ` or its number."""
        found = self._numbers.get(number)
        kind_id = value(found, "abstractNumId") or ""
        definition = _at_level(self._kinds.get(kind_id), "lvl", level)
        if (value(definition, "numFmt") or "") in _NO_MARKER:
            return "- "
        override = value(_at_level(found, "lvlOverride", level), "startOverride")
        # Lists of one kind count on, unless one says where it starts.
        counts = self._counts[(kind_id, number if override is not None else "")]
        first = override or value(definition, "start") or "1"
        start = int(first) if first.isdecimal() and len(first) < 9 else 1
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return f"{counts[level]}. "


def _at_level(element: Any | None, name: str, level: int) -> Any | None:
    children = () if element is None else element.iterchildren(W + name)
    return next((child for child in children if child.get(W + "ilvl") == str(level)), None)
