"""Pages: what is text, how it is rendered, where its sections are."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from property_settings import examples

from answerable.datatypes import DocumentType
from answerable.errors import DamagedSource, EmptySource, SourceError
from answerable.sources.html.read import read_html

LINKS = "".join(f"<div><a href='/{number}'>Division {number}</a></div>" for number in range(20))
TRAINING = "".join(f"<p>{'Divers of the fire brigade train on every second Monday. ' * 4}{n}</p>" for n in range(3))
DOCUSAURUS = """<!doctype html><html lang="pt-BR" class="docs-doc-page"><head><title>Nós | Livro</title>
<meta property="og:title" content="Nós | Livro"><link rel="canonical" href="https://livro.example/nos"></head><body>
<nav>menu</nav><main><article><nav class="theme-doc-breadcrumbs"><ul>
<li class="breadcrumbs__item">Módulo 1</li></ul></nav>
<div class="theme-doc-markdown markdown"><header><h1>Nós</h1></header>
<p>Um <strong>nó</strong> usa <code>rclpy</code>.<br>Fim.</p>
<h2 class="anchor" id="instalar">Instalar<a href="#instalar" class="hash-link" aria-label="Link">\u200b</a></h2>
<div class="language-python codeBlockContainer theme-code-block"><div class="codeBlockTitle">main.py</div><div><pre
class="prism-code language-python"><code><span class="token-line"><span>def f():</span><br></span>\
<span class="token-line"><span>    return "```"</span><br></span><br><br><span>f()</span></code></pre>
<button>Copy</button></div></div>
<div class="theme-admonition theme-admonition-tip"><div><span><svg><path></path></svg></span>dica</div>
<div><p>Leia.</p></div></div>
<table><thead><tr><th>a</th><th>b|c</th></tr></thead><tbody><tr><td>1</td><td><p>2</p></td></tr></tbody></table>
<div class="tabs-container"><ul role="tablist"><li role="tab">npm</li><li role="tab">yarn</li></ul>
<div><div role="tabpanel"><p>npm start</p></div><div role="tabpanel" hidden=""><p>yarn start</p></div></div></div>
<ol start="3"><li>três<ul><li>sub</li></ul></li><li><p>quatro</p><p>mais</p></li></ol>
<details><summary>Mais</summary><h3 id="fundo">Fundo</h3><p>texto <span class="katex"><span><math><semantics><mi>x</mi>
<annotation encoding="application/x-tex">x^2</annotation></semantics></math></span><span>x2</span></span></p></details>
<script>alert(1)</script><style>p{}</style><!-- comment --><p hidden>invisível</p>
</div></article></main></body></html>"""

RENDERED = """# Nós

Um nó usa rclpy.
Fim.

## Instalar

main.py

````python
def f():
    return "```"


f()
````

:::tip dica

Leia.

:::

| a | b\\|c |
| --- | --- |
| 1 | 2 |

npm

npm start

yarn

yarn start

3. três
   - sub
4. quatro

   mais

Mais

### Fundo

