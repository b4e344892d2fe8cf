"""Remove or refuse markup that takes parsers quadratic time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from answerable.errors import DamagedSource

_MAX_DEPTH = 10_000
_MAX_ATTRIBUTES = 2_000
_NAME_OF_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# One attribute of a tag, or a separator. After a tag's name only these follow.
_ATTRIBUTE = r"[\s/]+|=?[^\s/>=]+(?:\s*=\s*(?:\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z)|[^\s>\"'][^\s>]*)?)?|="
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*(?:{_ATTRIBUTE})*")
_TAG_OR_COMMENT = re.compile(r"<!--|<(?=[a-zA-Z])")
_REST_OF_TAG = rf"(?=[\s/>])(?:{_ATTRIBUTE})*"
# An unclosed tag matches too, so that the expression never backtracks.
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
# Their content contains no tags.
_RAW = re.compile(r"<(script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>])", re.IGNORECASE)
# Elements without an end tag, or with one that is often omitted, and which don't nest directly.
_UNCLOSED_NAMES = (
    "area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th thead "
    "tbody tfoot colgroup rt rp html head body"
)
_UNCLOSED = frozenset(_UNCLOSED_NAMES.split())


def bounded(markup: str, source: str) -> str:
    """Remove markup that takes parsers quadratic time. Raise DamagedSource if elements are nested too deeply."""
    _refuse_depth(markup, source)
    if len(markup) >= 2 * _MAX_ATTRIBUTES and any(len(tag) > 2 * _MAX_ATTRIBUTES for tag in _TAG.findall(markup)):
        # Parsers compare each attribute with all before it.
        markup = "".join(_with_few_attributes(markup))
    markup = _without_open_formatting(markup)
    # Each option is compared with all, and the first root receives the attributes of all.
    for tag, most in ((_OPTION, _MOST_OPTIONS), (_ROOT, _MOST_ROOTS)):
        markup = tag.sub("", markup) if len(tag.findall(markup)) > most else markup
    return markup


def _refuse_depth(markup: str, source: str) -> None:
    if markup.count("<") < _MAX_DEPTH:
        return
    depth = 0
    for closing, name in _NAME_OF_TAG.findall(markup):
        if name.lower() not in _UNCLOSED:
            depth = max(0, depth - 1) if closing else depth + 1
        if depth > _MAX_DEPTH:
            raise DamagedSource(
                f"{source} nests its elements over {_MAX_DEPTH:,} deep: "
                "leave it out, or print the page to a PDF and add that"
            )


def _without_open_formatting(markup: str) -> str:
    """Remove `<font …>` and the like if hundreds are open at once.

    An HTML parser opens them again in each following paragraph.
    """
    open_now, kinds = 0, set()
    for closing, tag in _FORMATTING.findall(markup):
        open_now = max(0, open_now - 1) if closing else open_now + 1
        kinds.add(tag)
        if open_now > _MOST_OPEN and len(kinds) > _MOST_OPEN:
            return _FORMATTING.sub("", markup)
    return markup


def count_blocks(markup: str) -> int:
    """Count paragraphs, cells and the like, approximately."""
    return len(_BLOCK.findall(markup))


def has_wide_rows(markup: str) -> bool:
    """Whether a table row may have over 1,000 cells."""
    row = 0
    for name in _CELL_OR_ROW.findall(markup):
        row = 0 if name.lower() == "tr" else row + 1
        if row > _MOST_CELLS:
            return True
    return False


def _with_few_attributes(markup: str) -> Iterator[str]:
    reached = 0
    while found := _TAG_OR_COMMENT.search(markup, reached):
        start = found.start()
        if found[0] == "<!--":
            end = markup.find("-->", start)
            end = len(markup) if end < 0 else end
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
