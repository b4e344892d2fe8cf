"""HTML → Document: the main text of a page as Markdown.

Docusaurus pages mark their main text; in other pages trafilatura finds it. `walk` renders both. Nothing is
fetched or executed, and only HTML's own entities are resolved.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict, deque
from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType, document_id
from answerable.errors import EmptySource
from answerable.sources.html.bounds import count_blocks, has_wide_rows
from answerable.sources.html.docusaurus import document_element
from answerable.sources.html.parse import parse_page, valid_markup
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.text import stem

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from answerable.sources.context import ReadContext

_SILENT = logging.NullHandler()
# Trafilatura expects articles: of so short a page it may drop the heading and keep the menu. With 5,000 here the F1 of
# `tests/quality/test_web.py` falls from .937 to .909.
_SHORT_PAGE = 2_000
_SMALL_PAGE = 5_000
_LARGE_PAGE = 5_000_000
_MANY_BLOCKS = 3_000
_TOO_LITTLE = 0.25
# Above this share of links, part of the text is a menu, whatever elements it uses.
_MANY_LINKS = 0.1
# A heading tells where the text begins: of a few lines below it one may lead elsewhere.
_SOME_LINKS = 0.3
_MOST_BLOCKS = 200
# A block with so large a share of links, and several, is a menu.
_MENU = 0.7
_HEADINGS = "h1, h2, h3"
_SURROUNDINGS = "nav, aside, header, footer, [role=navigation]"


def read_saved(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the document in the file of a page, as `read_html` does; it has no options."""
    return read_html(data, source)


def read_html(data: bytes | str, source: str, url: str = "") -> Document:
    """Return a document with a part for each section; a Docusaurus page also has its chapter, version… as metadata.

    Raise EmptySource if the page shows no text.
    """
    from answerable.sources.html.docusaurus_document import docusaurus_metadata, main_text
    from answerable.sources.html.metadata import page_language, page_metadata, page_metas, page_title, saved_from

    markup = valid_markup(data, source)
    page = parse_page(markup)
    documentation = document_element(page)
    metas = page_metas(page)
    title = page_title(page, metas)
    metadata = (docusaurus_metadata if documentation else page_metadata)(page, metas, url or saved_from(markup))
    # Never text, however deep; the metadata has been read from some of them.
    (documentation or page).strip_tags(["script", "style", "template"])
    content, headings = main_text(documentation) if documentation else _main_text(page, markup)
    if not content:
        raise EmptySource(
            f"{source} shows no text: it may be built by scripts in the browser; "
            "save the page from the browser when it is fully loaded, then add that file"
        )
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


def _main_text(page: LexborHTMLParser, markup: str) -> tuple[str, list[Heading]]:
    from answerable.sources.html.walk import render
    from answerable.sources.html.words import visible_text

    body = page.body or page.root
    if body is None:
        return "", []
    if documentation := page.css_first("article .theme-doc-markdown"):
        return render(documentation)
    main = page.css_first("main, [role=main]") or page.css_first("article")
    visible = len(visible_text(body))
    is_small = visible < _SMALL_PAGE
    if visible < _SHORT_PAGE and (short := _short_text(markup)):
        return short
    is_extracted = len(markup) < _LARGE_PAGE and not has_wide_rows(markup)
    extracted, headings = _extract(page, markup) if is_extracted else ("", [])
    # Trafilatura expects articles: of other small pages it may keep next to nothing, and it may break code.
    whole = main or (body if is_small else None)
    is_little = is_small and whole and len(extracted) < len(visible_text(whole)) * _TOO_LITTLE
    enough = extracted and not is_little
    if enough and not (whole and _loses_code(whole, extracted)):
        return extracted, headings
    walked = render(whole) if whole else ("", [])
    if walked[0] and len(walked[0]) >= len(extracted):
        return walked
    return (extracted, headings) if enough else render(body)


