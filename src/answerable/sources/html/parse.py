"""Bytes of a web page → markup that parses in linear time → its tree → Markdown.

Markup that takes parsers quadratic time is removed or refused. Headings, paragraphs, lists, code blocks, tables and
quotations keep their form. Emphasis, inline code and links become plain text, so that quotes are found on the page.
Menus, scripts, comments and hidden elements are left out.
"""

from __future__ import annotations

import codecs
import re
from itertools import islice

from selectolax.lexbor import LexborHTMLParser
from selectolax.lexbor import LexborNode as Node

from answerable.errors import DamagedSource
from answerable.sources.html.cells import cells_of, is_layout, rows_of
from answerable.sources.html.words import (
    ITEM,
    LINE_NUMBERS,
    MAX_DEPTH,
    add_inline_text,
    attribute,
    classes,
    code_language,
    code_text,
    deep_text,
    formula,
    holds_blocks,
    inline_text,
    is_dropped,
    one_line,
    visible_text,
)
from answerable.sources.markdown import MARK, Heading, indented, place_headings, table, tight
from answerable.sources.text import decode, decode_declared, looks_binary, with_plain_line_ends
from answerable.text.characters import encodable
from answerable.text.notation import with_notes

_MAX_DEPTH = 10_000  # levels of nested elements; a round number, not measured
_MAX_ATTRIBUTES = 2_000  # attributes of one tag; a round number, not measured
_NAME_OF_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
# One attribute of a tag, or a separator. After a tag's name only these follow.
_ATTRIBUTE = r"[\s/]+|=?[^\s/>=]+(?:\s*=\s*(?:\"[^\"]*(?:\"|\Z)|'[^']*(?:'|\Z)|[^\s>\"'][^\s>]*)?)?|="
_EACH_ATTRIBUTE = re.compile(_ATTRIBUTE)
_TAG = re.compile(rf"<[a-zA-Z][^\s/>]*(?:{_ATTRIBUTE})*")
_REST_OF_TAG = rf"(?=[\s/>])(?:{_ATTRIBUTE})*"
# An unclosed tag matches too, so that the expression never backtracks.
_END_OF_TAG = r"(?:>|\Z)"
_FORMATTING = re.compile(
    rf"<(/?)((?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u){_REST_OF_TAG}){_END_OF_TAG}", re.IGNORECASE
)
_MOST_OPEN = 200  # formatting elements open at once; a round number, not measured
_OPTION = re.compile(rf"</?option{_REST_OF_TAG}{_END_OF_TAG}", re.IGNORECASE)
_MOST_OPTIONS = 1_000  # `<option>` tags of a page; a round number, not measured
_ROOT = re.compile(rf"<(?:html|body){_REST_OF_TAG}{_END_OF_TAG}", re.IGNORECASE)
_MOST_ROOTS = 100  # `<html>` and `<body>` tags of a page; a real page has one of each
_BLOCK = re.compile(
    r"<(?:p|div|t[dhr]|li|[dou]l|d[dt]|h[1-6]|pre|blockquote|table|option|form|fieldset|caption|center|br)[\s/>]", re.I
)
_CELL_OR_ROW = re.compile(r"<(t[dhr])[\s/>]", re.IGNORECASE)
_MOST_CELLS = 1_000  # cells of a table row; a round number, not measured
# Tags, with what follows a tag whose element contains no tags; comments contain none either.
_TAG_OR_TEXT = re.compile(
    r"<!(?=--).*?(?:-->|\Z)"
    r"|(?P<tag><(?:(?P<raw>script|style|textarea|title|xmp|iframe|noembed|noframes)(?=[\s/>])|[a-z][^\s/>]*)"
    rf"(?:{_ATTRIBUTE})*)(?P<text>(?(raw).*?(?=</(?P=raw)|\Z)))",
    re.IGNORECASE | re.DOTALL,
)
# Elements that have no end tag, or whose end tag is often omitted and which don't nest directly.
_UNCLOSED = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th thead "
    "tbody tfoot colgroup rt rp html head body".split()
)
# A declared UTF-16 is wrong, or the declaration wouldn't have been found; UTF-8 is recognised without it.
_CHARSET = re.compile(rb"<meta[^>]{0,500}?charset\s*=\s*[\"']?\s*((?!utf)[\w.:-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']((?!(?i:utf))[\w.:-]{1,40})")


