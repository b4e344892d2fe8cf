"""A Word file → the few parts of it that hold text, opened by python-docx.

Nothing else reaches python-docx: pictures, macros, embedded files and links to other files are left behind, so that
they cost nothing and can do nothing.
"""

from __future__ import annotations

import posixpath
import zipfile
from io import BytesIO
from typing import TYPE_CHECKING

from answerable.errors import DamagedSource, EncryptedSource, SourceError, UnsupportedSource
from answerable.sources.office.zip_package import Package

if TYPE_CHECKING:
    from docx.package import Package as WordPackage

_ADVICE = "open it in Word or LibreOffice, save it again as .docx or PDF, and add that file"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
# An encrypted document lies in a container whose directory names it so, in UTF-16.
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_CONTENT_TYPES = "[Content_Types].xml"
_OF_PACKAGE = frozenset({"officeDocument", "core-properties"})
_OF_DOCUMENT = frozenset({"styles", "numbering", "footnotes", "endnotes"})
_DOCUMENT_TYPE = b"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
_TRANSITIONAL = b"http://schemas.openxmlformats.org/"
# What python-docx doesn't know by its own name: documents with macros, templates, the stricter form of the standard.
_RENAMED = {
    b"application/vnd.ms-word.document.macroEnabled.main+xml": _DOCUMENT_TYPE,
    b"application/vnd.openxmlformats-officedocument.wordprocessingml.template.main+xml": _DOCUMENT_TYPE,
    b"http://purl.oclc.org/ooxml/officeDocument/relationships": _TRANSITIONAL + b"officeDocument/2006/relationships",
    b"http://purl.oclc.org/ooxml/wordprocessingml/main": _TRANSITIONAL + b"wordprocessingml/2006/main",
    b"http://purl.oclc.org/ooxml/officeDocument/math": _TRANSITIONAL + b"officeDocument/2006/math",
}


def open_word(data: bytes, source: str, limit: int) -> WordPackage:
    """The package, its main part present. Raises EncryptedSource, DamagedSource and SourceTooLarge."""
    if data.startswith(_OLE):
        raise _container_error(data, source)
    from docx.package import Package as WordPackage

    texts = _texts_only(data, source, limit)
    try:
        package = WordPackage.open(BytesIO(texts))
        body = package.main_document_part.element.body
    except Exception as error:
        # It raises whatever a misplaced or misspelt part leads to.
        raise damaged(source, error) from error
    if body is None:
        raise damaged(source, "it has no body")
    return package


def damaged(source: str, reason: Exception | str) -> DamagedSource:
    """The error for a file that is no sound Word document."""
    return DamagedSource(f"{source} is no sound Word document ({str(reason)[:200]}): {_ADVICE}")


def _container_error(data: bytes, source: str) -> SourceError:
    if _ENCRYPTED in data:
        return EncryptedSource(
            f"{source} is encrypted: open it in Word or LibreOffice with its password, save it without one, "
            "and add that file"
        )
    return UnsupportedSource(f"{source} is an old Word document (.doc) by another name: {_ADVICE}")


def _texts_only(data: bytes, source: str, limit: int) -> bytes:
    """A package of the main document, its styles, lists, notes and properties."""
    clean = BytesIO()
    with Package(data, source, limit, _ADVICE) as package, zipfile.ZipFile(clean, "w") as target:
        target.writestr(_CONTENT_TYPES, _renamed(package.read(_CONTENT_TYPES)))
        parts = _copy_relations(package, target, "", _OF_PACKAGE)
        main = parts.get("officeDocument")
        if main is None:
            raise damaged(source, "it names no main document")
        parts |= _copy_relations(package, target, main, _OF_DOCUMENT)
        for name in dict.fromkeys(parts.values()):
            target.writestr(name, _renamed(package.read(name)))
    return clean.getvalue()


def _copy_relations(package: Package, target: zipfile.ZipFile, part: str, wanted: frozenset[str]) -> dict[str, str]:
    """Copies what a part says of related parts, as far as wanted and present; their names by kind."""
    from lxml.etree import tostring  # type: ignore[import-untyped]

    folder, file = posixpath.split(part)
    name = posixpath.join(folder, "_rels", f"{file}.rels")
    if part and name not in package:
        return {}
    root = package.xml(name)
    found: dict[str, str] = {}
    for relation in list(root):
        kind = str(relation.get("Type", "")).rsplit("/", 1)[-1]
        path = posixpath.normpath(posixpath.join("/", folder, relation.get("Target", "")))[1:]
        external = relation.get("TargetMode") == "External"
        if kind in wanted and kind not in found and path in package and not external:
            found[kind] = path
        else:
            root.remove(relation)
    target.writestr(name, _renamed(tostring(root, encoding="utf-8", xml_declaration=True)))
    return found


def _renamed(content: bytes) -> bytes:
    for unknown, known in _RENAMED.items():
        content = content.replace(unknown, known)
    return content
