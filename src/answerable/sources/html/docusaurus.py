"""Kinds of pages of a Docusaurus site: documents are read, lists of tags, blogs, search and error pages aren't."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from answerable.sources.html.parse import parse_page, valid_markup

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    Page: TypeAlias = bytes | str | LexborHTMLParser


class PageKind(str, Enum):
    """Kinds of pages of a Docusaurus site."""

    DOCUMENT = "document"
    CATEGORY = "category"
    TAGS = "tags"
    BLOG_POST = "blog post"
    BLOG_LIST = "blog list"
    STANDALONE = "standalone"
    SEARCH = "search"
    OTHER = "other"

    def __str__(self) -> str:
        return self.value


_DOCUMENT = "html.docs-doc-page"
_DOCUMENT_TEXT = ".theme-doc-markdown"
# The text of a document, and its container before the theme named it (2.0 betas).
_MAIN = (_DOCUMENT_TEXT, "article .markdown")
# The order matters: some classes occur on several kinds of pages, that of documents also on category lists.
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


def kind_of_page(html: Page, source: str = "") -> PageKind | None:
    """Return the kind of a page in a Docusaurus site, None for other sites.

    Raise DamagedSource, naming `source`, if elements are nested too deeply.
    """
    page = _parsed(html, source)
    if page.css_first(_DOCUMENT) and page.css_first(_DOCUMENT_TEXT):
        return PageKind.DOCUMENT
    return next((kind for selector, kind in _KINDS if page.css_first(selector)), None)


def document_element(html: Page, source: str = "") -> LexborNode | None:
    """Return the element with the text of a Docusaurus document, None on other pages. Raise like `kind_of_page`."""
    page = _parsed(html, source)
    if not page.css_first(_DOCUMENT):
        return None
    return next((found for selector in _MAIN if (found := page.css_first(selector))), None)


def _parsed(html: Page, source: str) -> LexborHTMLParser:
    return parse_page(valid_markup(html, source)) if isinstance(html, bytes | str) else html
