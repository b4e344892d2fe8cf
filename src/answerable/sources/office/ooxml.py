"""What Word, Excel and PowerPoint files have in common: relations between parts, properties, encryption."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from answerable.errors import DamagedSource, EncryptedSource, UnsupportedSource
from answerable.sources.office.zip_package import Package, refuse_entities
from answerable.sources.old_formats import OLE, old_format

# The container of an encrypted document names it so, in UTF-16.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
# The title that programs write if nobody gave one.
_NO_TITLE = re.compile(
    r"(microsoft word\b.*|word document|powerpoint presentation|presenta(?:tion|ción|cion|ção)\s*(?:de powerpoint|do "
    r"powerpoint)?\s*\d*|documento?\s*\d*|untitled|sin título|sem título|(?:book|libro|pasta|workbook)\s*\d*)",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")


def refuse_container(data: bytes, source: str, suffix: str) -> None:
    """Raise EncryptedSource or UnsupportedSource for the old container, which also holds encrypted documents.

    `suffix` (".doc") is that of the old format.
    """
    if _ENCRYPTED in data and data.startswith(OLE):
        raise EncryptedSource(
            f"{source} is encrypted: open it in the program that made it, or in LibreOffice, with its password, save "
            "it without one, and add that file"
        )
    if old := old_format(data, suffix):
        raise UnsupportedSource(f"{source} is {old.what} with a new suffix: {old.advice}")


def related(package: Package, part: str) -> dict[str, str]:
    """Return the names of the parts that a part (or the package, "") refers to, by kind: the first of each kind."""
    found: dict[str, str] = {}
    for _, kind, path in relations(package, part):
        found.setdefault(kind, path)
    return found


def relations(package: Package, part: str) -> Iterator[tuple[str, str, str]]:
    """Yield the id, the kind and the part's name of each relation within the package."""
    folder, file = posixpath.split(part)
    name = posixpath.join(folder, "_rels", f"{file}.rels")
    if part and name not in package:
        return
    for relation in package.xml(name):
        path = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]
        if path in package and relation.get("TargetMode") != "External":
            yield relation.get("Id", ""), relation.get("Type", "").rsplit("/", 1)[-1], path


def properties(package: Package, name: str | None) -> tuple[str, dict[str, str]]:
    """Return the title, and the author and creation date if given."""
    root = None if name is None else package.xml(name)
    texts: dict[str, str] = {}
    for element in () if root is None else root.iterchildren("*"):
        texts.setdefault(local_name(element), " ".join((element.text or "").split()))
    title, date = texts.get("title", ""), _DATE.match(texts.get("created", ""))
    found = {"author": texts.get("creator", ""), "date": date[0] if date else ""}
    return "" if _NO_TITLE.fullmatch(title) else title, {key: text for key, text in found.items() if text}


def local_name(element: Any) -> str:
    """Return an element's name without its namespace, "" for comments and processing instructions."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def stream(data: bytes, source: str, advice: str, *tags: str, starts: bool = False) -> Iterator[tuple[str, Any]]:
    """Parse XML in one pass and yield ("end", element) for elements with these names, in any namespace.

    `starts`: yield ("start", element) too. An element is cleared after its end has been handled, so that a large sheet
    is never a tree in memory. Raises DamagedSource, also for XML that defines entities, which no office program does.
    """
    from lxml.etree import XMLSyntaxError, iterparse  # type: ignore[import-untyped]

    found = iterparse(
        BytesIO(data),
        events=("start", "end") if starts else ("end",),
        tag=[f"{{*}}{tag}" for tag in tags],
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
    )
    is_checked = False
    try:
        for event, element in found:
            if not is_checked:
                refuse_entities(element, source, advice)
                is_checked = True
            yield event, element
            if event == "end":
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    except XMLSyntaxError as error:
        raise DamagedSource(f"{source} is damaged ({str(error)[:200]}): {advice}") from error
