"""Outlines (OPML), browser bookmarks, canvases of Obsidian and clippings of Kindle → Document.

The document is an indented list, with a part for each node under the path above it. See opml.org/spec2 and
jsoncanvas.org. Bookmarks are read in Netscape's format, and are listed with their addresses, days and tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple

from answerable.datatypes import Document, DocumentType, PartKind
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.context import ReadContext
from answerable.sources.exported import epoch, first, one_line, plain_text, row, rows, words
from answerable.sources.text import PartedText, make_document
from answerable.sources.xml import local_name, parse_xml

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
_BREAK = re.compile(r"<(?:br|/p|/div|/li)\s*/?>", re.IGNORECASE)
_DEEPEST = 8  # levels by which an entry is indented at most
_LONGEST_STEP = 200  # characters to which a step of a path is cut; each entry carries the path above it


class Node(NamedTuple):
    """A node: the number of nodes above it, its text, and its further lines. A node without text is left out."""

    depth: int
    text: str
    more: tuple[str, ...] = ()


def outline(nodes: Iterable[Node], source: str, title: str, metadata: Mapping[str, Any]) -> Document:
    """Return the document of these nodes in their order. Raise EmptySource if no node has text."""
    written = PartedText()
    path: list[Node] = []
    top = (title[:_LONGEST_STEP],) if title else ()
    for node in nodes:
        while path and path[-1].depth >= node.depth:
            path.pop()
        if not node.text:
            continue
        indent = "  " * min(len(path), _DEEPEST)
        headings = (*top, *(each.text[:_LONGEST_STEP] for each in path[-_DEEPEST:]))
        written.write(f"{indent}- ")
        written.part(f"\n{indent}  ".join((node.text, *node.more)), PartKind.RECORD, headings=headings)
        written.write("\n")
        path.append(node)
    if not written.parts:
        raise EmptySource(f"{source} has no entry with a text: export it again, or leave it out")
    return make_document(source, written.content, DocumentType.OUTLINE, written.parts, title, metadata)


def plain_lines(text: str) -> list[str]:
    """Return the lines of a text that may contain HTML, without tags and blank lines."""
    text = _BREAK.sub("\n", text) if "<" in text else text
    text = _MARKUP.sub("", text) if "<" in text else text
    lines = (" ".join(line.split()) for line in unescape(text).split("\n"))
    return [line for line in lines if line]


_ADVICE = "export it again as OPML, or as plain text"


def read_opml(data: bytes, source: str, context: ReadContext) -> Document:
    """Return a document with a part for each entry. Raise DamagedSource and EmptySource."""
    from lxml.etree import XMLSyntaxError

    try:
        root = parse_xml(data, recover=True)
    except (XMLSyntaxError, ValueError) as error:
        raise DamagedSource(f"{source} is not valid OPML ({str(error)[:200]}): {_ADVICE}") from error
    body = next((each for each in root if local_name(each) == "body"), None) if root is not None else None
    if body is None:
        raise DamagedSource(f"{source} is not OPML (it has no body): {_ADVICE}")
    head = next((each for each in root if local_name(each) == "head"), ())
    facts = {local_name(each): " ".join((each.text or "").split()) for each in head}
    metadata = {"author": facts.get("ownerName", ""), "date": facts.get("dateModified", "")}
    return outline(_nodes(body), source, facts.get("title", ""), metadata)


def _nodes(body: _Element) -> Iterator[Node]:
    """Yield the entries in the order of the file."""
    waiting = [(0, child) for child in reversed(body)]
    while waiting:
        depth, element = waiting.pop()
        waiting += [(depth + 1, child) for child in reversed(element)]
        if local_name(element) != "outline":
            continue
        lines = plain_lines(element.get("text") or element.get("title") or "")
        notes = [line for name in ("_note", "note", "description") for line in plain_lines(element.get(name) or "")]
        address = next(
            (value for name in ("htmlUrl", "url", "xmlUrl") if (value := (element.get(name) or "").strip())), ""
        )
        if address and address not in lines:
            lines = [f"{lines[0]} ({address})" if lines else address, *lines[1:]]
        lines = [*lines, *(line for line in notes if line not in lines[:1])]
        yield Node(depth, lines[0] if lines else "", tuple(lines[1:]))


_UNREAD = ("javascript:", "place:", "data:", "about:")


def read_bookmarks(content: str, source: str) -> Document:
    """Return a document with a part for each bookmark and folder. Raise EmptySource and DamagedSource."""
    from answerable.sources.html.parse import parse_page, valid_markup

    page = parse_page(valid_markup(content, source))
    title = page.css_first("h1")
    return outline(_bookmarks(page), source, " ".join(title.text().split()) if title else "", {})


def _bookmarks(page: LexborHTMLParser) -> Iterator[Node]:
    waiting: Node | None = None
    for element in page.css("h3, a, dd"):
        if element.tag != "dd":
            if waiting:
                yield waiting
            waiting = _node(element)
        elif waiting:
            own = "".join(each.text() for each in element.iter(include_text=True) if each.tag != "dl")
            waiting = waiting._replace(more=tuple(plain_lines(own)))
    if waiting:
        yield waiting


def _node(element: LexborNode) -> Node | None:
    """Return the node of a bookmark or a folder; None for a bookmark that is a script or a query of the browser."""
    depth, above = 0, element.parent
    while above is not None:
        depth += above.tag == "dl"
        above = above.parent
    text = " ".join(element.text().split())
    if element.tag == "h3":
        return Node(depth, text) if text else None
    attributes = {name: value or "" for name, value in element.attributes.items()}
    address = " ".join(attributes.get("href", "").split())
    if not address or address.lower().startswith(_UNREAD):
        return None
    facts = [address]
    if added := _day(attributes.get("add_date", "")):
        facts.append(f"added {added}")
    if tags := attributes.get("tags", ""):
        facts.append(f"tags: {', '.join(filter(None, map(str.strip, tags.split(','))))}")
    return Node(depth, f"{text} ({', '.join(facts)})" if text else address)


def _day(seconds: str) -> str:
    """Return the day of a timestamp in seconds since 1970, or in the microseconds that some browsers write."""
    time = epoch(seconds[:10]) if seconds.strip("0") else None
    return f"{time:%Y-%m-%d}" if time else ""


def read_canvas(content: str, source: str) -> Document:
    """Return a document with a part for each card, and what it is linked to. Raise EmptySource and DamagedSource."""
    try:
        canvas = row(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise DamagedSource(f"{source} is not a canvas ({str(error)[:100]}): save it again in Obsidian") from error
    cards = {words(each.get("id")): each for each in rows(canvas.get("nodes"))}
    # Any number of links may lead to a card, which is as long as it likes.
    names = {name: one_line(lines[0], _LONGEST_STEP) for name, card in cards.items() if (lines := _card(card))}
    links: dict[str, list[str]] = {}
    for edge in rows(canvas.get("edges")):
        if (to := words(edge.get("toNode"))) in names:
            label = one_line(words(edge.get("label")), _LONGEST_STEP)
            links.setdefault(words(edge.get("fromNode")), []).append(f"{label} → {names[to]}".strip())
    nodes = []
    for name, card in cards.items():
        text, *more = [*_card(card), ""]
        nodes.append(Node(0, text, (*filter(None, more), *links.get(name, ()))))
    files = [file.removesuffix(".md") for each in cards.values() if (file := plain_text(words(each.get("file"))))]
    return outline(nodes, source, "", {"links": files} if files else {})


def _card(card: dict[str, Any]) -> list[str]:
    """Return the lines of a card: a text, the name of a note or file, an address, or the name of a group."""
    file = f"{words(card.get('file'))}{words(card.get('subpath'))}"
    text = first(card.get("text"), file, card.get("url"), card.get("label"))
    return [line.strip() for line in plain_text(text).split("\n") if line.strip()]


_CLIPPING = re.compile(r"\ufeff?([^\n]{1,1000})\n(- [^\n]{1,500})\n(?:\n(.*))?", re.DOTALL)
_BETWEEN = re.compile(r"^==========[ ]*\n?", re.MULTILINE)


def read_clippings(content: str, source: str) -> Document | None:
    """Return a document with a part for each highlight or note of a Kindle's `My Clippings.txt`, under its book.

    None for other text. Raise EmptySource.
    """
    first_one, rule, _ = content[:20_000].partition("\n==========\n")
    if not (rule and _CLIPPING.fullmatch(first_one)):
        return None
    books: dict[str, list[Node]] = {}
    for clipping in filter(None, map(_CLIPPING.fullmatch, _BETWEEN.split(content))):
        if lines := plain_lines(clipping[3] or ""):
            place = f"({clipping[2].strip('- ')})"
            books.setdefault(clipping[1].strip(), []).append(Node(1, lines[0], (*lines[1:], place)))
    nodes = (node for book, inside in books.items() for node in (Node(0, book), *inside))
    return outline(nodes, source, "", {})