def decode_html(data: bytes, source: str) -> str:
    """Decode markup by byte order mark, as UTF-8 if valid, as declared, or by detection."""
    head = data[:4096]
    label = _XML_ENCODING.search(head) or _CHARSET.search(head)
    if label and not data.startswith((codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = decode_declared(data, label[1].decode("ascii", "replace"))
        if not looks_binary(text):
            return with_plain_line_ends(text)
    return decode(data, source)


def valid_markup(data: bytes | str, source: str) -> str:
    """Return markup without what takes parsers quadratic time. Raise DamagedSource if it is nested too deeply."""
    # Lone surrogates and NULs break the parsers; `decode_html` returns none.
    markup = decode_html(data, source) if isinstance(data, bytes) else encodable(data).replace("\0", "\ufffd")
    _refuse_depth(markup, source)
    if len(markup) >= 2 * _MAX_ATTRIBUTES and any(len(tag) > 2 * _MAX_ATTRIBUTES for tag in _TAG.findall(markup)):
        # Parsers compare each attribute of a tag with all attributes before it.
        markup = _TAG_OR_TEXT.sub(_shortened, markup)
    markup = _without_open_formatting(markup)
    # Parsers compare each option with all others, and add the attributes of all roots to the first root.
    for tag, most in ((_OPTION, _MOST_OPTIONS), (_ROOT, _MOST_ROOTS)):
        markup = tag.sub("", markup) if len(tag.findall(markup)) > most else markup
    return markup


def parse_page(markup: str) -> LexborHTMLParser:
    """Parse valid markup."""
    return LexborHTMLParser(markup)


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
    """Remove `<font …>` and the like if hundreds are open at once: parsers open them again in each paragraph."""
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


def _shortened(found: re.Match[str]) -> str:
    """Return a tag with its first attributes, and the text that follows it."""
    tag = found["tag"] or ""
    name = _NAME_OF_TAG.match(tag)
    if name is None or len(tag) <= 2 * _MAX_ATTRIBUTES:
        return found[0]
    attributes = (each.start() for each in _EACH_ATTRIBUTE.finditer(tag, name.end()) if not each[0].isspace())
    return tag[: next(islice(attributes, _MAX_ATTRIBUTES, None), None)] + found["text"]


_NOTE = re.compile(r"\[\^[^\[\]\n]{1,20}\]:?")
_ITEM = re.compile(rf"{ITEM}([^{ITEM}]*){ITEM}\s*")
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def render(root: Node) -> tuple[str, list[Heading]]:
    """Return the Markdown of an element, and its headings with their offsets in it."""
    headings: list[Heading] = []
    return place_headings(with_notes("\n\n".join(_blocks(root, headings, 0)).replace(ITEM, "")), headings)


def _blocks(node: Node, headings: list[Heading], depth: int) -> list[str]:
    """Return an element's children as blocks of Markdown."""
    if depth > MAX_DEPTH:
        text = one_line(deep_text(node))
        return [text] if text else []
    blocks: list[str] = []
    run: list[str] = []
    joint = ""

    def flush() -> None:
        if run and (text := one_line("".join(run))):
            blocks.append(text)
        run.clear()

    for child in node.iter(include_text=True):
        if not child.is_text_node:
            if is_dropped(child):
                continue
            if holds_blocks(child):
                flush()
                own = _block(child, headings, depth + 1)
                is_joined = child.tag == "dd" and bool(joint and blocks and own) and _are_lines(blocks[-1], own[0])
                if is_joined:
                    # A term and what it means are one line: "Rent: 1,200 euros; 1,300 from May".
                    own[0] = f"{blocks.pop().rstrip(':.')}{joint}{own[0][1:]}"
                joint = ":" if child.tag == "dt" else ";" if is_joined and len(own) == 1 else ""
                blocks.extend(own)
                continue
        add_inline_text(child, depth, run)
    flush()
    return blocks


def _are_lines(*blocks: str) -> bool:
    """Return whether each of these blocks is one line of running text."""
    return not any("\n" in block or block.startswith((MARK, "|", "`", "-", ">")) for block in blocks)


def _block(node: Node, headings: list[Heading], depth: int) -> list[str]:
    tag = node.tag or ""
    if tag in _HEADINGS:
        return _heading(node, int(tag[1]), headings)
    match tag:
        case "p":
            return _blocks(node, headings, depth)
        case "pre":
            return _code(node)
        case "ul" | "ol" | "menu":
            return _list(node, headings, depth)
        case "table":
            return _table(node, headings, depth)
        case "blockquote":
            return _quotation(node, headings, depth)
        case "hr":
            return ["---"]
        case "dd":
            return [indented(block, ": ") for block in _blocks(node, headings, depth)]
    if "katex-display" in classes(node):
        return [f"$$\n{tex}\n$$"] if (tex := formula(node)) else []
    return _blocks(node, headings, depth)


def _heading(node: Node, level: int, headings: list[Heading]) -> list[str]:
    title = visible_text(node)
    if not title:
        return []
    headings.append(Heading(0, level, _NOTE.sub("", title), node.id or _anchor_near(node) or None))
    return [f"{MARK}{'#' * level} {title}"]


def _anchor_near(node: Node) -> str | None:
    """Return the anchor inside or around a heading without id."""
    inner = next((child for child in node.css("[id], a[name]") if child.mem_id != node.mem_id), None)
    if anchor := inner and (inner.id or attribute(inner, "name")):
        return anchor
    around = node.parent if node.parent and node.parent.tag in ("section", "div", "header") else None
    # Sphinx and others set the id on the section.
    first = next((child.mem_id for child in around.iter()), None) if around else None
    return around.id if around and first == node.mem_id else None


def _code(node: Node) -> list[str]:
    code = code_text(node).replace("\r\n", "\n").strip("\n")
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{code_language(node)}\n{code}\n{fence}"]


def _list(node: Node, headings: list[Heading], depth: int) -> list[str]:
    number, joint = 1, "\n"
    items: list[str] = []
    for child in node.iter():
        if is_dropped(child):
            continue
        blocks = _blocks(child, headings, depth) if child.tag == "li" else _block(child, headings, depth)
        text = tight(blocks)
        stated = _ITEM.match(text)
        text = text[stated.end() :] if stated else text
        if text and child.tag == "li" and _NOTE.match(text):
            items.append(text)
        elif text and child.tag == "li":
            marker = stated[1] if stated else f"{number}. " if node.tag == "ol" else "- "
            # Nobody would take lines that begin with capitals for a list's.
            joint = "\n\n" if marker[0].isupper() else joint
            items.append(indented(text, marker))
            number += 1
        elif text:
            # A list directly in a list is invalid HTML, but common.
            items.append(indented(text, "  "))
    return [joint.join(items)] if items else []


def _quotation(node: Node, headings: list[Heading], depth: int) -> list[str]:
    text = "\n\n".join(_blocks(node, headings, depth))
    return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []


def _table(node: Node, headings: list[Heading], depth: int) -> list[str]:
    rows = [cells for row in rows_of(node) if (cells := cells_of(row))]
    cells = [cell for row in rows for cell in row]
    if is_layout(node, rows) or node.css_first("td pre, th pre"):
        texts = (cell for cell in cells if not LINE_NUMBERS.search(attribute(cell, "class")))
        return [block for cell in texts for block in _blocks(cell, headings, depth)]
    caption = next((visible_text(child) for child in node.iter() if child.tag == "caption"), "")
    grid = table([[one_line(inline_text(cell, depth)) for cell in row] for row in rows])
    return [text for text in (caption, grid) if text]
