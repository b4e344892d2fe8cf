"""Files that are parts of a web page and aren't read as documents; and facts that decide if a site's page is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath

from answerable.datatypes import Name
from answerable.formats.marks import PAGES
from answerable.formats.registry import suffixes

# Also match `app.js?v=2` and `app.js.download`, the names that some programs give to saved files.
_SCRIPT = re.compile(r"\.(?:m?js|webmanifest)(?:[?@].*|\.download)?\Z", re.IGNORECASE | re.DOTALL)
_PAGE = re.compile(r"\.x?html?(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)
# Files beside and below this file are the source of a program, even if there is a page of the program too.
_PROJECT = "package.json"


def page_scripts(paths: Collection[str]) -> frozenset[str]:
    """Return the scripts among the files of a tree that belong to a page: those in a page's folder, and below it."""
    pages = {PurePosixPath(path).parent for path in paths if _PAGE.search(path)}
    projects = {PurePosixPath(path).parent for path in paths if f"/{path}".endswith(f"/{_PROJECT}")}
    scripts = [path for path in paths if _SCRIPT.search(path)] if pages else []
    around = {path: frozenset(PurePosixPath(path).parents) for path in scripts}
    return frozenset(path for path in scripts if pages & around[path] and not projects & around[path])


class PageKind(Name):
    """Kinds of pages of a Docusaurus site."""

    DOCUMENT = "document"
    CATEGORY = "category"
    TAGS = "tags"
    BLOG_POST = "blog post"
    BLOG_LIST = "blog list"
    STANDALONE = "standalone"
    SEARCH = "search"
    OTHER = "other"


def header_directives(*texts: str) -> frozenset[str]:
    """Return the robots directives in X-Robots-Tag headers or meta elements."""
    words = {word.strip().lower() for text in texts for word in text.split(",")}
    return frozenset(words | ({"noindex", "nofollow"} if "none" in words else set()))


@dataclass(frozen=True, slots=True)
class PageFacts:
    """Facts about a page. Addresses are in plain form, "" if missing.

    `directives` are the robots directives of its meta elements, `refresh` the target of an immediate redirect there,
    `links` the pages it links to (none with nofollow). For a Docusaurus site: the `kind` of page, whether it lists
    tags, its locale, version and ids, and `latest`, the banner's link to the latest version.
    """

    directives: Sequence[str] = ()
    refresh: str = ""
    links: Sequence[str] = ()
    canonical: str = ""
    kind: str = ""
    lists_tags: bool = False
    locale: str = ""
    version: str = ""
    ids: Sequence[str] = ()
    latest: str = ""


PAGE_PART = "part of a web page"

# Browsers save the parts of a page in a folder with the page's name and an ending in the browser's language.
_ENDING = r"(?:_files|_archivos|_arquivos|_ficheiros|_fichiers|_file|_bestanden|_elemei|-Dateien|-filer|\.files)"
_FOLDER = re.compile(f"(.+){_ENDING}", re.IGNORECASE)
_FOLDER_AROUND = re.compile(rf"(?<=[^/]){_ENDING}(?=/)", re.IGNORECASE)
# Suffixes of files that are read even in such a folder: no page needs them to be displayed.
_DOCUMENTS = frozenset(
    suffix for suffix, form in suffixes().items() if form.name not in ("html", "code", "records", "picture")
) | {".csv", ".tsv", ".tab"}
# Also matches names with a question mark, which some programs keep: `site.css?v=2`.
_STYLES = re.compile(r".\.(?:css|map|min\.m?js)(?:[?@].*)?\Z", re.IGNORECASE | re.DOTALL)


def is_page_folder(name: str, beside: Collection[str]) -> bool:
    """Whether a folder contains the parts of a saved page, by the names of the folder and of the files next to it."""
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
    return any(f"{name}{suffix}" in beside for suffix in PAGES)
