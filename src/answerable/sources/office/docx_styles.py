"""The styles and lists of Word documents: which paragraphs are headings or list items, and how text looks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from answerable.sources.office.numbering import DEEPEST, LONGEST_LABEL, Level, Numbering
from answerable.sources.xml import whole_number

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"
TITLE = 0
"""The level of the document's own title, above all headings."""
_BODY = 10  # Word's outline level of body text, counted from 1

# Word stores its built-in styles under English names in every language; other programs and users translate them.
_HEADING_NAMES = (
    "heading|título|titulo|ttulo|encabezado|cabeçalho|titre|überschrift|berschrift|titolo|kop|rubrik|overskrift"
    "|otsikko|nagłówek|nadpis|заголовок|标题|見出し"
)
_HEADING = re.compile(rf"(?:{_HEADING_NAMES})\s*([1-9])", re.IGNORECASE)
_TITLE = re.compile(r"title|document title|título|titulo|ttulo|titre|titel|titolo", re.IGNORECASE)
_CONTENTS = re.compile(r"(?:toc|índice|sumário|contents)\s*[1-9]|table of figures", re.IGNORECASE)


def value(element: Any, path: str) -> str | None:
    """Return the `w:val` of the first element at a path of tag names; None if there is no such element."""
    for name in path.split("/"):
        element = None if element is None else element.find(W + name)
    return None if element is None else element.get(W + "val", "")


OFF = (None, "0", "false", "off", "none")
"""The values of a switch that is off."""


def is_on(element: Any, path: str) -> bool:
    """Whether the switch at a path is present and not set to off."""
    return value(element, path) not in OFF


@dataclass(frozen=True, slots=True)
class _Style:
    """A style: its heading level, whether it is for tables of contents, its list and depth, and how its text looks."""

    level: int
    is_contents: bool
    number: str | None
    depth: int
    look: Mapping[str, str]


_LOOKS = {W + name: name for name in ("rStyle", "vanish", "strike", "dstrike", "vertAlign")}


class Styles:
    """The styles of a document. Each is parsed once: a hostile document uses one huge style everywhere."""

    def __init__(self, root: Any | None, lists: Mapping[str, Numbering]) -> None:
        styles = () if root is None else root.iterchildren(W + "style")
        self._styles = {style.get(W + "styleId", ""): style for style in styles}
        self._parsed: dict[str, _Style] = {}
        self._depths = {
            (number, level.style): depth
            for number, each in lists.items()
            for depth, level in each.levels.items()
            if level.style
        }

    def heading(self, paragraph: Any) -> int | None:
        """Return the level of a heading, from 1; TITLE for the document's title; None for other paragraphs."""
        level = _level(paragraph) or self._of(paragraph).level
        return level if level < _BODY else None

    def item(self, paragraph: Any) -> tuple[str, int] | None:
        """Return the list that a paragraph belongs to, with the depth in that list; None for other paragraphs."""
        number, level = _numbering(paragraph)
        style = self._of(paragraph)
        depth = style.depth if level is None and number is None else _depth(level)
        number = style.number if number is None else number
        return None if number in (None, "0") else (number, depth)

    def look(self, name: str) -> Mapping[str, str]:
        """Return how text of a style looks: the values of vanish, strike and so on."""
        return self._named(name).look

    def is_contents(self, paragraph: Any) -> bool:
        """Whether a paragraph is a line of a table of contents, which repeats the headings."""
        return self._of(paragraph).is_contents

    def _of(self, paragraph: Any) -> _Style:
        return self._named(value(paragraph, "pPr/pStyle") or "")

    def _named(self, name: str) -> _Style:
        if name not in self._parsed:
            chain = list(self._chain(name))
            own_names = (name, value(self._styles.get(name), "name") or "")
            is_contents = any(_CONTENTS.fullmatch(each) for each in own_names)
            numbers, depths = zip(*map(_numbering, chain), strict=True) if chain else ((), ())
            number = next(filter(None, numbers), None)
            # A level of a list names its style; otherwise the style names its level.
            linked = (self._depths.get((number or "", style.get(W + "styleId", ""))) for style in chain)
            depth = next((each for each in linked if each is not None), _depth(next(filter(None, depths), None)))
            look = {key: text for style in reversed(chain) for key, text in look_of(style).items()}
            self._parsed[name] = _Style(_level_of(chain), is_contents, number, depth, look)
        return self._parsed[name]

    def _chain(self, style_id: str | None) -> Iterator[Any]:
        """Yield a style, then the style it is based on, and so on."""
        # The styles in a hostile document may be based on each other in a circle.
        for _ in range(20):
            style = self._styles.get(style_id or "")
            if style is None:
                return
            yield style
            style_id = value(style, "basedOn")


