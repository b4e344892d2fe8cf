"""HTML → Document: the main text of a page as Markdown.

Docusaurus pages mark their main text; on other pages trafilatura finds it. `render` turns both into Markdown. Nothing
is fetched or executed, and only HTML's own entities are resolved.
"""

from __future__ import annotations

import logging
import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from answerable.datatypes import Document, DocumentType
from answerable.errors import EmptySource
from answerable.sources.html.metadata import (
    document_element,
    docusaurus_metadata,
    main_text,
    page_language,
    page_metadata,
    page_metas,
    page_title,
    saved_from,
)
from answerable.sources.html.parse import count_blocks, has_wide_rows, parse_page, render, valid_markup
from answerable.sources.html.shown import write_forms
from answerable.sources.html.words import link_share, visible_text
from answerable.sources.markdown import Heading, section_parts
from answerable.sources.text import make_document

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from answerable.sources.context import ReadContext

_SILENT = logging.NullHandler()
# Characters shown: trafilatura expects articles; on shorter pages it may drop the heading and keep the menu. With 5,000
# here, the F1 of `tests/quality/test_web.py` falls from .937 to .909.
_SHORT_PAGE = 2_000
_LONGEST_MENU = 20_000  # characters shown of a page of which menus are removed; a round number, not measured
_SMALL_PAGE = 5_000  # characters shown; a round number, not measured
_LARGE_PAGE = 5_000_000  # characters of markup; a round number, not measured
_MANY_BLOCKS = 3_000  # paragraphs and cells; a round number, not measured
_TOO_LITTLE = 0.25  # share of the text shown; a guess, not measured
# Share of the text that is in links: above it, part of the text is a menu, whatever elements it uses.
_MANY_LINKS = 0.1
# The same limit for text with a heading, which shows where the text begins: one of a few lines may be a link.
_SOME_LINKS = 0.3
_MOST_BLOCKS = 200  # blocks of code to search for in the extracted text
# Share of a block's text that is in links: with several links and a larger share, the block is a menu.
_MENU = 0.7
# Elements that trafilatura removes with their text, and what they are for it instead.
_INSTEAD = {"form": "div", "fieldset": "div", "legend": "p", "time": "span", "label": "span", "output": "span"}
_HEADINGS = "h1, h2, h3"
_IN_MAIN = "main *, article *"
_SURROUNDINGS = "nav, aside, header, footer, [role=navigation]"


def read_saved(data: bytes, source: str, context: ReadContext) -> Document:
    """Return the document in a saved page, as `read_html` does; `context` has no options for pages."""
    return read_html(data, source)


def read_html(data: bytes | str, source: str, url: str = "") -> Document:
    """Return a document with a part for each section. Raise EmptySource if the page shows no text."""
    markup = valid_markup(data, source)
    page = parse_page(markup)
    documentation = document_element(page)
    metas = page_metas(page)
    title = page_title(page, metas)
    metadata = (docusaurus_metadata if documentation else page_metadata)(page, metas, url or saved_from(markup))
    # Scripts go, too; the metadata in some of them has already been read.
    write_forms(page)
    content, headings = main_text(documentation) if documentation else _main_text(page)
    if not content:
        raise EmptySource(
            f"{source} shows no text: it may be built by scripts in the browser; "
            "save the page from the browser when it is fully loaded, then add that file"
        )
    title = title or next((each.title for each in headings), "")
    parts = section_parts(content, headings)
    return make_document(source, content, DocumentType.HTML, parts, title, metadata, page_language(page))


def _main_text(page: LexborHTMLParser) -> tuple[str, list[Heading]]:
    body = page.body or page.root
    if body is None:
        return "", []
    if documentation := page.css_first("article .theme-doc-markdown"):
        return render(documentation)
    markup = page.html or ""
    main = page.css_first("main, [role=main]") or page.css_first("article")
    visible = len(visible_text(body))
    is_small = visible < _SMALL_PAGE
    if visible < _SHORT_PAGE and (short := _short_text(markup)):
        return short
    is_extracted = len(markup) < _LARGE_PAGE and not has_wide_rows(markup)
    extracted, headings = _extract(page, markup) if is_extracted else ("", [])
    # If it finds no article, it returns all words of the page, with its menus, in one line.
    is_flat = "\n" not in extracted
    if extracted and is_flat and visible < _LONGEST_MENU and (short := _short_text(markup)):
        return short
    # Trafilatura expects articles: it may keep next to nothing of other small pages, and it may break code.
    whole = main or (body if is_small else None)
    is_little = is_small and whole and (is_flat or len(extracted) < len(visible_text(whole)) * _TOO_LITTLE)
    if extracted and not is_little and not (whole and _loses_code(whole, extracted)):
        return extracted, headings
    walked = render(whole) if whole else ("", [])
    if walked[0] and len(walked[0]) >= len(extracted):
        return walked
    return (extracted, headings) if extracted else render(body)


