"""The main text of a Docusaurus page → Markdown: the theme's elements are put in words, then the one walker renders.

Docusaurus draws admonitions, formulas and cards with its theme's classes, which stay the same from version to version.
Elements are never taken out of the tree but marked hidden, as another one held here may stand within them.
"""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser
from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.walk import render
from answerable.sources.html.words import attribute, classes, formula, visible_text
from answerable.sources.markdown import Heading

# The theme's text, and what stood around it before the theme named it (2.0 betas).
_MAIN = (".theme-doc-markdown", "article .markdown")
_NAVIGATION = (
    ".theme-doc-breadcrumbs, .theme-doc-toc-mobile, .theme-doc-toc-desktop, .theme-doc-footer, .theme-edit-this-page, "
    ".theme-last-updated, .theme-doc-version-badge, .theme-doc-version-banner, .theme-unlisted-banner, "
    ".theme-draft-banner, .pagination-nav, .table-of-contents, .hash-link, .data-footnote-backref, "
    "article[class*='docCardListItem'], .card[class*='cardContainer']"
)
_ADMONITION = re.compile(r"(?:theme-)?admonition-([\w-]+)")
_ADMONITION_HEADING = re.compile(r"admonition-?heading", re.IGNORECASE)
_MORE_THAN_A_LINE = "p, pre, ul, ol, table, blockquote, .theme-admonition, .admonition"
# Only hostile pages put formulas into formulas, and reading the outer ones takes time with the square of the depth.
_FORMULA = ".katex-display:not(:has(.katex-display))"
# Of a picture for light and for dark pages both are in the markup, with the same words.
_FOR_DARK_PAGES = re.compile(r"themed(?:Image|Component)--dark")


def main_element(page: LexborHTMLParser) -> Node | None:
    """The element that holds a document's text and nothing of the site around it."""
    return next((found for selector in _MAIN if (found := page.css_first(selector))), None)


def main_text(main: Node) -> tuple[str, list[Heading]]:
    """The Markdown of the main element, and its headings at their places in it. Changes the tree."""
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
    """Puts an admonition between the lines that it has in the source: `:::warning Title` and `:::`."""
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
    """Whether an admonition's child is its heading, one line: called so by the theme, or an icon with words."""
    is_named = _ADMONITION_HEADING.search(attribute(node, "class")) or node.css_first("svg")
    return is_named is not None and node.css_first(_MORE_THAN_A_LINE) is None


def _hide(node: Node) -> None:
    node.attrs["hidden"] = ""


def _insert_before(node: Node, text: str) -> None:
    # An attribute given with escapes (&#xD800;) may hold what no encoding can.
    node.insert_before(text.encode("utf-8", "ignore").decode("utf-8"))
