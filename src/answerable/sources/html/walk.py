"""A tree of HTML → Markdown: the one walker that renders every page.

Headings, paragraphs, lists, code with its language, tables and quotations keep their form; emphasis, inline code and
links keep their words only, so that a quote from the text is found on the page. Menus, forms, scripts, comments and
hidden elements are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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


@dataclass(slots=True)
class _Walk:
    """The headings met so far, in the order of their marks."""

    headings: list[Heading] = field(default_factory=list)


def render(root: Node) -> tuple[str, list[Heading]]:
    """The Markdown of an element's content, and its headings at their places in it."""
    walk = _Walk()
    return place_headings("\n\n".join(_blocks(root, walk, 0)), walk.headings)


def _blocks(node: Node, walk: _Walk, depth: int) -> list[str]:
    """The blocks of Markdown that an element's children make."""
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
                blocks.extend(_block(child, walk, depth + 1))
                continue
        add_inline_text(child, depth, run)
    flush()
    return blocks


def _block(node: Node, walk: _Walk, depth: int) -> list[str]:
    tag = node.tag or ""
    if tag in _HEADINGS:
        return _heading(node, int(tag[1]), walk)
    match tag:
        case "p":
            return _blocks(node, walk, depth)
        case "pre":
            return _code(node)
        case "ul" | "ol" | "menu":
            return _list(node, walk, depth)
        case "table":
            return _table(node, walk, depth)
        case "blockquote":
            return _quotation(node, walk, depth)
        case "hr":
            return ["---"]
        case "dd":
            return [indented(block, ": ") for block in _blocks(node, walk, depth)]
    if "katex-display" in classes(node):
        return [f"$$\n{tex}\n$$"] if (tex := formula(node)) else []
    tabs = next((child for child in node.iter() if attribute(child, "role") == "tablist"), None)
    return _tabs(node, tabs, walk, depth) if tabs else _blocks(node, walk, depth)


def _heading(node: Node, level: int, walk: _Walk) -> list[str]:
    title = visible_text(node)
    if not title:
        return []
    walk.headings.append(Heading(0, level, title, node.id or _anchor_near(node) or None))
    return [f"{MARK}{'#' * level} {title}"]


def _anchor_near(node: Node) -> str | None:
    """The anchor of a heading that has no id itself."""
    inner = next((child for child in node.css("[id], a[name]") if child.mem_id != node.mem_id), None)
    if anchor := inner and (inner.id or attribute(inner, "name")):
        return anchor
    around = node.parent if node.parent and node.parent.tag in ("section", "div", "header") else None
    # Sphinx and others put the id on the section that the heading opens.
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


def _list(node: Node, walk: _Walk, depth: int) -> list[str]:
    start = attribute(node, "start")
    number = int(start) if start.isascii() and start.isdigit() and len(start) < 9 else 1
    items: list[str] = []
    for child in node.iter():
        if is_dropped(child):
            continue
        blocks = _blocks(child, walk, depth) if child.tag == "li" else _block(child, walk, depth)
        text = tight(blocks)
        if text and child.tag == "li":
            marker = f"{number}. " if node.tag == "ol" else "- "
            items.append(indented(text, marker))
            number += 1
        elif text:
            # Lists put straight into lists, against the rules of HTML but everywhere.
            items.append(indented(text, "  "))
    return ["\n".join(items)] if items else []


def _quotation(node: Node, walk: _Walk, depth: int) -> list[str]:
    text = "\n\n".join(_blocks(node, walk, depth))
    return ["\n".join(f"> {line}".rstrip() for line in text.split("\n"))] if text else []


def _table(node: Node, walk: _Walk, depth: int) -> list[str]:
    rows = [[cell for cell in row.iter() if cell.tag in ("td", "th")] for row in _rows(node)]
    rows = [row for row in rows if row]
    cells = [cell for row in rows for cell in row]
    if _is_layout(node, rows) or any(cell.css_first("pre") for cell in cells):
        return _cells_as_blocks(cells, walk, depth)
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
    """Whether a table arranges a page rather than data."""
    if attribute(node, "role") in ("presentation", "none") or max(map(len, rows), default=0) < 2:
        return True
    full = sum(cell.css_first(_IN_LAYOUT) is not None for row in rows for cell in row)
    return len(rows) < 4 and full * 4 > sum(map(len, rows))


def _cells_as_blocks(cells: list[Node], walk: _Walk, depth: int) -> list[str]:
    texts = (cell for cell in cells if not LINE_NUMBERS.search(attribute(cell, "class")))
    return [block for cell in texts for block in _blocks(cell, walk, depth)]


def _grid(rows: list[list[Node]], depth: int) -> str:
    return table([[one_line(inline_text(cell, depth)) for cell in row] for row in rows])


def _tabs(node: Node, tabs: Node, walk: _Walk, depth: int) -> list[str]:
    """Every panel under its tab's label: readers see one at a time, the text holds them all."""
    labels = [visible_text(tab) for tab in tabs.css("[role=tab]")]
    panels = _outermost_panels(node)
    blocks = []
    for index, panel in enumerate(panels):
        if inner := _blocks(panel, walk, depth):
            blocks += [labels[index], *inner] if index < len(labels) and labels[index] else inner
    return blocks or _blocks(node, walk, depth)


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
