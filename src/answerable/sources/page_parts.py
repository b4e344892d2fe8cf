"""Files that belong to a web page beside them: its stylesheets, scripts, pictures and frames are no documents."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePath

from answerable.sources.formats import SUFFIXES, Format

PAGE_PART = "part of a web page"

# Browsers put what a page needs into a folder beside it, named after it in their own language.
_FOLDER = re.compile(
    r"(.+)(?:_files|_archivos|_arquivos|_ficheiros|_fichiers|_file|_bestanden|_elemei|-Dateien|-filer|\.files)",
    re.IGNORECASE,
)
_PAGES = frozenset(suffix for suffix, kind in SUFFIXES.items() if kind is Format.HTML)
# What is read of such a folder: a page needs none of these to be shown.
_DOCUMENTS = frozenset(
    suffix for suffix, kind in SUFFIXES.items() if kind not in (Format.HTML, Format.CODE, Format.RECORDS)
) | {".csv", ".tsv", ".tab"}
_STYLES = re.compile(r"\.(?:css|map|min\.m?js)", re.IGNORECASE)


def is_page_folder(name: str, beside: Collection[str]) -> bool:
    """Whether a folder holds the parts of a saved page, by its name and those of the files beside it."""
    match = _FOLDER.fullmatch(name)
    return match is not None and any(f"{match[1]}{suffix}" in beside for suffix in _PAGES)


def is_page_part(name: str, in_page_folder: bool) -> bool:
    """Whether a file is a part of a page: anything but a document in a page's folder, a stylesheet anywhere."""
    path = PurePath(name)
    is_style = _STYLES.fullmatch("".join(path.suffixes[-2:])) or _STYLES.fullmatch(path.suffix)
    return bool(is_style) or (in_page_folder and path.suffix.lower() not in _DOCUMENTS)
