"""Fuzz text files: chats, Markdown, web pages, tables, lists of objects, struck and raised text."""

from __future__ import annotations

from functools import partial

# Loaded before anything is watched: the first import of numpy, which it brings, opens a library.
import trafilatura  # noqa: F401
from draw import Draw
from fuzz_targets import Target
from soundness import assert_same_again

from answerable.sources.html.links import page_facts
from answerable.sources.html.read import read_html
from answerable.sources.markdown import read_markdown
from answerable.sources.records import read_records
from answerable.sources.text import decode
from answerable.sources.whatsapp.read import is_chat, parse_chat, read_chat
from answerable.text.characters import encodable
from answerable.text.notation import LOWERED, PAGE, RAISED, STRUCK, with_notes, written
from answerable.text.sentences import sentence_spans

CHAT = (
    "12/31/21, 10:00 PM - Ana: hello\n",
    "[31/12/2021, 22:15:01] Ben: ¿qué tal?\n",
    "31.12.21, 22:15 - +34 600 00 00 00: ok\n",
    "2021-12-31 22:15 - Ana: https://example.org/x\n",
    "‎[31/12/21 22:15:01] ~ Ana: ‎imagen omitida\n",
    "31/12/2021 22:15 - Messages and calls are end-to-end encrypted.\n",
    "00/00/0000, 25:61 - Ana: x\n",
    "31/02/9999, 12:00 - Ana: x\n",
    "12/31/21, 10:00\u202fPM - ",
    "Ana: <Media omitted>\n",
    "IMG-1.jpg (file attached)\n",
    "Work: Ana: ",
    "[",
    "] ",
    ": ",
    " - ",
    "/",
    "\n",
)
MARKDOWN = (
    "# Title\n\n",
    "## Setup {#setup}\n",
    "Setext\n===\n",
    "---\ntitle: x\ntags: [a, 'b', \"c]\n---\n",
    "> ",
    "- ",
    "1. ",
    "    ",
    "```py\ncode\n```\n",
    "~~~",
    "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    "[text](http://example.org 'title')",
    "![",
    "](",
    "[a]: <b>\n",
    "*",
    "_",
    "**",
    "`",
    "<div>",
    "&amp;",
    "\\",
    "$$",
    "~~",
    "%%",
    "- [x] TODO #a/b [[c|d]] ^e\n\tid:: 1\n  collapsed:: true\n",
    "> [!note]- Title\n",
    "[^1]",
    "[^1]: ",
    "\t",
    "text\n\n",
)
HTML = (
    "<!doctype html><html lang=es><head><title>T</title></head><body>",
    "<meta charset=utf-16><meta name=description content='x'>",
    "<h1 id=a>Title</h1>",
    "<h2><a name=b></a>Two</h2>",
    "<p>Some words of text that are long enough to be an article's.</p>",
    "<main><article>",
    "</article></main>",
    "<nav><a href=x>menu</a></nav>",
    "<ul><li>one<ol start=99999999999><li>two",
    "</ul>",
    "<table><tr><th colspan=9999999>a<td rowspan=0>b",
    "</table>",
    "<pre><code class=language-py>x\n  y</code></pre>",
    "<blockquote>",
    "<dl><dt>t<dd>d",
    "<div>",
    "</div>",
    "<b>",
    "<svg><math><mi>x",
    "<template><script>x</script>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<a href='javascript:x' hidden aria-hidden=true>",
    "<textarea><select><option>",
    "&nbsp;&lt;",
    "<base href=//x>",
    "<style>.a{text-decoration:line-through} .b,.c>d{vertical-align:super}</style>",
    "<s class=a>gone<span class=b>2</span>",
    "<p style='display:none'>hidden",
    "<tr><td rowspan=3>c<td colspan=1000>d<td>e",
    "<thead><tr><th rowspan=2>f<th colspan=2>g<tr><th>h<th>i</thead>",
    "<label for=x>Name</label><input id=x value=1><input type=checkbox checked>",
    "<label><select multiple><option selected>j</select><textarea>k",
    "word<sup><a href=#n1 id=m1>1</a></sup>",
    "<li id=n1><a href=#m1>^</a> note",
    "text ",
)
DOCUSAURUS = (
    "<html class='docs-doc-page docs-version-1.0' lang=en><body><article><div class='theme-doc-markdown markdown'>",
    "<meta name=docusaurus_version content=1><meta name=generator content='Docusaurus v3'>",
    "<nav class=theme-doc-breadcrumbs><ul><li class=breadcrumbs__item><span>Guide</span></ul></nav>",
    "<h2 class=anchor id=x>Head<a class=hash-link href=#x>​</a></h2>",
    "<div role=tablist><li role=tab>A<li role=tab>B</div><div role=tabpanel hidden>in A</div><div role=tabpanel>",
    "<div class='theme-admonition admonition'><div class=admonitionHeading_x>note</div>",
    "<div class='language-py codeBlockContainer_x'><pre><code><span class=token-line>x<br></span></code></pre>",
    "<a class='pagination-nav__link pagination-nav__link--next' href=/b>",
    "<span class=katex-display><math><annotation encoding=application/x-tex>x^2",
    "<details><summary>s</summary>",
    "</div>",
    *HTML[2:],
)
RECORDS = (
    "name;price;date\n",
    "Pump;1.300,50;05/03/2024\n",
    'a,"b ""c""\nd",e\n',
    "sep=|\n",
    "a\tb\n",
    "Report of 5 March\n\nUnit: euros,,\n",
    ",Price,,Number,\nItem,old,new,old,new\n",
    "Total,1,2\n,,\nNote: estimated\n",
    '{"a": 1, "b": [null, true]}',
    "[",
    "]",
    "{",
    "}",
    '"\\ud800\\u0000"',
    "NaN",
    "1e400",
    "-",
    ", ",
    ": ",
    '"',
    ";",
    "\n",
)

NOTATION = (
    *(*STRUCK, *RAISED, *LOWERED, PAGE, "~~", "~~x~~", "[^1]", "[^1]: ", "\n\n1 ", "\n²"),
    *("word", "word¹", "10", "³⁻", "☒", "☐x", "\uf0fe", " of ", ". ", " ", "\t", "\n", "\n\n", "| a | b |\n", "e.g. "),
)


def _chat(draw: Draw) -> None:
    content = decode(draw.file(CHAT), "chat.txt")
    is_chat(content)
    for message in parse_chat(content):
        assert message.start <= message.body <= message.end <= len(content)
        assert content.count("\n", 0, message.start) + 1 == message.line
    assert_same_again(partial(read_chat, content, "/in/WhatsApp Chat with Ana.txt"))


def _markdown(draw: Draw) -> None:
    assert_same_again(partial(read_markdown, decode(draw.file(MARKDOWN), "a.md"), "/in/a.md"))


def _html(draw: Draw) -> None:
    url = draw.pick(("", "https://example.org/a/b.html"))
    grammar = draw.pick((HTML, DOCUSAURUS))
    page = draw.file(grammar)
    page_facts(page, "/in/a.html", url)
    assert_same_again(partial(read_html, page, "/in/a.html", url))


def _records(draw: Draw) -> None:
    name = draw.pick(("/in/a.csv", "/in/a.tsv", "/in/a.json", "/in/a.jsonl"))
    assert_same_again(partial(read_records, decode(draw.file(RECORDS), name), name))


def _notation(draw: Draw) -> None:
    text = encodable(draw.text(NOTATION))
    shown = written(text)
    assert frozenset(shown).isdisjoint(STRUCK + RAISED + LOWERED + PAGE)
    assert written(shown) == shown
    noted = with_notes(shown)
    assert with_notes(noted) == noted
    reached = 0
    for start, end in sentence_spans(noted):
        assert reached <= start < end <= len(noted)
        assert not noted[reached:start].strip()
        reached = end
    assert not noted[reached:].strip()


TARGETS = {
    "notation": Target(_notation),
    "chat": Target(_chat, tuple("".join(CHAT[first : first + 4]).encode() for first in (0, 1, 4))),
    "markdown": Target(_markdown, ("".join(MARKDOWN[:12]).encode(),)),
    "html": Target(_html, tuple("".join(pieces).encode() for pieces in (HTML[:11], HTML[10:20], DOCUSAURUS[:9]))),
    "records": Target(_records, ("".join(RECORDS[:2]).encode(), b'[{"a": 1}, {"a": 2}]', b'{"a": 1}\n{"a": 2}\n')),
}
