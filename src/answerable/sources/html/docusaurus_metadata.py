"""What a Docusaurus page says of its place in the site: chapter, section, version, locale, neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag, urljoin

from selectolax.lexbor import LexborHTMLParser
from selectolax.lexbor import LexborNode as Node

from answerable.sources.html.metadata import page_metadata, page_metas
from answerable.sources.html.words import attribute, classes, visible_text

_BREADCRUMBS = (".theme-doc-breadcrumbs .breadcrumbs__item", "nav[aria-label] > .breadcrumbs > .breadcrumbs__item")
_DOC_ID = "docs-doc-id-"
_OWN_CATEGORY = ".theme-doc-sidebar-item-category .menu__link--sublist[aria-current=page]"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """A page's public address and those of the pages before and after it, empty where there is none."""

    url: str
    previous: str
    next: str


def docusaurus_metadata(page: LexborHTMLParser, metas: Mapping[str, str], url: str) -> dict[str, str]:
    """What `page_metadata` tells, and breadcrumbs, chapter, section, version and locale, as far as the page has them.

    The chapter is the innermost category of the sidebar that the page stands in, or the page itself where it stands in
    none or opens one; the section is its name there. Sections within the page are the document's parts.
    """
    items = next((nodes for selector in _BREADCRUMBS if (nodes := page.css(selector))), [])
    breadcrumbs = [(name, item) for item in items if (name := _words(visible_text(item)))]
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
    """The version that the page belongs to, `current` for what isn't released or where there is only one."""
    return _meta(page, "docusaurus_version") or _meta(page, "docsearch:version")


def page_locale(page: LexborHTMLParser) -> str:
    """The locale as the site calls it, otherwise the declared language."""
    return _meta(page, "docusaurus_locale") or _declared_language(page)


def page_ids(page: LexborHTMLParser) -> list[str]:
    """The ids that the page's root names as classes: a document's own path within its version."""
    root = page.css_first("html")
    return [name.removeprefix(_DOC_ID) for name in (classes(root) if root else ()) if name.startswith(_DOC_ID)]


def neighbours(page: LexborHTMLParser, url: str) -> Neighbours:
    """The page's address and those that its pagination links to, all without fragment."""
    own = page_metadata(page, page_metas(page), url).get("url", "")
    return Neighbours(own, _linked(page, "prev", own), _linked(page, "next", own))


def reading_order(pages: Iterable[Neighbours]) -> list[str]:
    """The addresses of these pages in the order that their pagination leads through them.

    Each sidebar begins at a page that none of the others leads to; what no link leads to keeps its place in the given
    order. A trailing slash makes no difference.
    """
    known = {_key(page.url): page for page in pages}
    led_to = {_key(page.next) for page in known.values()}
    order: dict[str, str] = {}
    for key in [*(key for key in known if key not in led_to), *known]:
        while key in known and key not in order:
            order[key] = known[key].url
            key = _key(known[key].next)
    return list(order.values())


def _place(page: LexborHTMLParser, items: Sequence[tuple[str, Node]]) -> tuple[str, str]:
    """Chapter and section by the breadcrumbs."""
    categories = [name for name, item in items if "breadcrumbs__item--active" not in classes(item)]
    own = next((name for name, item in items if "breadcrumbs__item--active" in classes(item)), "")
    if not categories or (own and page.css_first(_OWN_CATEGORY)):
        return own or next(iter(categories), ""), ""
    return categories[-1], own


def _linked(page: LexborHTMLParser, direction: str, own: str) -> str:
    link = page.css_first(f".pagination-nav__link--{direction}") or _by_place(page, direction)
    href = attribute(link, "href") if link else ""
    try:
        return urldefrag(urljoin(own, href)).url if href else ""
    except ValueError:
        return ""  # An address that is none, such as one with half a bracket.


def _by_place(page: LexborHTMLParser, direction: str) -> Node | None:
    """Before 2.0 was released the links were told apart by the item they stand in."""
    place = "item--next" if direction == "next" else "item:first-child"
    return page.css_first(f".pagination-nav__{place} .pagination-nav__link")


def _key(url: str) -> str:
    return url.rstrip("/")


def _meta(page: LexborHTMLParser, name: str) -> str:
    node = (page.head or page).css_first(f"meta[name='{name}']")
    return _words(attribute(node, "content")) if node else ""


def _declared_language(page: LexborHTMLParser) -> str:
    return _words(attribute(page.root, "lang")) if page.root else ""


def _words(text: str) -> str:
    # An attribute given with escapes (&#xD800;) may hold what no encoding can.
    return " ".join(text.encode("utf-8", "ignore").decode("utf-8").split())
