"""A page into windows of tokens."""

from __future__ import annotations

import inspect
import random
from dataclasses import fields
from itertools import pairwise

import pytest
from book_parts import make_page, make_section, words
from site_server import SiteServer
from toktok import _encoding, truncate

from book.models import Heading
from main import ContentChunk, ContentPage, chunk_content, scrape_page

TEXTS = {
    "prose": "The arm moves to the cup, and the hand closes slowly around it. " * 400,
    "code": "def f(x):\n    return {'a': x[0], 'b': 3.14}\n\n" * 200,
    "emoji": "🤖🧠é👩‍🔬 ñandú " * 300,
    "chinese": "機器人的手臂會移動到杯子旁邊。" * 200,
    "one word": "x" * 30_000,
}


def page(content: str, *headings: str) -> ContentPage:
    return ContentPage("https://a.example/x", "X", content, list(headings), "")


def character_of(content: str, byte: int) -> int:
    """How many characters are whole before a byte of the text in UTF-8."""
    return len(content.encode()[:byte].decode("utf-8", "ignore"))


def test_the_signature_is_the_specified_one() -> None:
    parameters = inspect.signature(chunk_content).parameters
    assert [(name, each.default) for name, each in parameters.items()][1:] == [
        ("target_tokens", 750),
        ("overlap_tokens", 100),
    ]
    names = ["url", "title", "chunk_index", "text", "token_count", "section", "anchor"]
    assert [field.name for field in fields(ContentChunk)] == names


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize(("size", "overlap"), [(750, 100), (500, 0), (1000, 499)])
def test_chunks_are_windows_over_one_tokenisation_of_the_page(name: str, size: int, overlap: int) -> None:
    content = TEXTS[name]
    spans = _encoding("cl100k_base").encode_with_offsets(content, unit="byte")[1]
    chunks = chunk_content(page(content), size, overlap)
    assert len(chunks) > 2
    assert [chunk.chunk_index for chunk in chunks] == list(range(len(chunks)))
    last = 0
    for number, chunk in enumerate(chunks):
        first = number * (size - overlap)
        last = min(first + size, len(spans))
        start = character_of(content, spans[first][0])
        end = character_of(content, spans[last][0] if last < len(spans) else spans[-1][1])
        assert (chunk.token_count, chunk.text) == (last - first, content[start:end])
    assert last == len(spans)


def test_each_has_500_to_1000_tokens_but_the_last_and_neighbours_share_the_overlap() -> None:
    # Here a token is a word with the blank before it.
    content = " ".join(random.Random(7).choices("the arm moves to a cup and its hand slowly".split(), k=5000))
    chunks = chunk_content(page(content))
    assert all(500 <= chunk.token_count <= 1000 for chunk in chunks[:-1])
    total = sum(chunk.token_count for chunk in chunks) - 100 * (len(chunks) - 1)
    assert total == truncate(content, 1)[1]
    for before, after in pairwise(chunks):
        shared = next(n for n in range(len(after.text), 0, -1) if before.text.endswith(after.text[:n]))
        assert truncate(after.text[:shared], 1)[1] == 100


def test_a_short_page_is_one_chunk_and_an_empty_one_none() -> None:
    (chunk,) = chunk_content(page("Some words."))
    assert (chunk.url, chunk.title, chunk.chunk_index, chunk.text) == ("https://a.example/x", "X", 0, "Some words.")
    assert chunk_content(page("")) == []


def test_text_that_looks_like_a_special_token_is_text() -> None:
    (chunk,) = chunk_content(page("<|endoftext|>"))
    assert (chunk.text, chunk.token_count) == ("<|endoftext|>", 7)


def test_a_chunk_has_the_section_and_anchor_that_it_begins_under(site: SiteServer) -> None:
    body = "".join(make_section(f"Part {number}", f"part-{number}", words(300, f"p{number}")) for number in range(5))
    site.put("/book/docs/new", make_page("Parts", body))
    found = scrape_page(f"{site.home}docs/new")
    chunks = chunk_content(found, 500, 0)
    assert len(chunks) > 5
    at = 0
    for chunk in chunks:
        begun = [heading for heading in found.headings if isinstance(heading, Heading) and heading.start <= at]
        assert (chunk.section, chunk.anchor) == (begun[-1], begun[-1].anchor)
        at += len(chunk.text)
    assert (chunks[0].section, chunks[0].anchor) == ("Parts", "")
    assert (chunks[-1].section, chunks[-1].anchor) == ("Part 4", "part-4")


def test_what_stands_before_the_first_heading_has_no_section_and_plain_headings_have_no_place() -> None:
    (before,) = chunk_content(page("Some words.\n\n## Later", Heading("Later", 13, "later")))
    (blank,) = chunk_content(page("\n\n## Later", Heading("Later", 2, "later")))
    (plain,) = chunk_content(page("## Later\n\nSome words.", "Later"))
    assert [(each.section, each.anchor) for each in (before, blank, plain)] == [("", ""), ("Later", "later"), ("", "")]


@pytest.mark.parametrize(("size", "overlap"), [(499, 0), (1001, 0), (750, 750), (750, -1), (0, 0)])
def test_numbers_out_of_bounds(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match="it must be"):
        chunk_content(page("Some words."), size, overlap)
