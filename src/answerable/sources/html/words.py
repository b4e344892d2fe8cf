"""The text of a single HTML element, and which elements count as text."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborNode as Node

_DROPPED = frozenset(
    "script style template noscript svg canvas iframe object embed applet head nav dialog button input select "
    "textarea audio video map datalist -comment img source track link meta".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form "
    "frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol p pre search section summary table "
    "tbody td tfoot th thead tr ul caption".split()
)
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight)-(?!(?:default|none|plaintext|notranslate)\b)([\w+#.-]+)"
)
# Highlighted code is in up to two divs and, with line numbers, in a cell, row, body and table.
_AROUND_CODE = frozenset("pre code div figure td tr tbody table".split())
_PLACES_OF_LANGUAGE = 9  # these, and one in reserve
_SOME_BLOCKS = "p, div, pre, ul, ol, table, h1, h2, h3, h4, h5, h6, blockquote, section"
LINE_NUMBERS = re.compile(r"line-?numbers?\b|linenos?\b|codeBlockLineNumber", re.IGNORECASE)
_PERMALINK_TEXTS = frozenset({"", "#", "¶", "§", "🔗", "link", "permalink"})
_INVISIBLE = re.compile("[\u200b\u2060\ufeff\u00ad\ufdd0]")
# Doesn't match single spaces, which are nearly all of the white space and need no change.
_SPACES = re.compile(r"[ \t\n\r\f\v\xa0]{2,}|[\t\n\r\f\v\xa0]")
ITEM = "\ufdd8"
"""Is before and after the number of a list item; it occurs in no text, and trafilatura keeps it."""
MAX_DEPTH = 150  # levels of nested elements; each level is a recursive call


def visible_text(node: Node) -> str:
    """Return the text of an element on one line, as people see it on the page."""
    return one_line(inline_text(node, 0)).replace("\n", " ")


def link_share(node: Node) -> float:
    """Return the share of an element's text that is in links, from 0 to 1."""
    links = sum(len(visible_text(link)) for link in node.css("a[href]"))
    return links / max(1, len(visible_text(node)))


def inline_text(node: Node, depth: int) -> str:
    """Return an element's text with the markup's white space, `\\x0b` for each `br`; `one_line` collapses it."""
    pieces: list[str] = []
    add_inline_text(node, depth, pieces)
    return "".join(pieces)


def add_inline_text(node: Node, depth: int, pieces: list[str]) -> None:
    """Append the `inline_text` of an element to `pieces`."""
    if node.is_text_node:
        pieces.append((node.text_content or "").replace("\x0b", " "))
        return
    tag = node.tag
    if tag == "br":
        pieces.append("\x0b")
    elif depth > MAX_DEPTH:
        pieces.append(deep_text(node))
    elif tag == "math" or "katex" in classes(node):
        pieces.append(f"${tex}$" if (tex := formula(node)) else "")
    else:
        around = " " if tag in _BLOCKS else ""
        pieces.append(around)
        for child in node.iter(include_text=True):
            if not is_dropped(child):
                add_inline_text(child, depth + 1, pieces)
        pieces.append(around)


def deep_text(node: Node) -> str:
    """Return all text of an element that is nested too deep to be intended."""
    return (node.text(separator=" ") or "").replace("\x0b", " ")


def one_line(text: str) -> str:
    """Collapse the white space of an `inline_text`; each `br` begins a new line."""
    if text.isascii() and "\x0b" not in text:
        # Nearly all text takes this path, which needs a third of the time.
        return " ".join(text.split())
    lines = (_SPACES.sub(" ", line).strip() for line in _visible(text).split("\x0b"))
    return "\n".join(line for line in lines if line)


def _visible(text: str) -> str:
    return text if text.isascii() else _INVISIBLE.sub("", text)


def code_text(node: Node) -> str:
    """Return the text of a block of code, with its white space."""
    pieces: list[str] = []
    # No recursion: highlighted code is deep and long.
    stack = [node]
    while stack:
        current = stack.pop()
        if current.is_text_node:
            pieces.append(current.text_content or "")
        elif current.tag == "br":
            pieces.append("\n")
        elif not (is_dropped(current) or LINE_NUMBERS.search(attribute(current, "class"))):
            stack.extend(reversed(list(current.iter(include_text=True))))
    return _visible("".join(pieces))


def code_language(node: Node) -> str:
    """Return the language from a class of the block, of its code element or of an element around it."""
    names = [attribute(code, "class") for code in node.css("code")[:1]]
    around: Node | None = node
    while around and around.tag in _AROUND_CODE and len(names) < _PLACES_OF_LANGUAGE:
        names.append(attribute(around, "class"))
        around = around.parent
    match = _LANGUAGE.search(" ".join(names))
    return match[1] if match else ""


def formula(node: Node) -> str:
    """Return the TeX source of a formula, otherwise its symbols."""
    source = node.css_first("annotation[encoding='application/x-tex']")
    text = (source.text() if source else "") or attribute(node, "alttext") or node.text()
    return _SPACES.sub(" ", _INVISIBLE.sub("", text)).strip()


def holds_blocks(node: Node) -> bool:
    """Whether an element is a block or contains one."""
    if node.tag in _BLOCKS:
        return True
    first = node.first_child
    if first is None or (first.is_text_node and first.next is None):
        return False  # Most elements contain only text; a search takes a hundred times as long.
    return node.css_first(_SOME_BLOCKS) is not None


def is_dropped(node: Node) -> bool:
    """Whether to leave out an element and everything in it."""
    if node.is_text_node:
        return False
    tag = node.tag
    if tag in _DROPPED or not node.is_element_node:
        return True
    attributes = node.attributes
    if not attributes:
        return False
    role = attributes.get("role") or ""
    if "hidden" in attributes and attributes["hidden"] != "until-found" and role != "tabpanel":
        return True
    return role in ("navigation", "search", "tablist", "menu", "dialog") or (tag == "a" and _is_permalink(node))


def _is_permalink(node: Node) -> bool:
    """Whether an element is the link next to a heading (such as #) that leads to this heading."""
    if not attribute(node, "href").startswith("#"):
        return False
    text = _INVISIBLE.sub("", node.text() or "").strip().lower()
    named = re.search(r"hash-?link|header-?link|permalink|\banchor\b", attribute(node, "class"))
    return text in _PERMALINK_TEXTS if named or len(text) < 2 else False


def is_block(node: Node) -> bool:
    """Whether an element is a block by its tag."""
    return node.tag in _BLOCKS


def neighbour(node: Node, side: str) -> Node | None:
    """Return the element or text before ("prev") or after ("next") a node, without blank text; None at the edge."""
    found: Node | None = getattr(node, side)
    while found is not None and (
        found.is_comment_node or (found.is_text_node and not (found.text_content or "").strip())
    ):
        found = getattr(found, side)
    return found


def rewrite(node: Node, text: str) -> None:
    """Replace the text in an element, which keeps the elements in it."""
    texts = [each for each in node.traverse(include_text=True, skip_empty=True) if each.is_text_node]
    for number, each in enumerate(texts):
        each.replace_with("" if number else text)


def classes(node: Node) -> list[str]:
    """Return an element's classes."""
    return attribute(node, "class").split()


def attribute(node: Node, name: str) -> str:
    """Return an element's attribute, or "" if it has none."""
    return node.attributes.get(name) or "" if node.is_element_node else ""
