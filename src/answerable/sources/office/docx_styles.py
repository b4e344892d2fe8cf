"""Word styles and numbering: which paragraphs are headings, list items and lines of the table of contents."""

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
# Word keeps its own English names of styles in every language; other programs, and people, write theirs.
_HEADING_NAMES = (
    "heading|título|titulo|ttulo|encabezado|cabeçalho|titre|überschrift|berschrift|titolo|kop|rubrik|overskrift"
    "|otsikko|nagłówek|nadpis|заголовок|标题|見出し"
)
_HEADING = re.compile(rf"(?:{_HEADING_NAMES})\s*([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"title|document title|título|titulo|ttulo|titre|titel|titolo", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|índice|sumário|contents)\s*[1-9]|table of figures", re.IGNORECASE)


def value(element: Any, path: str) -> str | None:
    """Return the `w:val` of the first element at a path of names, None without one."""
    for name in path.split("/"):
        element = None if element is None else element.find(W + name)
    return None if element is None else element.get(W + "val", "")


def is_on(element: Any, path: str) -> bool:
    """Whether the switch at a path is present and not set to off."""
    return value(element, path) not in (None, "0", "false", "off", "none")


@dataclass(frozen=True, slots=True)
class _Style:
    """A paragraph style: its heading level, its list and depth there, and whether it is for tables of contents."""

    level: int | None
    is_contents: bool
    number: str | None
    depth: str | None


class Styles:
    """The paragraph styles of a document. Each is parsed once: a hostile document uses one huge style everywhere."""

    def __init__(self, root: Any | None) -> None:
        styles = () if root is None else root.iterchildren(W + "style")
        self._styles = {style.get(W + "styleId", ""): style for style in styles}
        self._parsed: dict[str, _Style] = {}

    def heading(self, paragraph: Any) -> int | None:
        """Return the level of a heading from 1, TITLE for the document's title, None for other paragraphs."""
        own = _level(paragraph)
        return self._of(paragraph).level if own is None else _heading_or_none(own)

    def item(self, paragraph: Any) -> tuple[str, int] | None:
        """Return the list that a paragraph belongs to and its depth in it, None for other paragraphs."""
        number, level = _numbering(paragraph)
        if number is None:
            style = self._of(paragraph)
            number, level = style.number, level or style.depth
        if number is None or number == "0":
            return None
        return number, min(int(level), 8) if level and level.isdecimal() else 0

    def is_contents(self, paragraph: Any) -> bool:
        """Whether a paragraph is a line of a table of contents, which repeats the headings."""
        return self._of(paragraph).is_contents

    def _of(self, paragraph: Any) -> _Style:
        name = value(paragraph, "pPr/pStyle") or ""
        if name not in self._parsed:
            chain = list(self._chain(name))
            own_names = (name, value(self._styles.get(name), "name") or "")
            numberings = (_numbering(style) for style in chain)
            number, depth = next((each for each in numberings if each[0] is not None), (None, None))
            is_contents = any(_CONTENTS.fullmatch(each) for each in own_names)
            self._parsed[name] = _Style(_level_of(chain), is_contents, number, depth)
        return self._parsed[name]

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        """Yield a style, then the style it is based on, and so on."""
        for _ in range(_LONGEST_CHAIN):
            style = self._styles.get(style_id or "")
            if style is None:
                return
            yield style
            style_id = value(style, "basedOn")


def _level_of(chain: list[Any]) -> int | None:
    """Return the heading level of a style: the first outline level or heading name along its chain of base styles."""
    for style in chain:
        outline = _level(style)
        if outline is not None:
            return _heading_or_none(outline)
        for name in (value(style, "name") or "", style.get(W + "styleId", "")):
            level = heading_level(name.strip())
            if level is not None:
                return level
    return None


def heading_level(name: str) -> int | None:
    """Return the level that a style's name says, TITLE for the document's title, None for other styles."""
    if match := _HEADING.fullmatch(name):
        return int(match[1])
    return TITLE if _TITLE.fullmatch(name) else None


def _level(holder: Any) -> int | None:
    """Return the outline level of a paragraph or style from 1; 10 is body text."""
    outline = value(holder, "pPr/outlineLvl")
    return int(outline) + 1 if outline and outline.isdecimal() and len(outline) < 3 else None


def _heading_or_none(level: int) -> int | None:
    return level if level <= _DEEPEST else None


def _numbering(holder: Any) -> tuple[str | None, str | None]:
    """Return the list that a paragraph or style names, and the depth in it."""
    return value(holder, "pPr/numPr/numId"), value(holder, "pPr/numPr/ilvl")


class Lists:
    """The lists of a document and their current counts."""

    def __init__(self, root: Any | None) -> None:
        def children(name: str) -> list[Any]:
            return [] if root is None else list(root.iterchildren(W + name))

        self._numbers = {
            each.get(W + "numId"): (value(each, "abstractNumId") or "", _by_level(each, "lvlOverride", "startOverride"))
            for each in children("num")
        }
        self._kinds = {
            each.get(W + "abstractNumId"): (_by_level(each, "lvl", "numFmt"), _by_level(each, "lvl", "start"))
            for each in children("abstractNum")
        }
        self._counts: defaultdict[tuple[str, str], dict[int, int]] = defaultdict(dict)

    def marker(self, number: str, level: int) -> str:
        """Return the Markdown marker of a list's next item: `- ` or its number."""
        kind, overrides = self._numbers.get(number, ("", {}))
        formats, starts = self._kinds.get(kind, ({}, {}))
        if (formats.get(str(level)) or "") in ("bullet", "none", ""):
            return "- "
        override = overrides.get(str(level))
        # Lists of one kind continue counting unless one overrides its start.
        counts = self._counts[kind, "" if override is None else number]
        first = override or starts.get(str(level)) or "1"
        start = int(first) if first.isdecimal() and len(first) < 9 else 1
        counts[level] = counts[level] + 1 if level in counts else start
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        return f"{counts[level]}. "


def _by_level(element: Any, name: str, path: str) -> dict[str | None, str | None]:
    """Map the level of each child called `name` to the value at `path`; the first child of each level counts."""
    children = element.iterchildren(W + name, reversed=True)
    return {child.get(W + "ilvl"): value(child, path) for child in children}
