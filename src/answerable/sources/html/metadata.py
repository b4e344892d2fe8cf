"""Metadata in the head of a page; and pages of Docusaurus: their kind, their metadata, and their text as Markdown.

On a Docusaurus site, documents are read, but not lists of tags, blogs, search and error pages. Admonitions, formulas
and cards are found by the theme's classes, which are the same in all versions, and replaced by text; then `render`
makes Markdown.
Elements are hidden, never removed, since variables may still refer to nodes inside them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from selectolax.lexbor import LexborHTMLParser
from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.page_parts import PageKind
from answerable.sources.html.parse import render
from answerable.sources.html.words import attribute, classes, formula, visible_text
from answerable.sources.markdown import Heading

_AUTHORS = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")
_DATES = (
    "article:published_time datepublished date dc.date dc.date.issued dcterms.created citation_publication_date "
    "parsely-pub-date og:published_time"
).split()
_DATE = re.compile(r"(\d{4})[-/](\d\d?)[-/](\d\d?)")
# What browsers, and the extension SingleFile, write at the beginning of a page that they save.
_SAVED = re.compile(r"<!--\s*(?:saved from url=\(\d+\)|Page saved with SingleFile\s+url:\s*)(https?://[^\s<>]+)")
_SEPARATOR = re.compile(r"\s+[|·•–—»-]\s+|\s*::\s*")


def page_metadata(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the page's canonical address, author and date, "" if it declares none."""
    linked = _linked_data(page)
    authors = (_author(metas.get(name, "")) for name in _AUTHORS)
    dates = (_date(metas.get(name, "")) for name in _DATES)
    return {
        "url": _canonical(page, metas, url),
        "author": next(filter(None, authors), "") or _named(linked.get("author")),
        "date": next(filter(None, dates), "") or _date(str(linked.get("datePublished", ""))),
    }


def saved_from(markup: str) -> str:
    """Return the address that a browser wrote into a page when saving the page, or ""."""
    match = _SAVED.search(markup, 0, 10_000)
    return match[1] if match else ""


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
    # A Docusaurus page names its site only in the bar at the top.
    bar = page.css_first(".navbar__title")
    sites = {name.casefold() for name in (metas.get("og:site_name"), page_words(bar.text()) if bar else "") if name}
    pieces = _SEPARATOR.split(declared)
    if len(pieces) > 1 and pieces[-1].casefold() in sites:
        return declared[: declared.rindex(pieces[-1])].rstrip(" |·•–—»:-")
    return declared


def page_language(page: LexborHTMLParser) -> str:
    """Return the two-letter language that the page declares, or ""."""
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
    # Some pages give the address of a profile instead of a name.
    return "" if "://" in value or value.startswith("/") or len(value) > 200 else value


def _date(value: str) -> str:
    match = _DATE.search(value)
    if not match or not (1 <= int(match[2]) <= 12 and 1 <= int(match[3]) <= 31):
        return ""
    return f"{match[1]}-{int(match[2]):02}-{int(match[3]):02}"


def page_words(text: str) -> str:
    """Collapse white space, and remove lone surrogates, which escapes such as `&#xD800;` produce."""
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").split())


_DOCUMENT = "html.docs-doc-page"
_DOCUMENT_TEXT = ".theme-doc-markdown"
# Selectors of a document's text; the second is for the 2.0 betas, whose theme had no class for it.
_MAIN = (_DOCUMENT_TEXT, "article .markdown")
# The order matters: some classes occur on several kinds of pages. Category lists also have the class of documents.
_KINDS = (
    ("html.docs-wrapper [class*=generatedIndexPage]", PageKind.CATEGORY),
    (_DOCUMENT, PageKind.DOCUMENT),
    ("html.docs-tags-list-page, html.docs-tags-doc-list-page", PageKind.TAGS),
    ("html.blog-tags-list-page, html.blog-tags-post-list-page", PageKind.TAGS),
    ("html.blog-post-page", PageKind.BLOG_POST),
    ("html.blog-wrapper, html.plugin-blog", PageKind.BLOG_LIST),
    (".search-page-wrapper", PageKind.SEARCH),
    ("html.mdx-page", PageKind.STANDALONE),
    ("meta[name=generator][content^=Docusaurus], meta[name^=docusaurus_], #__docusaurus", PageKind.OTHER),
)
_BREADCRUMBS = (".theme-doc-breadcrumbs .breadcrumbs__item", "nav[aria-label] > .breadcrumbs > .breadcrumbs__item")
_DOC_ID = "docs-doc-id-"
_OWN_CATEGORY = ".theme-doc-sidebar-item-category .menu__link--sublist[aria-current=page]"
_NAVIGATION = (
    ".theme-doc-breadcrumbs, .theme-doc-toc-mobile, .theme-doc-toc-desktop, .theme-doc-footer, .theme-edit-this-page, "
    ".theme-last-updated, .theme-doc-version-badge, .theme-doc-version-banner, .theme-unlisted-banner, "
    ".theme-draft-banner, .pagination-nav, .table-of-contents, .hash-link, .data-footnote-backref, "
    "article[class*='docCardListItem'], .card[class*='cardContainer']"
)
_ADMONITION = re.compile(r"(?:theme-)?admonition-([\w-]+)")
_ADMONITION_HEADING = re.compile(r"admonition-?heading", re.IGNORECASE)
_MORE_THAN_A_LINE = "p, pre, ul, ol, table, blockquote, .theme-admonition, .admonition"
# Only malicious pages nest formulas; reading the outer ones takes quadratic time.
_FORMULA = ".katex-display:not(:has(.katex-display))"
# Pictures for light and for dark pages are both in the markup, with the same text.
_FOR_DARK_PAGES = re.compile(r"themed(?:Image|Component)--dark")


