"""XML in files of strangers: parsed without resolving entities or fetching anything."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import TYPE_CHECKING, Any

from answerable.errors import DamagedSource

if TYPE_CHECKING:
    from lxml.etree import _Element  # type: ignore[import-untyped]

SAFELY = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
"""The options of lxml's parsers."""


def refuse_entities(element: _Element, source: str, advice: str) -> None:
    """Raise DamagedSource if an element's XML defines entities, which in attributes are resolved in any case."""
    declared = element.getroottree().docinfo.internalDTD
    if declared is not None and any(True for _ in declared.iterentities()):
        raise DamagedSource(f"{source} is refused, its XML defines entities: {advice}")


def parse_xml(data: bytes, recover: bool) -> _Element:
    """Parse XML without resolving entities or fetching anything. Raises XMLSyntaxError and ValueError."""
    from lxml.etree import XMLParser, fromstring

    return fromstring(data, XMLParser(**SAFELY, recover=recover))


def local_name(element: Any) -> str:
    """Return an element's name without its namespace, "" for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def relation_id(element: Any) -> str:
    """Return the id of the relation by which an Office file's element names another part, or ""."""
    return next((value for name, value in element.items() if name.endswith("}id")), "")


def whole_number(text: str | None, default: int = 0) -> int:
    """Return the number in an attribute, with up to eight digits; `default` for any other text."""
    return int(text) if text and text.isdecimal() and len(text) < 9 else default


def stream(data: bytes, source: str, advice: str, *tags: str, starts: bool = False) -> Iterator[tuple[str, Any]]:
    """Parse XML in one pass and yield ("end", element) for elements with these names, in any namespace.

    `starts`: yield ("start", element) too. An element is cleared after its end has been handled, so that a large sheet
    is never a tree in memory. Raises DamagedSource, also for XML that defines entities, which no office program does.
    """
    from lxml.etree import XMLSyntaxError, iterparse

    events, names = ("start", "end") if starts else ("end",), [f"{{*}}{tag}" for tag in tags]
    found = iterparse(BytesIO(data), events=events, tag=names, recover=True, **SAFELY)
    is_checked = False
    try:
        for event, element in found:
            if not is_checked:
                refuse_entities(element, source, advice)
                is_checked = True
            yield event, element
            if event == "end":
                forget(element)
    except XMLSyntaxError as error:
        raise DamagedSource(f"{source} is damaged ({str(error)[:200]}): {advice}") from error


def forget(element: _Element) -> None:
    """Free what is in an element that has been handled, and the elements before it."""
    element.clear()
    while element.getprevious() is not None:
        del element.getparent()[0]