texto $x^2$"""


def test_docusaurus_page() -> None:
    document = read_html(DOCUSAURUS.encode(), "/site/nos.html")
    assert document.content == RENDERED
    assert (document.title, document.language, document.type) == ("Nós", "pt", DocumentType.HTML)
    assert document.metadata == {
        "url": "https://livro.example/nos",
        "breadcrumbs": "Módulo 1",
        "chapter": "Módulo 1",
        "locale": "pt-BR",
    }
    sections = [(part.headings, part.anchor) for part in document.parts]
    assert sections == [(("Nós",), None), (("Nós", "Instalar"), "instalar"), (("Nós", "Instalar", "Fundo"), "fundo")]
    assert [document.content[part.start :].split("\n")[0] for part in document.parts] == [
        "# Nós",
        "## Instalar",
        "### Fundo",
    ]


PARAGRAPHS = [
    f"<p>The {thing} was rebuilt in {year} after the great storm, and people still come to see it every summer.</p>"
    for thing, year in (
        ("harbour", 1998),
        ("old pier", 2001),
        ("town hall", 1887),
        ("lighthouse", 1950),
        ("beacon", 2020),
    )
]
ARTICLE = f"""<html lang="en"><head><title>The harbour - Daily News</title>
<meta property="og:site_name" content="Daily News">
<meta name="author" content="Ana Pérez">
<meta property="article:published_time" content="2021-03-04T10:00:00Z"></head><body>
<nav><ul><li><a href="/">Home</a></li><li><a href="/sport">Sport</a></li></ul></nav>
<article><h1>Old harbour</h1>{"".join(PARAGRAPHS[:3])}<h2 id="light">The light</h2>{"".join(PARAGRAPHS[3:])}
<table><tr><th>Year</th><th>Ships</th></tr><tr><td>1998</td><td>12</td></tr></table></article>
<footer>Copyright, cookies, imprint</footer><script>var hidden = "secret";</script></body></html>"""


def test_article_by_trafilatura() -> None:
    document = read_html(ARTICLE, "harbour.html", url="https://news.example/harbour")
    assert document.content.count("great storm") == 5
    assert "| 1998 | 12 |" in document.content
    assert not any(word in document.content for word in ("Sport", "cookies", "secret", "<p>"))
    assert document.title == "The harbour"
    assert document.metadata == {"url": "https://news.example/harbour", "author": "Ana Pérez", "date": "2021-03-04"}
    assert ("light", "The light") in [(part.anchor, part.headings[-1]) for part in document.parts if part.headings]


def test_a_small_page_that_is_no_article_is_kept_whole() -> None:
    document = read_html(
        "<body><h1 id=a>Hours</h1><ul><li>Mon 9-12</li><li>Tue 9-17</li></ul><div>Call 555</div>", "h.html"
    )
    assert document.content == "# Hours\n\n- Mon 9-12\n- Tue 9-17\n\nCall 555"
    assert (document.title, document.parts[0].anchor) == ("Hours", "a")


@pytest.mark.parametrize(
    ("markup", "encoding"),
    [
        ('<meta charset="iso-8859-1"><p>año “uno”</p>', "cp1252"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>привет</p>', "cp1251"),
        ("<meta charset=shift_jis><p>こんにちは</p>", "shift_jis"),
        ('<meta charset="iso-8859-1"><p>año</p>', "utf-8"),
        ("<meta charset=utf-16><p>año</p>", "utf-8"),
        ("<meta charset=no-such><p>año</p>", "cp1252"),
        ("<meta charset=base64><p>año</p>", "cp1252"),
        ("<p>año</p>", "utf-16"),
        ('<?xml version="1.0" encoding="ISO-8859-1"?><p>año</p>', "latin-1"),
    ],
)
def test_encodings(markup: str, encoding: str) -> None:
    expected = markup[markup.index("<p>") + 3 : -4]
    assert read_html(markup.encode(encoding), "a.html").content == expected


def test_languages_of_two_letters_only() -> None:
    languages = [read_html(f"<html lang='{tag}'><p>x</p>", "a").language for tag in ("en-US", "es", "pt_BR", "gsw", "")]
    assert languages == ["en", "es", "pt", "", ""]


@pytest.mark.parametrize(
    "markup", ["", " ", "<html><body><script>app()</script></body>", "<!-- nothing -->", "<p hidden>x"]
)
def test_a_page_without_text_is_empty(markup: str) -> None:
    with pytest.raises(EmptySource, match=r"app\.html shows no text.*save the page from the browser"):
        read_html(markup, "app.html")


def test_a_term_and_what_it_means_are_one_line() -> None:
    page = read_html(
        "<h1>Flat</h1><dl><dt>Rent</dt><dd>1,200 euros</dd><dd>1,300 from May</dd><dt>Deposit:</dt>"
        "<dd><p>Two months</p><p>Paid back later</p></dd><dt>Keys</dt><dt>Fobs</dt><dd>Two</dd></dl>",
        "flat.html",
    )
    assert page.content.split("\n\n")[1:] == [
        "Rent: 1,200 euros; 1,300 from May",
        "Deposit: Two months",
        ": Paid back later",
        "Keys",
        "Fobs: Two",
    ]


def test_entities_are_not_fetched_and_nesting_does_not_end_it() -> None:
    evil = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><p>safe &e; text</p>'
    assert "root:" not in read_html(evil, "a.html").content
    assert "bottom" in read_html("<div>" * 5_000 + "bottom" + "<p>" + "<b>" * 500 + "end", "a.html").content
    with pytest.raises(DamagedSource, match=r"a\.html nests its elements over 10,000 deep.*print the page to a PDF"):
        read_html("<div>" * 50_000 + "bottom" + "</div>" * 50_000, "a.html")
    assert "item 20000" in read_html("<ul>" + "".join(f"<li>item {n}" for n in range(20_001)), "a.html").content


def test_highlighted_code_in_a_table_of_line_numbers() -> None:
    page = """<main><h1>x</h1><div class="highlight-python"><table class="highlighttable"><tr><td class="linenos"><pre>1