def _level_of(chain: Iterable[Any]) -> int:
    """Return the level of a style: the first outline level or heading name along its chain of base styles."""
    for style in chain:
        if outline := _level(style):
            return outline
        for name in (value(style, "name") or "", style.get(W + "styleId", "")):
            level = heading_level(name.strip())
            if level is not None:
                return level
    return _BODY


def heading_level(name: str) -> int | None:
    """Return the heading level that a style's name states, TITLE for the document's title, None for other styles."""
    if match := _HEADING.fullmatch(name):
        return int(match[1])
    return TITLE if _TITLE.fullmatch(name) else None


def _level(holder: Any) -> int:
    """Return the outline level of a paragraph or style from 1; 0 if it states none."""
    return whole_number(value(holder, "pPr/outlineLvl"), -1) + 1


def _numbering(holder: Any) -> tuple[str | None, str | None]:
    """Return the list that a paragraph or style names, and the depth in that list."""
    return value(holder, "pPr/numPr/numId"), value(holder, "pPr/numPr/ilvl")


def _depth(level: str | None) -> int:
    return min(whole_number(level), DEEPEST)


def look_of(holder: Any) -> dict[str, str]:
    """Return what a run or style itself says of how text looks, and the style that a run names."""
    properties = holder.find(f"{W}rPr")
    found = () if properties is None else properties.iterchildren("*")
    return {_LOOKS[each.tag]: each.get(f"{W}val", "") for each in found if each.tag in _LOOKS}


def read_lists(root: Any | None) -> dict[str, Numbering]:
    """Return the lists that a numbering part defines, by their number."""
    if root is None:
        return {}
    kinds = {each.get(W + "abstractNumId", ""): each for each in root.iterchildren(W + "abstractNum")}
    linked = {value(each, "styleLink"): each for each in kinds.values()}
    levels = {
        kind: _levels(linked.get(value(each, "numStyleLink") or "", each).iterchildren(W + "lvl"))
        for kind, each in kinds.items()
    }
    found = {}
    for each in root.iterchildren(W + "num"):
        kind = value(each, "abstractNumId") or ""
        overrides = list(each.iterchildren(W + "lvlOverride"))
        own = {**levels.get(kind, {}), **_levels(level for one in overrides for level in one.iterchildren(W + "lvl"))}
        stated = {_depth(one.get(W + "ilvl")): whole_number(value(one, "startOverride"), -1) for one in overrides}
        starts = {depth: start for depth, start in stated.items() if start >= 0 and depth in own}
        own |= {depth: replace(own[depth], start=start) for depth, start in starts.items()}
        found[each.get(W + "numId", "")] = Numbering(kind, own, frozenset(starts))
    return found


def _levels(elements: Iterable[Any]) -> dict[int, Level]:
    return {_depth(each.get(W + "ilvl")): _list_level(each) for each in elements}


def _list_level(element: Any) -> Level:
    return Level(
        shape=value(element, "numFmt") or "decimal",
        text="" if is_on(element, "rPr/vanish") else (value(element, "lvlText") or "")[:LONGEST_LABEL],
        start=whole_number(value(element, "start"), 1),
        restart=whole_number(value(element, "lvlRestart"), DEEPEST + 1),
        is_legal=is_on(element, "isLgl"),
        gap="" if value(element, "suff") == "nothing" else " ",
        style=value(element, "pStyle") or "",
    )
