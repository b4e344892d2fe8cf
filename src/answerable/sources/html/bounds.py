"""Markup that parsers take time over that grows with the square of its size → markup that they don't, or an error."""

from __future__ import annotations

import re
from collections.abc import Iterator

from answerable.errors import DamagedSource

_MAX_DEPTH = 10_000
_MAX_ATTRIBUTES = 2_000
_NAME_OF_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# One attribute of a tag, or what stands between two. All that can follow a tag's name is a row of these.
_ATTRIBUTE = r"[\s/]+|=?[^\s/>=]+(?:\s*=\s*(?:\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z)|[^\s>\"'][^\s>]*)?)?|="
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*(?:{_ATTRIBUTE})*")
_TAG_OR_COMMENT = re.compile(r"<!--|<(?=[a-zA-Z])")
_REST_OF_TAG = rf"(?=[\s/>])(?:{_ATTRIBUTE})*"
# A tag that never ends is one too, so that the expression never goes back.
_END_OF_TAG = r"(?:>|\Z)"
_FORMATTING = re.compile(
    rf"<(/?)((?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u){_REST_OF_TAG}){_END_OF_TAG}", re.IGNORECASE
)
_MOST_OPEN = 200
_OPTION = re.compile(rf"</?option{_REST_OF_TAG}{_END_OF_TAG}", re.IGNORECASE)
_MOST_OPTIONS = 1_000
_ROOT = re.compile(rf"<(?:html|body){_REST_OF_TAG}{_END_OF_TAG}", re.IGNORECASE)
_MOST_ROOTS = 100
_BLOCK = re.compile(
    r"<(?:p|div|t[dhr]|li|[dou]l|d[dt]|h[1-6]|pre|blockquote|table|option|form|fieldset|caption|center|br)[\s/>]", re.I
)
_CELL_OR_ROW = re.compile(r"<(t[dhr])[\s/>]", re.IGNORECASE)
_MOST_CELLS = 1_000
# Between their tags nothing is a tag.
_RAW = re.compile(r"<(script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>])", re.IGNORECASE)
# Elements without an end tag, or whose end tag is often left out and which don't nest directly.
_UNCLOSED_NAMES = (
    "area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th thead "
    "tbody tfoot colgroup rt rp html head body"
)
_UNCLOSED = frozenset(_UNCLOSED_NAMES.split())


def refuse_depth(markup: str, source: str) -> None:
    """Raises DamagedSource for a page that is all opening tags: parsing takes time with the square of the depth."""
    if markup.count("<") < _MAX_DEPTH:
        return
    depth = 0
    for closing, name in _NAME_OF_TAG.findall(markup):
        if name.lower() not in _UNCLOSED:
            depth = max(0, depth - 1) if closing else depth + 1
        if depth > _MAX_DEPTH:
            raise DamagedSource(
                f"{source} nests its elements over {_MAX_DEPTH:,} deep, which no browser's reader would see: "
                "leave it out, or print the page to a PDF and add that"
            )


def without_surplus_attributes(markup: str) -> str:
    """The markup with 2,000 attributes an element at most: parsers compare each with all those before it."""
    if len(markup) < 2 * _MAX_ATTRIBUTES or not _has_long_tag(markup):
        return markup
    return "".join(_kept(markup))


def without_many_options(markup: str) -> str:
    """The markup without the tags of a menu's options where there are over 1,000: the parser compares each with all.

    What menus hold is no text of a page.
    """
    return _OPTION.sub("", markup) if len(_OPTION.findall(markup)) > _MOST_OPTIONS else markup


def without_many_roots(markup: str) -> str:
    """The markup without the tags of `html` and `body` where there are over 100: the first takes attributes of all."""
    return _ROOT.sub("", markup) if len(_ROOT.findall(markup)) > _MOST_ROOTS else markup


def without_open_formatting(markup: str) -> str:
    """The markup without `<font …>` and the like where hundreds of them are open at once.

    By the rules of HTML each paragraph repeats what is open before it, unless that is the same tag.
    """
    open_now, kinds = 0, set()
    for closing, tag in _FORMATTING.findall(markup):
        open_now = max(0, open_now - 1) if closing else open_now + 1
        kinds.add(tag)
        if open_now > _MOST_OPEN and len(kinds) > _MOST_OPEN:
            return _FORMATTING.sub("", markup)
    return markup


def count_blocks(markup: str) -> int:
    """About how many paragraphs, cells and the like a page has."""
    return len(_BLOCK.findall(markup))


def has_wide_rows(markup: str) -> bool:
    """Whether a table may have rows of over 1,000 cells."""
    row = 0
    for name in _CELL_OR_ROW.findall(markup):
        row = 0 if name.lower() == "tr" else row + 1
        if row > _MOST_CELLS:
            return True
    return False


def _has_long_tag(markup: str) -> bool:
    """Whether anything that looks like a tag, be it in a script, is long enough to have too many attributes."""
    return any(len(tag) > 2 * _MAX_ATTRIBUTES for tag in _TAG.findall(markup))


def _kept(markup: str) -> Iterator[str]:
    reached = 0
    while found := _TAG_OR_COMMENT.search(markup, reached):
        start = found.start()
        if found[0] == "<!--":
            end = _behind(markup.find("-->", start), markup)
            yield markup[reached:end]
            reached = end
            continue
        tag = _TAG.match(markup, start)
        assert tag is not None
        yield markup[reached:start]
        yield _shortened(tag[0])
        reached = tag.end()
        if raw := _RAW.match(markup, start):
            closing = re.compile(rf"</{raw[1]}", re.IGNORECASE).search(markup, reached)
            end = closing.start() if closing else len(markup)
            yield markup[reached:end]
            reached = end
    yield markup[reached:]


def _behind(place: int, markup: str) -> int:
    return len(markup) if place < 0 else place


def _shortened(tag: str) -> str:
    if len(tag) <= 2 * _MAX_ATTRIBUTES:
        return tag
    name = _NAME_OF_TAG.match(tag)
    assert name is not None
    attributes = (each for each in _EACH_ATTRIBUTE.finditer(tag, name.end()) if not each[0].isspace())
    for number, each in enumerate(attributes):
        if number == _MAX_ATTRIBUTES:
            return tag[: each.start()]
    return tag
