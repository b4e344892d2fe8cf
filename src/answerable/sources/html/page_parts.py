"""Files that are parts of a saved web page: stylesheets, scripts, pictures and frames, which aren't read."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePath

from answerable.sources.formats import SUFFIXES, Format

PAGE_PART = "part of a web page"

# Browsers save the parts of a page in a folder named after it, in their own language.
_ENDING = r"(?:_files|_archivos|_arquivos|_ficheiros|_fichiers|_file|_bestanden|_elemei|-Dateien|-filer|\.files)"
_FOLDER = re.compile(f"(.+){_ENDING}", re.IGNORECASE)
_FOLDER_AROUND = re.compile(rf"(?<=[^/]){_ENDING}(?=/)", re.IGNORECASE)
_PAGES = frozenset(suffix for suffix, kind in SUFFIXES.items() if kind is Format.HTML)
# Files in such a folder that are read: no page needs these to be displayed.
_DOCUMENTS = frozenset(
    suffix
    for suffix, kind in SUFFIXES.items()
    if kind not in (Format.HTML, Format.CODE, Format.RECORDS, Format.PICTURE)
) | {".csv", ".tsv", ".tab"}
# Some programs keep what follows a question mark: `site.css?v=2`.
_STYLES = re.compile(r".\.(?:css|map|min\.m?js)(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)


def is_page_folder(name: str, beside: Collection[str]) -> bool:
    """Whether a folder contains the parts of a saved page, by the names of the folder and the files beside it."""
    match = _FOLDER.fullmatch(name)
    return match is not None and _has_page(match[1], beside)


def is_in_page_folder(path: str, paths: Collection[str]) -> bool:
    """Whether a file in an archive is in a folder with the parts of a page that is in the archive too."""
    return any(_has_page(path[: match.start()], paths) for match in _FOLDER_AROUND.finditer(path))


def is_page_part(name: str, in_page_folder: bool) -> bool:
    """Whether a file is part of a page: a stylesheet anywhere, or anything but a document in a page's folder."""
    is_style = _STYLES.search(name) is not None
    return is_style or (in_page_folder and PurePath(name).suffix.lower() not in _DOCUMENTS)


def _has_page(name: str, beside: Collection[str]) -> bool:
    return any(f"{name}{suffix}" in beside for suffix in _PAGES)
