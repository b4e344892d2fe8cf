"""Links of citations, opened in a browser: the page of a saved file is shown where the quote is."""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import PATIENCE, chromium

import answerable
from answerable.answering.citations import cite
from answerable.splitting.recursive import RecursiveSplitter

FILLER = "<p>Nothing to see here.</p>" * 100
PAGE = f"""<!doctype html><html lang=en><meta charset=utf-8><title>Allotments</title>
<link rel=canonical href="https://garden.example/allotments"><main><h1>Allotments</h1>{FILLER}
<h2 id=water>Water</h2><p id=prose>The <b>well-known</b> pump, by the gate, opens at <a href=/nine>nine</a> sharp.</p>
{FILLER}<ul><li id=item>Spades and 3 forks<li>Two barrows with new wheels</ul>{FILLER}
<table><tr><th>Plot<th>Rent<tr id=row><td>Hazel corner<td>44 | 50 euros</table>{FILLER}
<pre id=code>def rent(plot):
    return 44 * plot
</pre>{FILLER}<blockquote><p id=quotation>Dig deep and water slowly.</p></blockquote>{FILLER}
<p id=break>Allotment Office<br>Mill Lane 7</p>{FILLER}</main></html>"""
QUOTES = {
    "prose": "The well-known pump, by the gate, opens at nine sharp.",
    "item": "- Spades and 3 forks",
    "row": "| Hazel corner | 44 \\| 50 euros |",
    "code": "def rent(plot):\n    return 44 * plot",
    "quotation": "> Dig deep and water slowly.",
    "break": "Allotment Office\nMill Lane 7",
}
IN_SIGHT = """(id) => {
  const { top, bottom } = document.getElementById(id).getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "My garden.html"
    path.write_text(PAGE, encoding="utf-8")
    return path


@pytest.mark.long
def test_links_of_a_saved_page_open_the_file_at_the_quote(saved: Path) -> None:
    (document,) = answerable.read(saved)
    (chunk,) = RecursiveSplitter(1_000_000, 0).split(document)
    result = answerable.RetrievalResult(chunk, 1.0, document)
    with chromium().new_context() as context:
        for place, quote in QUOTES.items():
            start = document.content.index(quote)
            citation = cite(result, start, start + len(quote))
            assert citation is not None
            assert citation.link.startswith(saved.as_uri() + "#")
            page = context.new_page()
            page.goto(citation.link)
            page.wait_for_function(IN_SIGHT, arg=place, timeout=PATIENCE)
            page.close()
