"""A real Docusaurus site, of two locales and two versions under a base path: found, fetched, read and cited."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest
from docusaurus_build import BASE, LONGEST_BUILD, PUBLIC, docusaurus_site
from reading_here import parsed
from site_server import SiteServer

from answerable.datatypes import Document
from answerable.embedding.cache import CachedEmbedder
from answerable.library import Library
from answerable.settings import Settings
from answerable.sources.html.metadata import document_element, kind_of_page
from answerable.sources.html.page_parts import PageKind
from answerable.sources.html.read import read_html
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher, FetchPolicy
from answerable.sources.site.pages import find_pages
from answerable.wiring.build import build_answerer, build_reader, build_splitter, build_store

# Building it takes minutes: `make test` reads the pages that `test_docusaurus.py` and `test_site_choice.py` make up.
pytestmark = [pytest.mark.timeout(LONGEST_BUILD), pytest.mark.long]

DOCUMENTS = [
    *("docs/intro", "docs/next/intro", "docs/next/tools", "docs/next/tools/spade", "docs/next/water/portugues"),
    *("docs/next/water/watering", "docs/water/watering"),
]
# What the theme writes around a text, in both languages.
AROUND = """
Skip to main content|The Garden Book|On this page|Previous|Next|Copy|Tags:|Last updated|Version: 1.0|Direct link|News|
Saltar al contenido principal|En esta página|Anterior|Siguiente|Copiar|Etiquetas:|Última actualización|Versión: 1.0|
Enlace directo|Rastro de navegación|The gardeners|unreleased documentation|Ctrl
""".replace("\n", "").split("|")

WATERING = r"""# Watering

Water in the morning: the soil is cool, and less of it evaporates.

## Drip lines

A drip line gives two litres an hour. Open the valve by hand or let a program do it.

Python

valve.py

```python
def open_valve(minutes: int) -> float:
    litres = minutes / 60 * 2
    return litres
```

Shell

```bash
valve --open 30
```

The shell needs the right to write to the serial port.

:::warning Never without water

A pump that runs dry breaks within a minute.

```js
pump.stop();
```

:::

:::tip

Look at the level first.

:::

### How much

| Plant | Litres a day | Days without rain |
| --- | --- | --- |
| Tomato | 2.5 | 1 |
| Sage | 0.3 | 14 |

A bed of area $A$ and depth $d$ holds

$$V = \frac{A \cdot d}{3}$$

litres of water.

## Rain

When does rain count?

From five millimetres on.

1. Read the gauge.
2. Note it:
   - the date
   - the millimetres

> Rain is the cheapest water."""


@pytest.fixture(scope="module")
def folder() -> Path:
    """The built site."""
    return docusaurus_site()


@pytest.fixture(scope="module")
def documents(folder: Path) -> dict[str, Document]:
    """The documents of both locales, by their paths under the base."""
    paths = [f"{locale}{path}" for locale in ("", "es/") for path in DOCUMENTS]
    return {path: read_html((folder / f"{path}.html").read_bytes(), path) for path in paths}


@pytest.fixture
def site(folder: Path) -> Iterator[SiteServer]:
    """The site on loopback, where its sitemaps don't say it is."""
    with SiteServer(folder, BASE, PUBLIC) as site:
        yield site


@pytest.fixture
def fetcher() -> Iterator[Fetcher]:
    """A fetcher that may ask loopback, at once."""
    with Fetcher(AddressGuard(["127.0.0.1"]), FetchPolicy(timeout=10, retries=0, delay=0)) as fetcher:
        yield fetcher


def test_each_page_is_of_its_kind(folder: Path) -> None:
    pages = {path.relative_to(folder).as_posix(): parsed(path.read_bytes()) for path in folder.rglob("*.html")}
    kinds = {name: kind_of_page(page) for name, page in pages.items()}
    expected = {
        "docs/category/water": PageKind.CATEGORY,
        "docs/next/category/water": PageKind.CATEGORY,
        "docs/tags": PageKind.TAGS,
        "docs/tags/water": PageKind.TAGS,
        "docs/next/tags": PageKind.TAGS,
        "docs/next/tags/tools": PageKind.TAGS,
        "docs/next/tags/water": PageKind.TAGS,
        "blog": PageKind.BLOG_LIST,
        "blog/archive": PageKind.BLOG_LIST,
        "blog/tags": PageKind.TAGS,
        "blog/tags/weather": PageKind.TAGS,
        "blog/2024/02/01/frost": PageKind.BLOG_POST,
        "search": PageKind.SEARCH,
        "404": PageKind.OTHER,
        "index": PageKind.STANDALONE,
        **dict.fromkeys(DOCUMENTS, PageKind.DOCUMENT),
    }
    both = {f"{locale}{path}.html": kind for locale in ("", "es/") for path, kind in expected.items()}
    # No text in Spanish has this tag.
    assert kinds == {**both, "docs/next/tags/summer.html": PageKind.TAGS}
    taken = {name for name, page in pages.items() if document_element(page)}
    assert taken == {name for name, kind in kinds.items() if kind is PageKind.DOCUMENT}