def kind_of_page(page: LexborHTMLParser) -> PageKind | None:
    """Return the kind of a page in a Docusaurus site, None for other sites."""
    if page.css_first(_DOCUMENT) and page.css_first(_DOCUMENT_TEXT):
        return PageKind.DOCUMENT
    return next((kind for selector, kind in _KINDS if page.css_first(selector)), None)


def document_element(page: LexborHTMLParser) -> Node | None:
    """Return the element with the text of a Docusaurus document, None on other pages."""
    if not page.css_first(_DOCUMENT):
        return None
    return next((found for selector in _MAIN if (found := page.css_first(selector))), None)


def docusaurus_metadata(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the `page_metadata`, and breadcrumbs, chapter, section, version and locale."""
    items = next((nodes for selector in _BREADCRUMBS if (nodes := page.css(selector))), [])
    breadcrumbs = [(name, item) for item in items if (name := page_words(visible_text(item)))]
    chapter, section = _place(page, breadcrumbs)
    return {
        **page_metadata(page, metas, url),
        "breadcrumbs": " › ".join(name for name, _ in breadcrumbs),
        "chapter": chapter,
        "section": section,
        "version": page_version(metas),
        "locale": page_locale(page, metas),
    }


def page_version(metas: Mapping[str, str]) -> str:
    """Return the page's version, `current` if it is unreleased or the only one."""
    return metas.get("docusaurus_version") or metas.get("docsearch:version", "")


def page_locale(page: LexborHTMLParser, metas: Mapping[str, str]) -> str:
    """Return the locale as the site names it, otherwise the declared language."""
    return metas.get("docusaurus_locale") or (page_words(attribute(page.root, "lang")) if page.root else "")


def page_ids(page: LexborHTMLParser) -> list[str]:
    """Return the document's ids (its path within its version), which are in the root element's classes."""
    root = page.css_first("html")
    return [name.removeprefix(_DOC_ID) for name in (classes(root) if root else ()) if name.startswith(_DOC_ID)]


def _place(page: LexborHTMLParser, items: Sequence[tuple[str, Node]]) -> tuple[str, str]:
    """Return the page's innermost category in the sidebar, and its name there, from the breadcrumbs.

    A page without a category, or that introduces one, is its own chapter, and has no section.
    """
    categories = [name for name, item in items if "breadcrumbs__item--active" not in classes(item)]
    own = next((name for name, item in items if "breadcrumbs__item--active" in classes(item)), "")
    if not categories or (own and page.css_first(_OWN_CATEGORY)):
        return own or next(iter(categories), ""), ""
    return categories[-1], own


def main_text(main: Node) -> tuple[str, list[Heading]]:
    """Return the Markdown of a document's element, and its headings. This modifies the tree."""
    for node in main.css(_NAVIGATION):
        node.attrs["hidden"] = ""
    for node in main.css(".theme-admonition, .admonition"):
        _fence(node)
    for node in main.css(_FORMULA):
        if tex := formula(node):
            _insert_before(node, f" $${tex}$$ ")
        node.attrs["hidden"] = ""
    for node in main.css("img[alt]"):
        if not _FOR_DARK_PAGES.search(attribute(node, "class")):
            _insert_before(node, f" {attribute(node, 'alt')} ")
    return render(main)


def _fence(admonition: Node) -> None:
    """Enclose an admonition in the lines of its Markdown source: `:::warning Title` and `:::`."""
    kinds = (match[1] for name in classes(admonition) if (match := _ADMONITION.fullmatch(name)))
    kind = next(kinds, "note")
    first, last = admonition.first_child, admonition.last_child
    if first is None or last is None:
        return
    heading = next((child for child in admonition.iter() if _is_heading(child)), None)
    title = visible_text(heading) if heading else ""
    named = title and title.casefold() != kind
    _insert_before(first, f":::{kind} {title}" if named else f":::{kind}")
    if heading:
        heading.attrs["hidden"] = ""
    last.insert_after(":::")


def _is_heading(node: Node) -> bool:
    """Whether an admonition's child is its one-line heading: it has the class, or contains an icon."""
    is_named = _ADMONITION_HEADING.search(attribute(node, "class")) or node.css_first("svg")
    return is_named is not None and node.css_first(_MORE_THAN_A_LINE) is None


def _insert_before(node: Node, text: str) -> None:
    # An attribute with escapes (&#xD800;) may contain lone surrogates.
    node.insert_before(text.encode("utf-8", "ignore").decode("utf-8"))
