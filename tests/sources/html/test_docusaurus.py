"""Pages of Docusaurus sites: which are documents, what they say, where they stand, how they are cited."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples
from reading_here import parsed

from answerable.datatypes import DocumentType
from answerable.embedding.cache import CachedEmbedder
from answerable.errors import EmptySource, SourceError
from answerable.library import Library
from answerable.settings import Settings
from answerable.sources.html.metadata import document_element, kind_of_page
from answerable.sources.html.page_parts import PageKind
from answerable.sources.html.read import read_html
from answerable.wiring.build import build_answerer, build_reader, build_splitter, build_store

HEAD = """<meta name="generator" content="Docusaurus v3.9.2"><title data-rh="true">Riego | El huerto</title>
<meta property="og:title" content="Riego | El huerto"><meta name="docusaurus_locale" content="es">
<meta name="docusaurus_version" content="2.0">
<link rel="canonical" href="https://huerto.example/es/docs/agua/riego">"""

AROUND = """<a href="#__docusaurus_skipToContent_fallback">Saltar al contenido</a>
<nav class="theme-layout-navbar navbar"><a href="/">El huerto</a></nav><aside class="theme-doc-sidebar-container">
<ul class="theme-doc-sidebar-menu"><li class="theme-doc-sidebar-item-category"><div><a class="menu__link
menu__link--sublist" href="/es/docs/agua">Agua</a></div><ul><li><a class="menu__link menu__link--active"
aria-current="page" href="/es/docs/agua/riego">Riego</a></li></ul></li></ul></aside>"""

BREADCRUMBS = """<nav class="theme-doc-breadcrumbs x_Z" aria-label="Rastro"><ul class="breadcrumbs">
<li class="breadcrumbs__item"><a aria-label="Inicio" class="breadcrumbs__link" href="/es/"><svg></svg></a></li>
<li class="breadcrumbs__item"><span class="breadcrumbs__link">El libro</span></li>
<li class="breadcrumbs__item"><a class="breadcrumbs__link" href="/es/docs/agua">Agua</a></li>
<li class="breadcrumbs__item breadcrumbs__item--active"><span class="breadcrumbs__link">Riego</span></li></ul></nav>
<span class="theme-doc-version-badge">Versión: 2.0</span><div class="theme-doc-toc-mobile">
<button>En esta página</button></div>"""

FOOTER = """<footer class="theme-doc-footer"><a class="theme-edit-this-page">Editar esta página</a>
<span class="theme-last-updated">Última actualización</span></footer></article>
<nav class="docusaurus-mt-lg pagination-nav" aria-label="Páginas">
<a class="pagination-nav__link pagination-nav__link--prev" href="/es/docs/agua"><div>Anterior</div><div>Agua</div></a>
<a class="pagination-nav__link pagination-nav__link--next" href="/es/docs/suelo#inicio"><div>Siguiente</div></a></nav>
<div class="theme-doc-toc-desktop"><ul class="table-of-contents"><li><a href="#goteo">Goteo</a></li></ul></div>"""

TEXT = """<header><h1>Riego</h1></header>
<p>El riego por la mañana pierde menos agua.<img alt="Un gotero" src="g.png">
Véase <a href="/es/docs/suelo">Suelo</a>.</p>
<div class="theme-admonition theme-admonition-warning admonition_x alert alert--warning"><div
class="admonitionHeading_G"><span class="admonitionIcon_R"><svg><path></path></svg></span>Con <code>bomba</code></div>
<div class="admonitionContent_B"><p>Nunca encienda la bomba sin agua.</p>
<div class="theme-admonition theme-admonition-tip alert"><div class="admonitionHeading_G">tip</div><div>
<p>Mire el nivel.</p></div></div></div></div>
<h2 class="anchor anchorTargetStickyNavbar_V" id="goteo">Goteo<a href="#goteo" class="hash-link"
aria-label="Enlace directo">​</a></h2>
<div class="theme-tabs-container tabs-container tabList__C"><ul role="tablist" class="tabs"><li role="tab"
class="tabs__item tabs__item--active">Python</li><li role="tab" class="tabs__item">Bash</li></ul><div>
<div role="tabpanel" class="tabItem_Y"><div class="language-python codeBlockContainer_C theme-code-block">
<div class="codeBlockTitle_O">riego.py</div><div class="codeBlockContent_Q"><pre class="prism-code
language-python"><code class="codeBlockLines_e"><span class="token-line"><span
class="token keyword">if</span><span> seco:</span><br></span>\
<span class="token-line"><span>    regar()</span><br></span></code></pre><div class="buttonGroup__">
<button>Copiar</button></div></div></div></div>
<div role="tabpanel" class="tabItem_Y" hidden=""><p>regar --todo</p></div></div></div>
<p>Hacen falta <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>V</mi></mrow><annotation
encoding="application/x-tex">V_0</annotation></semantics></math></span>
<span class="katex-html">V0</span></span> litros:</p>
<span class="katex-display"><span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>V</mi></mrow>
<annotation encoding="application/x-tex">V = \\frac{A}{2}</annotation></semantics></math></span>
<span class="katex-html" aria-hidden="true">V=A/2</span></span></span>
<h3 class="anchor" id="tabla">Tabla<a class="hash-link" href="#tabla">​</a></h3>
<table><thead><tr><th>Planta</th><th>Litros</th></tr></thead><tbody><tr><td>Tomate</td><td>2</td></tr></tbody></table>
<details class="details_l alert alert--info" data-collapsed="true"><summary>Respuesta</summary><div
style="display:none;overflow:hidden;height:0px"><div class="collapsibleContent_i"><p>Dos litros.</p></div></div>
</details>
<p><img class="themedComponent_m themedComponent--light_N" alt="Mapa" src="a.png"><img
class="themedComponent_m themedComponent--dark_x" alt="Mapa" src="b.png"><img alt="" src="c.png"></p>
<section class="row docCardList_x"><article class="col docCardListItem_W"><a class="card cardContainer_f"
href="/es/docs/suelo"><h2 class="cardTitle_r">Suelo</h2><p>Sobre el suelo</p></a></article></section>"""


def make_page(text: str = TEXT, before: str = AROUND + "<main><article>" + BREADCRUMBS) -> str:
    classes = "docs-wrapper plugin-docs docs-version-2.0 docs-doc-page docs-doc-id-agua/riego"
    main = f'{before}<div class="theme-doc-markdown markdown">{text}</div>{FOOTER}</main>'
    return f'<!doctype html><html lang="es" class="{classes}"><head>{HEAD}</head><body>{main}</body></html>'


RENDERED = """# Riego

