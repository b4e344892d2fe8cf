"""HTML → Document: the main text of a page as Markdown.

Docusaurus pages say where their text is and are walked directly. For other pages trafilatura decides what is text, and
the same walker renders it. Nothing is fetched or executed; the parsers resolve no entities but HTML's own.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict, deque
from dataclasses import replace
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType, document_id
from answerable.errors import EmptySource
from answerable.sources.html.bounds import (
    count_blocks,
    has_wide_rows,
)
from answerable.sources.html.parse import parse_page, sound_markup
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.text import stem

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SILENT = logging.NullHandler()
_SMALL_PAGE = 5_000
_LARGE_PAGE = 5_000_000
_MANY_BLOCKS = 3_000
_TOO_LITTLE = 0.25
# From this share of links on some of them are a menu, whatever element it is made of.
_MANY_LINKS = 0.1
_MOST_BLOCKS = 200
_SURROUNDINGS = "nav, aside, header, footer, [role=navigation]"


def read_html(data: bytes | str, source: str, url: str = "") -> Document:
    """A document from a page, with a part for each section. Raises EmptySource when it shows no text."""
    from answerable.sources.html.docusaurus import is_docusaurus, read_docusaurus
    from answerable.sources.html.metadata import page_language, page_metadata, page_metas, page_title

    markup = sound_markup(data, source)
    page = parse_page(markup)
    if is_docusaurus(page):
        return read_docusaurus(page, source, url)
    metas = page_metas(page)
    title, metadata = page_title(page, metas), page_metadata(page, metas, url)
    # Nothing of these may turn up as text, however deep they stand; the metadata has been read from some.
    page.strip_tags(["script", "style", "template"])
    content, headings = _main_text(page, markup)
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
    from answerable.sources.html.words import link_share, visible_text

    body = page.body or page.root
    if body is None:
        return "", []
    if documentation := page.css_first("article .theme-doc-markdown"):
        return render(documentation)
    main = page.css_first("main, [role=main]") or page.css_first("article")
    visible = len(visible_text(body))
    is_small = visible < _SMALL_PAGE
    if is_small and visible and not page.css_first(_SURROUNDINGS) and link_share(body) < _MANY_LINKS:
        # Nothing to tell the text from.
        return render(body)
    is_extracted = len(markup) < _LARGE_PAGE and not has_wide_rows(markup)
    extracted, headings = _extract(page, markup) if is_extracted else ("", [])
    # It is made for articles: of a small page of another kind it may leave next to nothing, and code it may tear.
    whole = main or (body if is_small else None)
    is_little = is_small and whole and len(extracted) < len(visible_text(whole)) * _TOO_LITTLE
    enough = extracted and not is_little
    if enough and not (whole and _loses_code(whole, extracted)):
        return extracted, headings
    walked = render(whole) if whole else ("", [])
    if walked[0] and len(walked[0]) >= len(extracted):
        return walked
    return (extracted, headings) if enough else render(body)


def _loses_code(main: LexborNode, extracted: str) -> bool:
    """Whether most of the page's blocks of code are missing."""
    blocks = ["".join(block.text().split()) for block in main.css("pre")]
    # Of very many, every so manieth: each is looked for in the whole text.
    blocks = blocks[:: len(blocks) // _MOST_BLOCKS + 1]
    text = "".join(extracted.split())
    return sum(block not in text for block in blocks) * 2 > len(blocks)


def _extract(page: LexborHTMLParser, markup: str) -> tuple[str, list[Heading]]:
    """What trafilatura takes for the text of the page, rendered by the walker."""
    import trafilatura
    from lxml.etree import tostring  # type: ignore[import-untyped]
    from selectolax.lexbor import LexborHTMLParser

    from answerable.sources.html.walk import render

    # It warns of each method it gives up; without a handler those would reach the terminal.
    logging.getLogger("trafilatura").addHandler(_SILENT)
    try:
        found = trafilatura.bare_extraction(
            markup,
            # What it falls back on compares each paragraph with the others.
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
        # It works by heuristics on markup of any kind and raises what it likes; the walker then does without.
        return "", []
    root = LexborHTMLParser(article).body
    if root is None:
        return "", []
    content, headings = render(root)
    return content, _with_anchors(headings, page)


def _as_html(body: object) -> object:
    """Trafilatura's own tags (after TEI) turned back into HTML, in place."""
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
    """The headings with the ids that they have on the page, matched by their words, in order."""
    from answerable.sources.html.walk import render

    body = page.body
    if body is None or not headings:
        return headings
    known: defaultdict[str, deque[str | None]] = defaultdict(deque)
    for each in render(body)[1]:
        known[each.title].append(each.anchor)
    return [replace(each, anchor=known[each.title].popleft()) if known.get(each.title) else each for each in headings]
