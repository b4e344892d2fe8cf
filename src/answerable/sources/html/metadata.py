"""Metadata in the head of a page: title, language, address, author, date."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from selectolax.lexbor import LexborHTMLParser

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_DATES_NAMES = (
    "article:published_time datepublished date dc.date dc.date.issued dcterms.created citation_publication_date "
    "parsely-pub-date og:published_time"
)
_DATES = _DATES_NAMES.split()
_DATE = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)")
# What browsers, and the extension SingleFile, write at the beginning of a page that they save.
_SAVED = re.compile(r"<!--\s*(?:saved from url=\(\d+\)|Page saved with SingleFile\s+url:\s*)(https?://[^\s<>]+)")
_BEGINNING = 10_000
_SEPARATOR = re.compile(r"\s+[|·•–—»-]\s+|\s*::\s*")


def page_metadata(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the page's canonical address, author and date, if declared."""
    linked = _linked_data(page)
    found = {
        "url": _canonical(page, metas, url),
        "author": _first(_author(metas.get(name, "")) for name in _AUTHORS) or _named(linked.get("author")),
        "date": _first(_date(metas.get(name, "")) for name in _DATES) or _date(str(linked.get("datePublished", ""))),
    }
    return {key: value for key, value in found.items() if value}


def saved_from(markup: str) -> str:
    """Return the address that a browser noted in a page when it saved it, or nothing."""
    match = _SAVED.search(markup, 0, _BEGINNING)
    return match[1] if match else ""


def _first(values: Iterable[str]) -> str:
    return next(filter(None, values), "")


def page_title(page: LexborHTMLParser, metas: Mapping[str, str]) -> str:
    """Return the `<h1>` if the `<title>` begins with it, otherwise the `<title>` without the site's name."""
    element = page.css_first("head > title") or page.css_first("title")
    declared = metas.get("og:title", "") or page_words(element.text() if element else "")
    headings = [text for each in page.css("h1") if (text := page_words(each.text()))]
    if not declared:
        return headings[0] if headings else ""
    for heading in headings:
        if declared == heading or (declared.startswith(heading) and _SEPARATOR.match(declared, len(heading))):
            return heading
    # Docusaurus names its site in the bar at the top alone.
    bar = page.css_first(".navbar__title")
    sites = {name.casefold() for name in (metas.get("og:site_name"), page_words(bar.text()) if bar else "") if name}
    pieces = _SEPARATOR.split(declared)
    if len(pieces) > 1 and pieces[-1].casefold() in sites:
        return declared[: declared.rindex(pieces[-1])].rstrip(" |·•–—»:-")
    return declared


def page_language(page: LexborHTMLParser) -> str:
    """Return the two-letter language that the page declares, or nothing."""
    root = page.css_first("html")
    declared = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root else ""
    match = re.fullmatch(r"([A-Za-z]{2})(?:[-_].*)?", declared.strip())
    return match[1].lower() if match else ""


def page_metas(page: LexborHTMLParser) -> dict[str, str]:
    """Map the lower-case names of the page's meta elements to their contents; the first of each name counts."""
    metas: dict[str, str] = {}
    for meta in page.css("meta[content]"):
        name = meta.attributes.get("property") or meta.attributes.get("name") or meta.attributes.get("itemprop") or ""
        content = page_words(meta.attributes.get("content") or "")
        if name and content:
            metas.setdefault(name.strip().lower(), content)
    return metas


def _linked_data(page: LexborHTMLParser) -> dict[str, Any]:
    """Return the first JSON-LD object with an author or a date."""
    for script in page.css("script[type='application/ld+json']"):
        try:
            data = json.loads(script.text())
        except (ValueError, RecursionError):
            continue
        nodes = data.get("@graph", [data]) if isinstance(data, dict) else data
        for node in nodes if isinstance(nodes, list) else []:
            if isinstance(node, dict) and ("datePublished" in node or "author" in node):
                return node
    return {}


def _named(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(filter(None, map(_named, value[:10])))
    name = value.get("name") if isinstance(value, dict) else value
    return _author(page_words(name)) if isinstance(name, str) else ""


def _canonical(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> str:
    link = page.css_first("link[rel=canonical]")
    candidates = ((link.attributes.get("href") if link else "") or "", metas.get("og:url", ""), url)
    return next((each for each in candidates if re.match(r"https?://", each)), url)


def _author(value: str) -> str:
    # Some state the address of a profile instead of the name.
    return "" if "://" in value or value.startswith("/") or len(value) > 200 else value


def _date(value: str) -> str:
    match = _DATE.search(value)
    if not match or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        return ""
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"


def page_words(text: str) -> str:
    """Collapse white space, and remove lone surrogates, which escapes such as `&#xD800;` produce."""
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").split())
