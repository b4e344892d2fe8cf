"""A built book beside the Markdown it was built from: headings, code, tables, words and their order, nothing else."""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from reading_here import parsed

from answerable.datatypes import Document
from answerable.sources.html.metadata import document_element, kind_of_page
from answerable.sources.html.page_parts import PageKind
from answerable.sources.html.read import read_html
from answerable.tables.grid import front_matter

from .harness import data_folder

_NUMBER = re.compile(r"\d+[-_.]\s*")
_TAGS_AND_COMMENTS = re.compile(r"<!--.*?-->|</?\w[^>]*>", re.DOTALL)
_AROUND = {"Skip to main content", "On this page", "Previous", "Next", "Edit this page", "Copy", "Tags:"}


@dataclass(frozen=True)
class Content:
    """What a text in Markdown holds, each in order."""

    headings: list[tuple[str, str]]
    code: list[tuple[str, str]]
    rows: list[tuple[str, ...]]
    words: Counter[str]


@pytest.fixture(scope="module")
def pages() -> dict[str, bytes]:
    """The built pages by their path in the site."""
    with tarfile.open(data_folder() / "docusaurus" / "robotics_anusbutt" / "built_html.tar.xz") as archive:
        members = [member for member in archive if member.name.endswith(".html")]
        return {member.name.removeprefix("./"): archive.extractfile(member).read() for member in members}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def pairs(pages: dict[str, bytes]) -> list[tuple[Document, str]]:
    """Each document of the book with its source."""
    root = data_folder() / "docusaurus" / "robotics_anusbutt"
    sources = sorted((root / "docs").rglob("*.md"))
    return [
        (read_html(pages[built], built), source.read_text("utf-8"))
        for source in sources
        if (built := built_path(source.relative_to(root)))
    ]


@pytest.mark.quality
def test_only_the_documents_of_a_site_are_taken(pages: dict[str, bytes], pairs: list[tuple[Document, str]]) -> None:
    kinds = {path: kind_of_page(parsed(page)) for path, page in pages.items()}
    assert Counter(kinds.values()) == {PageKind.DOCUMENT: 52, PageKind.TAGS: 86, PageKind.OTHER: 1}
    taken = {path for path, page in pages.items() if document_element(parsed(page))}
    assert taken == {document.source for document, _ in pairs}


@pytest.mark.quality
def test_a_book_has_all_that_its_source_has(pairs: list[tuple[Document, str]]) -> None:
    headings = blocks = rows = found_rows = 0
    words: Counter[str] = Counter()
    found_words: Counter[str] = Counter()
    for document, markdown in pairs:
        extracted, source = content_of(document.content), content_of(markdown, document.title)
        assert extracted.headings == source.headings, document.source
        assert extracted.code == source.code, document.source
        headings += len(source.headings)
        blocks += len(source.code)
        rows += len(source.rows)
        found_rows += (Counter(extracted.rows) & Counter(source.rows)).total()
        words += source.words
        found_words += extracted.words
    print(f"\nrows {found_rows}/{rows}, words {share(words, found_words):.4f}, own {share(found_words, words):.4f}")
    # All exact, the headings and the code in order too.
    assert (headings, blocks) == (722, 41)
    assert found_rows == rows == 91
    # Measured .9996 and .9999: the rest is `__init__` and `<link>`, read as markup where they stand without backticks.
    # Words that aren't in the source would be the site's own.
    assert share(words, found_words) >= 0.999
    assert share(found_words, words) >= 0.999


@pytest.mark.quality
def test_a_book_s_pages_know_their_place(pages: dict[str, bytes], pairs: list[tuple[Document, str]]) -> None:
    chapters = Counter(document.metadata["chapter"] for document, _ in pairs)
    assert len(chapters) == 5
    for document, _ in pairs:
        assert not _AROUND.intersection(document.content.split("\n")), document.source
        assert (document.metadata["version"], document.metadata["locale"]) == ("current", "en")
        assert all(part.anchor for part in document.parts if len(part.headings) > 1), document.source
        assert all(f' id="{part.anchor}"'.encode() in pages[document.source] for part in document.parts if part.anchor)
        starts = [part.start for part in document.parts]
        assert [part.end for part in document.parts] == [*starts[1:], len(document.content)]
        assert all(document.content.startswith("#", start) for start in starts), document.source


def built_path(source: Path) -> str:
    """Where Docusaurus puts the page of a source file: without numbers, a README as its folder's page."""
    names = [_NUMBER.sub("", part, count=1) for part in source.with_suffix("").parts]
    return "/".join(names[:-1] if names[-1] == "README" else names) + ".html"


def content_of(markdown: str, title: str = "") -> Content:
    """What a Markdown text holds.

    Docusaurus puts the title above a text that has no heading of the first level, and takes code of no named language
    for `text`.
    """
    markdown = markdown[front_matter(markdown)[1] :]
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    headings = [
        (opening.tag, one_line(inline)) for opening, inline in pairwise(tokens) if opening.type == "heading_open"
    ]
    code = [(token.info.strip() or "text", token.content) for token in tokens if token.type == "fence"]
    words = words_of(" ".join(plain(tokens)))
    if title and "h1" not in dict(headings):
        headings.insert(0, ("h1", title))
        words.update(words_of(title))
    return Content(headings, code, list(rows_of(tokens)), words)


def rows_of(tokens: list[Token]) -> Iterator[tuple[str, ...]]:
    row: list[str] = []
    for opening, inline in pairwise(tokens):
        if opening.type in ("td_open", "th_open"):
            row.append(one_line(inline))
        elif inline.type == "tr_close":
            yield tuple(row)
            row = []


def plain(tokens: list[Token]) -> Iterator[str]:
    for token in tokens:
        if token.type == "inline":
            yield one_line(token)
        elif token.type in ("fence", "code_block"):
            yield token.content
        elif token.type == "html_block":
            yield _TAGS_AND_COMMENTS.sub(" ", token.content)


def one_line(inline: Token) -> str:
    """The words of a heading, a cell or a paragraph without their emphasis, links and markup."""
    pieces = (" " if "break" in child.type else child.content for child in inline.children or ())
    kept = (piece for piece, child in zip(pieces, inline.children or (), strict=True) if child.type != "html_inline")
    return " ".join("".join(kept).split())


def words_of(text: str) -> Counter[str]:
    """How often each word stands in a text."""
    return Counter(re.findall(r"\w+", text.lower()))


def share(wanted: Counter[str], found: Counter[str]) -> float:
    """The share of the wanted words that was found, each as often as it is wanted."""
    return (wanted & found).total() / wanted.total()