2</pre></td><td class="code"><div><pre><span>import</span> os
os.getcwd()</pre></div></td></tr></table></div></main>"""
    assert "```python\nimport os\nos.getcwd()\n```" in read_html(page, "a.html").content


MARKUP = """
<p> </p> <h1> <h2 id=a> </h2> <table> <tr> <td> </table> <ul> <li> </ul> <pre> </pre> <a href=#x> <br> <!-- -->
<svg> <math> <div role=tablist> <div role=tabpanel hidden> <template> <html lang=en> <title> &#xD800; &#xFDD0;
&amp; &nbsp; <blockquote> <dl> <dd> <article> <main> <select> <frameset> <plaintext> ]]> <? <meta/charset=utf-7>
<s> <del> <sup> <sub> 2 <li/id=a> <a/id=b/href=#a> <th/colspan=2> <td/rowspan=2> <tr> <label> <label/for=c> <option>
<input/type=checkbox/checked> <input/value=x/id=c> <select/id=c> <textarea> <p/style=display:none> </label> </table>
<style>s,.a{text-decoration:line-through}</style> <b/class=a> </s> </sup> </p> <thead> <dt>
``` | # words \ufdd0 \0
"""
pieces = st.sampled_from(MARKUP.split())


@examples(150)
@given(st.lists(pieces | st.text(max_size=5)).map(" ".join) | st.binary())
def test_random_markup_never_raises_anything_else(markup: str | bytes) -> None:
    try:
        document = read_html(markup, "a.html")
    except SourceError:
        return
    document.content.encode()
    document.title.encode()
    end = 0
    for part in document.parts:
        assert end <= part.start < part.end <= len(document.content)
        assert not document.content[end : part.start].strip()
        end = part.end
    assert not document.content[end:].strip()


def test_a_menu_without_an_element_of_its_own_is_left_out() -> None:
    document = read_html(f"<body><div>{LINKS}</div><div><h1>Divers</h1>{TRAINING}</div></body>", "divers.html")
    assert document.content.count("every second Monday") == 12
    assert "Division" not in document.content


MENU = '<a href="/">Home</a> {0} <a href="/p">Products</a> {0} <a href="/c">Contact</a>'
MENUS = [
    f"<nav>{MENU.format('')}</nav>",
    f"<header><nav>{MENU.format('')}</nav></header>",
    f"<header>{MENU.format('')}</header>",
    f"<div class=menu>{MENU.format('|')}</div>",
    f"<ul><li>{MENU.format('</li><li>')}</li></ul>",
    f"<aside>{MENU.format('')}</aside>",
    "",
]
PAGES = [
    "{menu}<h1>Hours</h1>{text}",
    "{menu}<main><h1>Hours</h1>{text}</main>",
    "{menu}<h1>Hours</h1><main>{text}</main>",
    "{menu}<header><h1>Hours</h1></header><article>{text}</article>",
    "<header>{menu}<h1>Hours</h1></header><div>{text}</div>",
]
TEXTS = [
    "<p>Opens at nine.</p>",
    "<p>The shop on the market square opens at nine and closes at five.</p>" * 2,
    "<ul><li>Monday: 9 to 5</li><li>Tuesday: 9 to 5</li></ul>",
    "<p>Opens at nine.</p><p>See also <a href='/map'>the map</a>.</p>",
    f"<p>{'The shop on the market square opens at nine in the morning. ' * 5}</p>" * 5,
]


@pytest.mark.parametrize("menu", MENUS)
def test_a_short_page_keeps_its_heading_and_not_its_menu(menu: str) -> None:
    for page in PAGES:
        for text in TEXTS:
            markup = page.format(menu=menu, text=text)
            document = read_html(f"<title>Shop</title><body>{markup}<footer>© ACME</footer></body>", "hours.html")
            assert document.content.startswith("# Hours\n\n"), markup
            assert not any(word in document.content for word in ("Home", "Products", "ACME")), markup
            assert "9 to 5" in document.content or "at nine" in document.content


def test_a_short_page_of_links_keeps_them() -> None:
    links = '<ul><li><a href="/a">Saws</a></li><li><a href="/b">Drills</a></li></ul>'
    assert read_html(f"<body><h1>Links</h1>{links}</body>", "l.html").content == "# Links\n\n- Saws\n- Drills"
    assert read_html(f"<body>{links}</body>", "l.html").content == "- Saws\n- Drills"


def test_a_small_page_with_links_and_code_keeps_its_code() -> None:
    code = "<pre>" + "\n".join(f"pump --start {number}" for number in range(30)) + "</pre>"
    links = "<p>See <a href='/a'>the list of all pumps that there are</a>.</p>"
    assert read_html(f"<body><h1>Pumps</h1>{links}{code}</body>", "pumps.html").content.count("pump --start") == 30


BROWSERS = "<!-- saved from url=(0029)https://garden.example/pond?a=1 -->"
SINGLE_FILE = (
    "<!--\n Page saved with SingleFile \n url: https://garden.example/pond?a=1 \n saved date: Mon Mar 04 2024\n-->"
)


@pytest.mark.parametrize(
    ("before", "head", "address"),
    [
        (BROWSERS, "", "https://garden.example/pond?a=1"),
        (SINGLE_FILE, "", "https://garden.example/pond?a=1"),
        (BROWSERS, '<link rel=canonical href="https://garden.example/pond">', "https://garden.example/pond"),
        (BROWSERS, '<meta property="og:url" content="https://garden.example/og">', "https://garden.example/og"),
        (BROWSERS, '<link rel=canonical href="/pond">', "https://garden.example/pond?a=1"),
        ("<!-- saved from url=(0014)about:internet -->", "", None),
        ("", "<title>saved from url=(9)https://x.org</title>", None),
    ],
)
def test_the_address_that_a_page_was_saved_from(before: str, head: str, address: str | None) -> None:
    page = (
        f"<!DOCTYPE html>\n{before}\n<html><head>{head}</head><body><p>The pond is two metres deep.</p></body></html>"
    )
    assert read_html(page.encode(), "/a/pond.html").metadata.get("url") == address
