"""Files that belong to a web page beside them: its stylesheets, scripts, pictures and frames are no documents."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import PurePath

from answerable.sources.formats import SUFFIXES, Format

PAGE_PART = "part of a web page"

# Browsers put what a page needs into a folder beside it, named after it in their own language.
_ENDING = r"(?:_files|_archivos|_arquivos|_ficheiros|_fichiers|_file|_bestanden|_elemei|-Dateien|-filer|\.files)"
_FOLDER = re.compile(f"(.+){_ENDING}", re.IGNORECASE)
_FOLDER_AROUND = re.compile(rf"(?<=[^/]){_ENDING}(?=/)", re.IGNORECASE)
_PAGES = frozenset(suffix for suffix, kind in SUFFIXES.items() if kind is Format.HTML)
# What is read of such a folder: a page needs none of these to be shown.
_DOCUMENTS = frozenset(
    suffix for suffix, kind in SUFFIXES.items() if kind not in (Format.HTML, Format.CODE, Format.RECORDS)
) | {".csv", ".tsv", ".tab"}
_STYLES = re.compile(r"\.(?:css|map|min\.m?js)", re.IGNORECASE)


def is_page_folder(name: str, beside: Collection[str]) -> bool:
    """Whether a folder holds the parts of a saved page, by its name and those of the files beside it."""
    match = _FOLDER.fullmatch(name)
    return match is not None and _has_page(match[1], beside)


def is_in_page_folder(path: str, paths: Collection[str]) -> bool:
    """Whether any of the folders that a file of an archive is in holds the parts of a page that is in it too."""
    return any(_has_page(path[: match.start()], paths) for match in _FOLDER_AROUND.finditer(path))


def is_page_part(name: str, in_page_folder: bool) -> bool:
    """Whether a file is a part of a page: anything but a document in a page's folder, a stylesheet anywhere."""
    path = PurePath(name)
    is_style = _STYLES.fullmatch("".join(path.suffixes[-2:])) or _STYLES.fullmatch(path.suffix)
    return bool(is_style) or (in_page_folder and path.suffix.lower() not in _DOCUMENTS)


def _has_page(name: str, beside: Collection[str]) -> bool:
    return any(f"{name}{suffix}" in beside for suffix in _PAGES)
