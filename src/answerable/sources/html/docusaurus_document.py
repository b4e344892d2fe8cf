"""Docusaurus document → its metadata, such as chapter and version, and its text as Markdown.

Admonitions, formulas and cards are found by the theme's classes, which are the same in all versions, and replaced by
text; then `walk` renders the page. Elements are hidden, never removed: variables may still refer to nodes inside.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from selectolax.lexbor import LexborHTMLParser
from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.metadata import page_metadata, page_words
from answerable.sources.html.walk import render
from answerable.sources.html.words import attribute, classes, formula, visible_text
from answerable.sources.markdown import Heading

_BREADCRUMBS = (".theme-doc-breadcrumbs .breadcrumbs__item", "nav[aria-label] > .breadcrumbs > .breadcrumbs__item")
_DOC_ID = "docs-doc-id-"
_OWN_CATEGORY = ".theme-doc-sidebar-item-category .menu__link--sublist[aria-current=page]"


def docusaurus_metadata(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> dict[str, str]:
    """Return the `page_metadata`, and breadcrumbs, chapter, section, version and locale if stated.

    The chapter is the page's innermost category in the sidebar; a page without a category, or that introduces one, is
    its own chapter. The section is the page's name in the sidebar.
    """
    items = next((nodes for selector in _BREADCRUMBS if (nodes := page.css(selector))), [])
    breadcrumbs = [(name, item) for item in items if (name := page_words(visible_text(item)))]
    chapter, section = _place(page, breadcrumbs)
    found = {
        **page_metadata(page, metas, url),
        "breadcrumbs": " › ".join(name for name, _ in breadcrumbs),
        "chapter": chapter,
        "section": section,
        "version": page_version(page),
        "locale": page_locale(page),
    }
    return {key: value for key, value in found.items() if value}


def page_version(page: LexborHTMLParser) -> str:
    """Return the page's version, `current` if it is unreleased or the only one."""
    return _meta(page, "docusaurus_version") or _meta(page, "docsearch:version")


def page_locale(page: LexborHTMLParser) -> str:
    """Return the locale as the site names it, otherwise the declared language."""
    return _meta(page, "docusaurus_locale") or (page_words(attribute(page.root, "lang")) if page.root else "")


def page_ids(page: LexborHTMLParser) -> list[str]:
    """Return the document's ids (its path within its version), which are in the root element's classes."""
    root = page.css_first("html")
    return [name.removeprefix(_DOC_ID) for name in (classes(root) if root else ()) if name.startswith(_DOC_ID)]


def _place(page: LexborHTMLParser, items: Sequence[tuple[str, Node]]) -> tuple[str, str]:
    """Return chapter and section from the breadcrumbs."""
    categories = [name for name, item in items if "breadcrumbs__item--active" not in classes(item)]
    own = next((name for name, item in items if "breadcrumbs__item--active" in classes(item)), "")
    if not categories or (own and page.css_first(_OWN_CATEGORY)):
        return own or next(iter(categories), ""), ""
    return categories[-1], own


def _meta(page: LexborHTMLParser, name: str) -> str:
    node = (page.head or page).css_first(f"meta[name='{name}']")
    return page_words(attribute(node, "content")) if node else ""


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


def main_text(main: Node) -> tuple[str, list[Heading]]:
    """Return the Markdown of a document's element, and its headings. This modifies the tree."""
    for node in main.css(_NAVIGATION):
        _hide(node)
    for node in main.css(".theme-admonition, .admonition"):
        _fence(node)
    for node in main.css(_FORMULA):
        if tex := formula(node):
            _insert_before(node, f" $${tex}$$ ")
        _hide(node)
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
        _hide(heading)
    last.insert_after(":::")


def _is_heading(node: Node) -> bool:
    """Whether an admonition's child is its one-line heading: it has the class, or contains an icon."""
    is_named = _ADMONITION_HEADING.search(attribute(node, "class")) or node.css_first("svg")
    return is_named is not None and node.css_first(_MORE_THAN_A_LINE) is None


def _hide(node: Node) -> None:
    node.attrs["hidden"] = ""


def _insert_before(node: Node, text: str) -> None:
    # An attribute with escapes (&#xD800;) may contain lone surrogates.
    node.insert_before(text.encode("utf-8", "ignore").decode("utf-8"))
