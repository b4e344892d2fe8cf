"""A tree of HTML → Markdown, for every page.

Headings, paragraphs, lists, code blocks, tables and quotations keep their form. Emphasis, inline code and links become
plain text, so that quotes are found on the page. Menus, forms, scripts, comments and hidden elements are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.words import (
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
from answerable.sources.markdown import Heading
from answerable.sources.markdown_blocks import MARK, indented, place_headings, table, tight

_IN_LAYOUT = "table, ul, ol, h1, h2, h3, h4, h5, h6, blockquote, p + p"
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def render(root: Node) -> tuple[str, list[Heading]]:
    """Return the Markdown of an element, and its headings with their offsets in it."""
    headings: list[Heading] = []
    return place_headings("\n\n".join(_blocks(root, headings, 0)), headings)


def _blocks(node: Node, headings: list[Heading], depth: int) -> list[str]:
    """Return an element's children as blocks of Markdown."""
    if depth > MAX_DEPTH:
        text = one_line(deep_text(node))
        return [text] if text else []
    blocks: list[str] = []
    run: list[str] = []

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
                blocks.extend(_block(child, headings, depth + 1))
                continue
        add_inline_text(child, depth, run)
    flush()
    return blocks


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
    tabs = next((child for child in node.iter() if attribute(child, "role") == "tablist"), None)
    return _tabs(node, tabs, headings, depth) if tabs else _blocks(node, headings, depth)


def _heading(node: Node, level: int, headings: list[Heading]) -> list[str]:
    title = visible_text(node)
    if not title:
        return []
    headings.append(Heading(0, level, title, node.id or _anchor_near(node) or None))
    return [f"{MARK}{'#' * level} {title}"]


def _anchor_near(node: Node) -> str | None:
    """Return the anchor inside or around a heading without id."""
    inner = next((child for child in node.css("[id], a[name]") if child.mem_id != node.mem_id), None)
    if anchor := inner and (inner.id or attribute(inner, "name")):
        return anchor
    around = node.parent if node.parent and node.parent.tag in ("section", "div", "header") else None
    # Sphinx and others set the id on the section.
    return around.id if around and _first_element(around) == node.mem_id else None


def _first_element(node: Node) -> int | None:
    return next((child.mem_id for child in node.iter()), None)


def _code(node: Node) -> list[str]:
    code = code_text(node).replace("\r\n", "\n").strip("\n")
    if not code.strip():
        return []
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    fence = "`" * (longest + 1)
    return [f"{fence}{code_language(node)}\n{code}\n{fence}"]


def _list(node: Node, headings: list[Heading], depth: int) -> list[str]:
    start = attribute(node, "start")
    number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
    items: list[str] = []
    for child in node.iter():
        if is_dropped(child):
            continue
        blocks = _blocks(child, headings, depth) if child.tag == "li" else _block(child, headings, depth)
        text = tight(blocks)
        if text and child.tag == "li":
            marker = f"{number}. " if node.tag == "ol" else "- "
            items.append(indented(text, marker))
            number += 1
        elif text:
            # Lists directly in lists: invalid HTML, but common.
            items.append(indented(text, "  "))
    return ["\n".join(items)] if items else []


def _quotation(node: Node, headings: list[Heading], depth: int) -> list[str]:
    text = "\n\n".join(_blocks(node, headings, depth))
    return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []


def _table(node: Node, headings: list[Heading], depth: int) -> list[str]:
    rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in _rows(node)]
    rows = [row for row in rows if row]
    cells = [cell for row in rows for cell in row]
    if _is_layout(node, rows) or any(cell.css_first("pre") for cell in cells):
        return _cells_as_blocks(cells, headings, depth)
    caption = next((child for child in node.iter() if child.tag == "caption"), None)
    title = visible_text(caption) if caption else ""
    return [text for text in (title, _grid(rows, depth)) if text]


def _rows(table: Node) -> Iterator[Node]:
    for child in table.iter():
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child.iter() if row.tag == "tr")


def _is_layout(node: Node, rows: list[list[Node]]) -> bool:
    """Whether a table is used for layout."""
    if attribute(node, "role") in ("presentation", "none") or max(map(len, rows), default=0) < 2:
        return True
    full = sum(cell.css_first(_IN_LAYOUT) is not None for row in rows for cell in row)
    return len(rows) < 4 and full * 4 > sum(map(len, rows))


def _cells_as_blocks(cells: list[Node], headings: list[Heading], depth: int) -> list[str]:
    texts = (cell for cell in cells if not LINE_NUMBERS.search(attribute(cell, "class")))
    return [block for cell in texts for block in _blocks(cell, headings, depth)]


def _grid(rows: list[list[Node]], depth: int) -> str:
    return table([[one_line(inline_text(cell, depth)) for cell in row] for row in rows])


def _tabs(node: Node, tabs: Node, headings: list[Heading], depth: int) -> list[str]:
    """Return every panel under its tab's label."""
    labels = [visible_text(tab) for tab in tabs.css("[role=tab]")]
    panels = _outermost_panels(node)
    blocks = []
    for index, panel in enumerate(panels):
        if inner := _blocks(panel, headings, depth):
            blocks += [labels[index], *inner] if index < len(labels) and labels[index] else inner
    return blocks or _blocks(node, headings, depth)


def _outermost_panels(node: Node) -> list[Node]:
    panels = []
    stack = list(node.iter())[::-1]
    while stack:
        current = stack.pop()
        if attribute(current, "role") == "tabpanel":
            panels.append(current)
        else:
            stack.extend(list(current.iter())[::-1])
    return panels