El riego por la mañana pierde menos agua. Un gotero Véase Suelo.

:::warning Con bomba

Nunca encienda la bomba sin agua.

:::tip

Mire el nivel.

:::

:::

## Goteo

Python

riego.py

```python
if seco:
    regar()
```

Bash

regar --todo

Hacen falta $V_0$ litros:

$$V = \\frac{A}{2}$$

### Tabla

| Planta | Litros |
| --- | --- |
| Tomate | 2 |

Respuesta

Dos litros.

Mapa"""


def test_a_page_with_all_that_the_theme_draws() -> None:
    document = read_html(make_page().encode(), "riego.html", "http://127.0.0.1:3000/es/docs/agua/riego")
    assert document.content == RENDERED
    assert (document.title, document.language, document.type) == ("Riego", "es", DocumentType.HTML)
    assert document.metadata == {
        "url": "https://huerto.example/es/docs/agua/riego",
        "breadcrumbs": "El libro › Agua › Riego",
        "chapter": "Agua",
        "section": "Riego",
        "version": "2.0",
        "locale": "es",
    }
    assert [(part.headings, part.anchor) for part in document.parts] == [
        (("Riego",), None),
        (("Riego", "Goteo"), "goteo"),
        (("Riego", "Goteo", "Tabla"), "tabla"),
    ]
    assert "".join(document.content[part.start : part.end] for part in document.parts) == document.content


def test_an_admonition_of_old_with_its_heading_in_a_heading() -> None:
    old = """<div class="admonition admonition-note alert"><div class="admonition-heading"><h5><span
    class="admonition-icon"><svg></svg></span>Ojo</h5></div><div
    class="admonition-content"><p>Hay barro.</p></div></div>"""
    document = read_html(make_page(f"<h1>Riego</h1>{old}"), "a")
    assert document.content == "# Riego\n\n:::note Ojo\n\nHay barro.\n\n:::"
    assert len(document.parts) == 1


def test_an_admonition_without_a_heading_keeps_its_kind_and_all_its_words() -> None:
    bare = """<div class="theme-admonition theme-admonition-danger"><div class="admonitionContent_B"><p>Hay barro.</p>
    <div class="theme-admonition theme-admonition-info"><div class="admonitionHeading_G">info</div><p>Poco.</p></div>
    </div></div><div class="theme-admonition theme-admonition-danger"></div>"""
    document = read_html(make_page(bare), "a")
    assert document.content == ":::danger\n\nHay barro.\n\n:::info\n\nPoco.\n\n:::\n\n:::"


def test_notes_at_the_foot_keep_their_words_without_the_way_back() -> None:
    notes = """<p>Agua<sup><a href="#fn-1" id="fnref-1" data-footnote-ref="true">1</a></sup>.</p><section
    class="footnotes"><h2 class="anchor sr-only" id="footnote-label">Notas</h2><ol><li id="fn-1"><p>De lluvia. <a
    href="#fnref-1" class="data-footnote-backref">↩</a></p></li></ol></section>"""
    assert read_html(make_page(notes), "a").content == "Agua[^1].\n\n## Notas\n\n[^1]: De lluvia."


OWN = '<li class="breadcrumbs__item breadcrumbs__item--active"><span>Riego</span></li>'
ABOVE = '<li class="breadcrumbs__item"><span>Agua</span></li>'
OPENS = """<ul><li class="theme-doc-sidebar-item-category"><div class="menu__list-item-collapsible"><a
class="menu__link menu__link--sublist menu__link--active" aria-current="page">Riego</a></div></li></ul>"""


@pytest.mark.parametrize(
    ("items", "sidebar", "chapter", "section"),
    [
        (ABOVE + OWN, "", "Agua", "Riego"),
        (ABOVE + OWN, OPENS, "Riego", None),
        (OWN, "", "Riego", None),
        (ABOVE, "", "Agua", None),
        ("", "", None, None),
    ],
)
def test_chapter_and_section_by_the_breadcrumbs(
    items: str, sidebar: str, chapter: str | None, section: str | None
) -> None:
    before = f'{sidebar}<main><article><nav class="theme-doc-breadcrumbs"><ul class="breadcrumbs">{items}</ul></nav>'
    metadata = read_html(make_page("<p>x</p>", before), "a").metadata
    assert (metadata.get("chapter"), metadata.get("section")) == (chapter, section)


@pytest.mark.parametrize(
    ("classes", "body", "kind"),
    [
        ("docs-wrapper docs-doc-page", "", PageKind.DOCUMENT),
        ("docs-wrapper docs-tags-list-page", "", PageKind.TAGS),
        ("docs-wrapper docs-tags-doc-list-page", "", PageKind.TAGS),
        ("docs-wrapper", '<div class="generatedIndexPage_v"><h1>Agua</h1></div>', PageKind.CATEGORY),
        ("blog-wrapper blog-post-page plugin-blog", '<div class="markdown">x</div>', PageKind.BLOG_POST),
        ("blog-wrapper blog-tags-post-list-page", "", PageKind.TAGS),
        ("blog-wrapper blog-list-page", "", PageKind.BLOG_LIST),
        ("plugin-blog", "<h1>Archivo</h1>", PageKind.BLOG_LIST),
        ("mdx-wrapper mdx-page", "", PageKind.STANDALONE),
        ("plugin-search", '<div class="search-page-wrapper"></div>', PageKind.SEARCH),
        ("plugin-native", "<h1>404</h1>", PageKind.OTHER),
    ],
)
def test_kinds_of_pages(classes: str, body: str, kind: PageKind) -> None:
    page = (
        f'<html class="{classes}"><head>{HEAD}</head><body><main><article>{body}<p>x</p></article></main></body></html>'
    )
    assert kind_of_page(parsed(page)) is kind
    # A document without its main text can't be told from the site around it.
    assert document_element(parsed(page)) is None


def test_pages_of_other_sites_and_empty_ones() -> None:
    assert kind_of_page(parsed("<html class='page'><article><div class='markdown'>x</div></article></html>")) is None
    assert document_element(parsed(b"")) is None
    assert document_element(parsed(make_page())) is not None
    with pytest.raises(EmptySource, match=r"a\.html shows no text"):
        read_html(make_page("<div id=app></div>"), "a.html")


def test_a_citation_opens_at_the_quote_under_its_heading(embedder: CachedEmbedder) -> None:
    chosen = Settings()
    filling = "<p>Las lechugas crecen en primavera y se siembran en hileras separadas.</p>" * 3
    question = '<h2 class="anchor" id="bomba">La bomba<a class="hash-link" href="#bomba">​</a></h2>'
    answer = "La bomba del pozo eleva treinta litros de agua por minuto."
    page = make_page(f"<header><h1>Riego</h1></header>{filling}{question}<p>{answer}</p><h2 id=fin>Fin</h2>{filling}")
    with Library(
        store=build_store(":memory:"),
        embedder=embedder,
        splitter=build_splitter(chosen),
        reader=build_reader(chosen),
        answerer=build_answerer(chosen, embedder.fingerprint),
    ) as library:
        library.add_documents([read_html(page, "https://huerto.example/es/docs/agua/riego")])
        found = library.ask("¿Cuántos litros por minuto eleva la bomba del pozo?")
    citation = found.citations[0]
    assert citation.quote == answer
    assert citation.location.headings == ("Riego", "La bomba")
    address, fragment = citation.link.split("#")
    anchor, directive = fragment.split(":~:text=")
    assert (address, anchor) == ("https://huerto.example/es/docs/agua/riego", "bomba")
    assert unquote(directive) == answer


MARKUP = """
<p> </p> <h1> <h2 id=a> <table> <tr> <td> <ul> <li> <pre> <a href=#x class=hash-link> <br> <svg> <math> </div>
<div role=tablist> <div role=tabpanel hidden> <div class=theme-admonition> <div class='admonition admonition-note'>
<div class=admonitionHeading_x> <span class=katex-display> <span class=katex> <annotation encoding=application/x-tex>
<img alt=x> <img alt='&#xD800;\ufdd0'> <div class=theme-doc-footer> <div class=breadcrumbs__item>
<article class=docCardListItem> <nav class=theme-doc-breadcrumbs>
<a class=pagination-nav__link--next href='http://[&#xD800;'> words ::: \ufdd0 \0
<details> <summary> <template> <script> &nbsp; <blockquote> <section>
""".replace("\n", " ").split(" ")
pieces = st.sampled_from(MARKUP)


@examples(150)
@given(st.lists(pieces | st.text(max_size=5)).map(" ".join))
def test_random_text_never_raises_anything_else(text: str) -> None:
    page = make_page(text)
    try:
        document = read_html(page, "a.html")
    except SourceError:
        return
    document.content.encode()
    document.title.encode()
    assert all(value.encode() for value in document.metadata.values())
    end = 0
    for part in document.parts:
        assert end <= part.start < part.end <= len(document.content)
        assert not document.content[end : part.start].strip()
        end = part.end
    assert not document.content[end:].strip()
