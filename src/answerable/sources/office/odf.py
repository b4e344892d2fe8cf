"""What OpenDocument's texts, sheets and slides have in common: the package, encryption, properties, paragraphs."""

from __future__ import annotations

from typing import Any

from answerable.errors import EncryptedSource
from answerable.sources.office.ooxml import local_name
from answerable.sources.office.zip_package import Package

_MANIFEST = "META-INF/manifest.xml"
_MOST_BLANKS = 100
# What stands in a paragraph without being its text.
_LEFT_OUT = frozenset(
    {"annotation", "annotation-end", "note", "ruby-text", "frame", "tracked-changes", "desc", "title"}
)
_CHARACTERS = {"tab": " ", "line-break": "\n", "soft-page-break": ""}


def refuse_encrypted(package: Package) -> None:
    """Raise EncryptedSource if the document's members are encrypted."""
    if _MANIFEST in package and any(True for _ in package.xml(_MANIFEST).iter("{*}encryption-data")):
        raise EncryptedSource(
            f"{package.source} is encrypted: open it in LibreOffice with its password, save it without one, and add "
            "that file"
        )


def properties(package: Package) -> tuple[str, dict[str, str]]:
    """Return the title, and the author and creation date if given."""
    if "meta.xml" not in package:
        return "", {}
    texts: dict[str, str] = {}
    for element in package.xml("meta.xml").iter("{*}title", "{*}creator", "{*}initial-creator", "{*}creation-date"):
        texts.setdefault(local_name(element), " ".join((element.text or "").split()))
    author = texts.get("initial-creator") or texts.get("creator", "")
    found = {"author": author, "date": texts.get("creation-date", "")[:10]}
    return texts.get("title", ""), {key: text for key, text in found.items() if text}


def attribute(element: Any, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    suffix = f"}}{name}"
    return next((value for key, value in element.attrib.items() if key == name or key.endswith(suffix)), default)


def count_of(element: Any, name: str) -> int:
    """Return a number of repetitions, 1 without one."""
    text = attribute(element, name)
    return int(text) if text.isdecimal() and 0 < len(text) < 9 else 1


def paragraph_text(element: Any) -> str:
    """Return the text of a paragraph or heading, without its notes, comments and frames; line breaks are kept."""
    pieces: list[str] = []
    _collect(element, pieces)
    lines = "".join(pieces).split("\n")
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _collect(element: Any, pieces: list[str]) -> None:
    pieces.append(element.text or "")
    for child in element:
        name = local_name(child)
        if name in _CHARACTERS:
            pieces.append(_CHARACTERS[name])
        elif name == "s":
            pieces.append(" " * min(count_of(child, "c"), _MOST_BLANKS))
        elif name and name not in _LEFT_OUT:
            _collect(child, pieces)
        pieces.append(child.tail or "")