def _short_text(markup: str) -> tuple[str, list[Heading]] | None:
    """Return the text of a short page without its surroundings; None if they are all, or the rest is a menu."""
    from answerable.sources.html.walk import render
    from answerable.sources.html.words import link_share

    # What is removed would be missing wherever else the page is read.
    body = parse_page(markup).body
    if body is None:
        return None
    _remove(
        node
        for node in body.css(_SURROUNDINGS)
        if not _is_inside(node, "main", "article") and not (node.tag == "header" and node.css_first("h1, h2"))
    )
    if body.css_first(_HEADINGS):
        # A menu without an element of its own stands before the first heading.
        before = takewhile(lambda node: node.tag not in _HEADINGS.split(", "), body.css(f"{_HEADINGS}, ul, ol, p, div"))
        _remove(node for node in before if len(node.css("a[href]")) > 1 and link_share(node) > _MENU)
    main = body.css_first("main, [role=main]")
    whole = main if main and main.css_first(_HEADINGS) else body
    found = (
        render(whole) if link_share(whole) < (_SOME_LINKS if body.css_first(_HEADINGS) else _MANY_LINKS) else ("", [])
    )
    return found if found[0] else None


def _remove(nodes: Iterable[LexborNode]) -> None:
    # The last first: what is inside another comes behind it, and is gone with it.
    for node in reversed(list(nodes)):
        node.decompose()


def _is_inside(node: LexborNode, *tags: str) -> bool:
    """Whether an element stands in one of these."""
    around = node.parent
    while around is not None and around.tag not in tags:
        around = around.parent
    return around is not None


def _loses_code(main: LexborNode, extracted: str) -> bool:
    """Whether the extracted text lacks most of the page's code blocks."""
    blocks = ["".join(block.text().split()) for block in main.css("pre")]
    # A sample, since each is searched in the whole text.
    blocks = blocks[:: len(blocks) // _MOST_BLOCKS + 1]
    text = "".join(extracted.split())
    return sum(block not in text for block in blocks) * 2 > len(blocks)


def _extract(page: LexborHTMLParser, markup: str) -> tuple[str, list[Heading]]:
    """Return the text that trafilatura finds, rendered by the walker."""
    import trafilatura
    from lxml.etree import tostring  # type: ignore[import-untyped]
    from selectolax.lexbor import LexborHTMLParser

    from answerable.sources.html.walk import render

    # Without a handler its warnings would reach the terminal.
    logging.getLogger("trafilatura").addHandler(_SILENT)
    try:
        found = trafilatura.bare_extraction(
            markup,
            # Its fallback compares each paragraph with the others.
            fast=count_blocks(markup) > _MANY_BLOCKS,
            favor_recall=True,
            include_tables=True,
            include_comments=False,
            include_formatting=True,
            include_images=False,
            deduplicate=False,
            with_metadata=False,
        )
        if found is None or isinstance(found, dict) or found.body is None:
            return "", []
        article = tostring(_as_html(found.body), encoding="unicode", method="html")
    except Exception:
        # It may raise anything on unusual markup; the walker then does without it.
        return "", []
    root = LexborHTMLParser(article).body
    if root is None:
        return "", []
    content, headings = render(root)
    return content, _with_anchors(headings, page)


def _as_html(body: object) -> object:
    """Turn trafilatura's TEI-like tags back into HTML, in place."""
    from lxml.etree import _Element

    assert isinstance(body, _Element)
    for element in body.iter():
        match element.tag:
            case "head":
                level = element.get("rend", "h2")
                element.tag = level if re.fullmatch(r"h[1-6]", level) else "h2"
            case "list":
                element.tag = "ol" if element.get("rend") == "ol" else "ul"
            case "code":
                element.tag = "pre" if "\n" in "".join(element.itertext()) or len(element) else "code"
            case "cell":
                element.tag = "th" if element.get("role") == "head" else "td"
            case tag if isinstance(tag, str):
                element.tag = _TAGS.get(tag, tag)
    return body


_TAGS = {"item": "li", "row": "tr", "quote": "blockquote", "lb": "br", "hi": "span", "ref": "span", "del": "span"}


def _with_anchors(headings: list[Heading], page: LexborHTMLParser) -> list[Heading]:
    """Add to each heading its id on the page; headings are matched by text, in order."""
    from answerable.sources.html.walk import render

    body = page.body
    if body is None or not headings:
        return headings
    known: defaultdict[str, deque[str | None]] = defaultdict(deque)
    for each in render(body)[1]:
        known[each.title].append(each.anchor)
    return [replace(each, anchor=known[each.title].popleft()) if known.get(each.title) else each for each in headings]
