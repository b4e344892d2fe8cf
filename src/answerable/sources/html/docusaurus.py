"""Docusaurus pages → Document: what a page of a documentation site or online book says, and where in the book.

Only documents are read here. Lists of tags, blogs, search and error pages are told apart by `kind_of_page`.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from answerable.datatypes import Document, DocumentType, document_id
from answerable.errors import EmptySource, UnsupportedSource
from answerable.sources.html.parse import parse_page, sound_markup
from answerable.sources.markdown import section_parts
from answerable.sources.text import stem

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from answerable.sources.html.docusaurus_metadata import Neighbours

    Page: TypeAlias = bytes | str | LexborHTMLParser


class PageKind(str, Enum):
    """What a page of a Docusaurus site is."""

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
# In this order: the wrappers' classes stand on other kinds too, that of documents on lists of a category's documents.
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
    """What a page is in its Docusaurus site, None when it is of no such site.

    Raises DamagedSource when the markup is made to take for ever; `source` names the page in the message.
    """
    page = _parsed(html, source)
    if page.css_first(_DOCUMENT) and page.css_first(_DOCUMENT_TEXT):
        return PageKind.DOCUMENT
    return next((kind for selector, kind in _KINDS if page.css_first(selector)), None)


def is_docusaurus(html: Page, source: str = "") -> bool:
    """Whether `read_docusaurus` takes a page: a document of a Docusaurus site. Raises as `kind_of_page` does."""
    return _document_text(_parsed(html, source)) is not None


def read_docusaurus(data: Page, source: str, url: str = "") -> Document:
    """A document from a page, with a part for each section and its place in the book as metadata.

    A page handed over parsed is changed. Raises UnsupportedSource when the page is no document of a Docusaurus site and
    EmptySource when it shows no text.
    """
    from answerable.sources.html.docusaurus_metadata import docusaurus_metadata
    from answerable.sources.html.docusaurus_text import main_text
    from answerable.sources.html.metadata import page_language, page_metas, page_title

    page = _parsed(data, source)
    main = _document_text(page)
    if main is None:
        raise UnsupportedSource(f"{source} is no document of a Docusaurus site: read it as any other page")
    metas = page_metas(page)
    title, metadata = page_title(page, metas), docusaurus_metadata(page, metas, url)
    # Nothing of these may turn up as text, however deep they stand; the metadata has been read from some.
    main.strip_tags(["script", "style", "template"])
    content, headings = main_text(main)
    if not content:
        raise EmptySource(f"{source} shows no text: leave it out, or add the pages that it leads to")
    return Document(
        document_id(source, content),
        content,
        source,
        title or next((each.title for each in headings), "") or stem(source),
        DocumentType.HTML,
        page_language(page),
        metadata,
        section_parts(content, headings),
    )


def page_neighbours(html: Page, source: str, url: str = "") -> Neighbours:
    """The page's public address and those of the pages before and after it; `url` is where it was found."""
    from answerable.sources.html.docusaurus_metadata import neighbours

    return neighbours(_parsed(html, source), url)


def _document_text(page: LexborHTMLParser) -> LexborNode | None:
    """The element with the text of a document, None on pages of other kinds."""
    from answerable.sources.html.docusaurus_text import main_element

    return main_element(page) if page.css_first(_DOCUMENT) else None


def _parsed(html: Page, source: str) -> LexborHTMLParser:
    if not isinstance(html, bytes | str):
        return html
    return parse_page(sound_markup(html, source))