def _short_text(markup: str) -> tuple[str, list[Heading]] | None:
    """Return the text of a short page without its `_SURROUNDINGS`; None if nothing is left, or only a menu."""
    # Parse the page again: elements removed here are still needed in the other tree.
    body = parse_page(markup).body
    if body is None:
        return None
    has_main = body.css_first("main, [role=main]") is not None
    _remove(
        node
        for node in body.css(_SURROUNDINGS)
        if not node.css_matches(_IN_MAIN) and not (node.tag == "header" and node.css_first("h1, h2"))
    )
    _remove(_menus(body, has_main))
    main = body.css_first("main, [role=main]")
    whole = main if main and main.css_first(_HEADINGS) else body
    most = _SOME_LINKS if body.css_first(_HEADINGS) else _MANY_LINKS
    found = render(whole) if link_share(whole) < most else ("", [])
    return found if found[0] else None


def _menus(body: LexborNode, has_main: bool) -> Iterator[LexborNode]:
    """Yield menus that are in no `nav` or similar element: before the first heading, or outside of the main element."""
    is_before = body.css_first(_HEADINGS) is not None
    for node in body.css(f"{_HEADINGS}, ul, ol, p, div"):
        is_before = is_before and node.tag not in _HEADINGS.split(", ")
        if is_before or (has_main and not node.css_matches(_IN_MAIN)):
            holds_text = node.css_first(f"main, [role=main], article, {_HEADINGS}") is not None
            if not holds_text and len(node.css("a[href]")) > 1 and link_share(node) > _MENU:
                yield node


def _remove(nodes: Iterable[LexborNode]) -> None:
    # In reverse order: an inner element follows the outer one, and is destroyed with it.
    for node in reversed(list(nodes)):
        node.decompose()


def _loses_code(main: LexborNode, extracted: str) -> bool:
    """Whether the extracted text lacks most of the page's code blocks."""
    blocks = ["".join(block.text().split()) for block in main.css("pre")]
    # A sample of the blocks, since each is searched for in the whole text.
    blocks = blocks[:: len(blocks) // _MOST_BLOCKS + 1]
    text = "".join(extracted.split())
    return sum(block not in text for block in blocks) * 2 > len(blocks)


def _extract(page: LexborHTMLParser, markup: str) -> tuple[str, list[Heading]]:
    """Return the text that trafilatura finds, as Markdown, and its headings."""
    import trafilatura
    from lxml.etree import LxmlError, tostring  # type: ignore[import-untyped]

    # Without a handler, trafilatura's warnings would reach the terminal.
    logging.getLogger("trafilatura").addHandler(_SILENT)
    try:
        found = trafilatura.bare_extraction(
            _without_losses(trafilatura.load_html(markup)),
            # Without `fast`, a fallback compares each paragraph with all others.
            fast=count_blocks(markup) > _MANY_BLOCKS,
            favor_recall=True,
            include_tables=True,
            include_comments=False,
            include_formatting=True,
            include_images=False,
            deduplicate=False,
            with_metadata=False,
        )
    except (LxmlError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        # Trafilatura raises these exceptions at unusual markup; the page is then rendered without it.
        return "", []
    if found is None or isinstance(found, dict) or found.body is None:
        return "", []
    root = parse_page(tostring(_as_html(found.body), encoding="unicode", method="html")).body
    if root is None:
        return "", []
    content, headings = render(root)
    return content, _with_anchors(headings, page)


def _without_losses(tree: object) -> object:
    """Rename elements that trafilatura would leave out: those of forms, and text in a `div` beside paragraphs."""
    from lxml.etree import _Element

    for element in tree.iter("div", *_INSTEAD) if isinstance(tree, _Element) else ():
        is_text = element.tag == "div" and not len(element) and (element.text or "").strip()
        element.tag = "p" if is_text else _INSTEAD.get(element.tag, element.tag)
    return tree


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
                element.tag = rend if (rend := element.get("rend")) in ("ol", "dl") else "ul"
            case "item" if (rend := element.get("rend", "")).startswith(("dt", "dd")):
                element.tag = rend[:2]
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
    body = page.body
    if body is None or not headings:
        return headings
    known: defaultdict[str, deque[str | None]] = defaultdict(deque)
    for each in render(body)[1]:
        known[each.title].append(each.anchor)
    return [replace(each, anchor=known[each.title].popleft()) if known.get(each.title) else each for each in headings]