def test_a_page_with_all_that_a_text_may_hold(documents: dict[str, Document]) -> None:
    document = documents["docs/next/water/watering"]
    assert document.content == WATERING
    assert [(part.headings, part.anchor) for part in document.parts] == [
        (("Watering",), None),
        (("Watering", "Drip lines"), "drip"),
        (("Watering", "Drip lines", "How much"), "how-much"),
        (("Watering", "Rain"), "rain"),
    ]


def test_panels_that_a_reader_must_open_are_in_the_text(folder: Path, documents: dict[str, Document]) -> None:
    for path, text in (
        ("docs/next/water/watering", "The shell needs the right to write to the serial port."),
        ("es/docs/next/water/watering", "El programa abre la llave a las seis."),
    ):
        before = (folder / f"{path}.html").read_text("utf-8").partition(text)[0]
        assert before.rfind("hidden") > before.rfind('role="tabpanel"') > 0
        assert text in documents[path].content


def test_documents_know_their_place(documents: dict[str, Document]) -> None:
    places = {
        path: (document.metadata["chapter"], document.metadata.get("section")) for path, document in documents.items()
    }
    assert places == {
        "docs/intro": ("Welcome", None),
        "docs/water/watering": ("Water", "Watering"),
        "docs/next/intro": ("Welcome", None),
        "docs/next/tools": ("Tools", None),
        "docs/next/tools/spade": ("Tools", "The spade"),
        "docs/next/water/portugues": ("Water", "Rega gota a gota"),
        "docs/next/water/watering": ("Water", "Watering"),
        "es/docs/intro": ("Bienvenida", None),
        "es/docs/water/watering": ("Agua", "Riego"),
        "es/docs/next/intro": ("Bienvenida", None),
        "es/docs/next/tools": ("Herramientas", None),
        "es/docs/next/tools/spade": ("Herramientas", "The spade"),
        "es/docs/next/water/portugues": ("Agua", "Rega gota a gota"),
        "es/docs/next/water/watering": ("Agua", "Riego"),
    }
    for path, document in documents.items():
        locale = "es" if path.startswith("es/") else "en"
        version = "current" if "/next/" in path else "1.0"
        assert (document.metadata["locale"], document.language) == (locale, locale)
        assert document.metadata["version"] == version
        assert document.metadata["url"] == PUBLIC + path


def test_headings_have_the_anchors_of_the_page(folder: Path, documents: dict[str, Document]) -> None:
    for path, document in documents.items():
        markup = (folder / f"{path}.html").read_text("utf-8")
        assert document.parts[0].anchor is None
        for part in document.parts[1:]:
            assert f' id="{part.anchor}">{part.headings[-1]}<' in markup
    anchors = {path: [part.anchor for part in document.parts[1:]] for path, document in documents.items()}
    assert anchors["docs/intro"] == ["readers", "what-you-need", "how-to-read-it"]
    assert anchors["docs/next/tools/spade"] == ["care", "care-1"]
    assert anchors["es/docs/next/water/watering"] == ["drip", "cuánta-agua"]


def test_nothing_of_the_site_around_it_is_in_a_text(documents: dict[str, Document]) -> None:
    for path, document in documents.items():
        assert not [words for words in AROUND if words in document.content], path
    assert documents["docs/next/tools"].content == "# The tool shed\n\nKeep tools dry."


def test_pages_are_found_by_locale_and_cited_by_their_public_addresses(site: SiteServer, fetcher: Fetcher) -> None:
    english = find_pages(fetcher, site.home)
    assert site.asked() == Counter({"/book/sitemap.xml": 1})
    both = find_pages(fetcher, site.home, locales=["es"])
    assert (english.public_base, english.errors, both.errors) == (PUBLIC, (), ())
    assert not both.skipped
    spanish = [page for page in both.pages if page.public.startswith(f"{PUBLIC}es/")]
    assert both.pages == (*english.pages, *spanish)
    assert find_pages(fetcher, f"{site.home}es/").pages == tuple(spanish)
    for page in both.pages:
        assert page.url == site.home + page.public.removeprefix(PUBLIC)
    documents = {page.public.removeprefix(PUBLIC) for page in both.pages}
    assert documents >= {f"{locale}{path}" for locale in ("", "es/") for path in DOCUMENTS}


def test_a_citation_opens_the_public_page_at_its_section(
    site: SiteServer, fetcher: Fetcher, embedder: CachedEmbedder
) -> None:
    chosen = Settings()
    with Library(
        store=build_store(":memory:"),
        embedder=embedder,
        splitter=build_splitter(chosen),
        reader=build_reader(chosen),
        answerer=build_answerer(chosen, embedder.fingerprint),
    ) as library:
        pages = [page for page in find_pages(fetcher, site.home).pages if page.public.startswith(f"{PUBLIC}docs/next/")]
        fetched = [(page, fetcher.fetch(page.url).body) for page in pages]
        library.add_documents(
            read_html(body, page.public, page.public) for page, body in fetched if document_element(parsed(body))
        )
        citation = library.ask("How many litres an hour does a drip line give?").citations[0]
    assert "two litres an hour" in citation.quote
    assert citation.location.headings[:2] == ("Watering", "Drip lines")
    address, fragment = citation.link.split("#")
    anchor, directive = fragment.split(":~:text=")
    assert (address, anchor) == (f"{PUBLIC}docs/next/water/watering", "drip")
    assert " ".join(citation.quote.split()).startswith(unquote(directive))
