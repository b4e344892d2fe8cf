"""Recognise a document that is a zip archive by the members of the archive, whatever its name."""

from __future__ import annotations

import zipfile
from io import BytesIO
from pathlib import Path, PurePath

from answerable.errors import UnsupportedSource
from answerable.sources.formats import Format
from answerable.sources.old_formats import APPLE, BINARY_WORKBOOK

_LONGEST_TYPE = 200
_BY_MEMBER = {
    "word/document.xml": Format.DOCX,
    "xl/workbook.xml": Format.XLSX,
    "ppt/presentation.xml": Format.PPTX,
}
_BY_MIMETYPE = {
    "application/epub+zip": Format.EPUB,
    "application/vnd.oasis.opendocument.text": Format.ODT,
    "application/vnd.oasis.opendocument.spreadsheet": Format.ODS,
    "application/vnd.oasis.opendocument.presentation": Format.ODP,
}


def packed_format(file: Path | bytes, source: str) -> Format | None:
    """Return the format of a packed document; None for other archives, and for damaged ones, which readers report.

    Raises UnsupportedSource, which says what to do, for formats that only their own programs read.
    """
    try:
        with zipfile.ZipFile(BytesIO(file) if isinstance(file, bytes) else file) as archive:
            members = archive.NameToInfo
            found = next((form for name, form in _BY_MEMBER.items() if name in members), None)
            if found or not members.keys() & {"mimetype", "xl/workbook.bin", "Index/Document.iwa", "Index.zip"}:
                return found
            if "mimetype" in members:
                with archive.open("mimetype") as member:
                    mimetype = member.read(_LONGEST_TYPE).decode("ascii", "replace").strip()
                return _BY_MIMETYPE.get(mimetype.removesuffix("-template"))
    except Exception:
        # Each compression method raises its own errors.
        return None
    old = BINARY_WORKBOOK if "xl/workbook.bin" in members else APPLE
    raise UnsupportedSource(f"{PurePath(source).name or source} is {old.what}: {old.advice}")
