"""OPML → Document: an outline or a list of feeds as an indented list, with notes and addresses. See opml.org/spec2."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from answerable.datatypes import Document
from answerable.errors import DamagedSource
from answerable.sources.context import ReadContext
from answerable.sources.office.zip_package import parse_xml
from answerable.sources.outlines.nodes import Node, outline, plain_lines

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

_NOTES = ("_note", "note", "description")
_ADDRESSES = ("htmlUrl", "url", "xmlUrl")
_ADVICE = "export it again as OPML, or as plain text"


def read_opml(data: bytes, source: str, context: ReadContext) -> Document:
    """Return a document with a part for each entry. Raise DamagedSource and EmptySource."""
    from lxml.etree import XMLSyntaxError

    try:
        root = parse_xml(data, recover=True)
    except (XMLSyntaxError, ValueError) as error:
        raise DamagedSource(f"{source} is not valid OPML ({str(error)[:200]}): {_ADVICE}") from error
    body = next((each for each in root if _name(each) == "body"), None) if root is not None else None
    if body is None:
        raise DamagedSource(f"{source} is not OPML (it has no body): {_ADVICE}")
    head = next((each for each in root if _name(each) == "head"), ())
    facts = {_name(each): " ".join((each.text or "").split()) for each in head}
    metadata = {"author": facts.get("ownerName", ""), "date": facts.get("dateModified", "")}
    return outline(_nodes(body), source, facts.get("title", ""), {key: text for key, text in metadata.items() if text})


def _nodes(body: _Element) -> Iterator[Node]:
    """Yield the entries in the order of the file."""
    waiting = [(0, child) for child in reversed(body)]
    while waiting:
        depth, element = waiting.pop()
        waiting += [(depth + 1, child) for child in reversed(element)]
        if _name(element) != "outline":
            continue
        lines = plain_lines(element.get("text") or element.get("title") or "")
        notes = [line for name in _NOTES for line in plain_lines(element.get(name) or "")]
        address = next((value for name in _ADDRESSES if (value := (element.get(name) or "").strip())), "")
        if address and address not in lines:
            lines = [f"{lines[0]} ({address})" if lines else address, *lines[1:]]
        lines = [*lines, *(line for line in notes if line not in lines[:1])]
        yield Node(depth, lines[0] if lines else "", tuple(lines[1:]))


def _name(element: _Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""
