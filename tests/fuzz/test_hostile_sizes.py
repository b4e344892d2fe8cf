"""Files too long, too deep, or bombs: each reader gives a sound document or an error, in bounded time and memory.

What takes a second or more is run in `make test-long`.
"""

from __future__ import annotations

import gzip
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from bounded import bounded
from fuzz_packages import WORD
from made_files import edited, epub, with_body, zipped
from reading_here import read_file
from soundness import assert_sound
from sources.conftest import build_pdf

from answerable.errors import AnswerableError, FilterError, ReaderFailed
from answerable.filters import parse_filter
from answerable.sources.context import ReadContext, ReadLimits
from answerable.sources.site.robots import parse_sitemap

DEEP = 100_000
LONG = 10_000_000
LIMITS = ReadLimits(max_file_size=50_000_000, max_seconds=20, max_memory=1_000_000_000)
XML_BOMB = (
    "<!DOCTYPE d [<!ENTITY a0 'lol'>"
    + "".join(f"<!ENTITY a{number + 1} '{f'&a{number};' * 10}'>" for number in range(10))
    + "]>"
)

TEXTS: dict[str, tuple[str, str]] = {
    "combining characters": ("a.txt", "e" + "\u0301" * 200_000),
    "quotations in Markdown": ("a.md", "> " * DEEP + "x"),
    "lists in Markdown": ("a.md", "- " * DEEP + "x"),
    "indented lists in Markdown": ("a.md", "\n".join(" " * (2 * depth) + "- x" for depth in range(1_000))),
    "back-quotes in Markdown": ("a.md", "".join("`" * (count % 300) + "x" for count in range(3_000))),
    "cells in Markdown": ("a.md", "|" * DEEP + "\n" + "|-" * DEEP + "|\n"),
    "colons in a chat": ("_chat.txt", "12/31/21, 10:00 PM - " + "a: " * DEEP + "\n" + "12/31/21, " * DEEP),
    "elements of a page": ("a.html", "<div>" * DEEP + "x"),
    "half as many elements of a page": ("a.html", "<div>" * 9_000 + "x" + "</div>" * 9_000),
    "elements that nobody closes": ("a.html", "<b>" * DEEP + "x"),
    "tables in tables": ("a.html", "<table><tr><td>" * 3_000 + "x"),
    "lists in lists": ("a.html", "<ul><li>" * 3_000 + "x"),
    "attributes of an element": ("a.html", "<p " + "a=b " * DEEP + ">text</p>"),
    "references to characters": ("a.html", "<p>" + "&amp" * 500_000),
    "lists of JSON": ("a.json", "[" * DEEP),
    "objects of JSON": ("a.json", '{"a":' * DEEP),
    "sound lists of JSON": ("a.json", "[" * DEEP + "1" + "]" * DEEP),
    "digits of JSON": ("a.json", f'[{{"a": {"9" * 1_000_000}}}]'),
    "one line of a table": ("a.csv", "a,b\n" + "x," * 500_000 + "\n"),
    "quotes of a table": ("a.csv", "a,b\n" + '"' * 1_000_001 + "\n1,2\n"),
    "line ends of every kind": ("a.md", "a\r\n\rb\u2028c\x85d\x0b\x0c\n" * 50_000),
    "functions in functions": ("a.py", "".join(" " * depth + "def f():\n" for depth in range(2_000))),
    "brackets of a program": ("a.py", "(" * DEEP),
}
LARGE_TEXTS: dict[str, tuple[str, str]] = {
    "one line of a text": ("a.txt", "word " * (LONG // 5)),
    "one word of a text": ("a.txt", "x" * LONG),
    "one line of Markdown": ("a.md", "word " * (LONG // 5)),
    "brackets in Markdown": ("a.md", "[" * DEEP),
    "links in Markdown": ("a.md", "[a](" * DEEP),
    "stars in Markdown": ("a.md", "*a _" * DEEP),
    "headings in Markdown": ("a.md", "# a\n" * DEEP),
    "front matter": ("a.md", "---\n" + "a: [\n" * DEEP),
    "one line of a chat": ("_chat.txt", "12/31/21, 10:00 PM - Ana: " + "x " * (LONG // 2)),
    "messages of a chat": ("_chat.txt", "12/31/21, 10:00 PM - Ana: x\n" * 200_000),
    "paragraphs that nobody closes": ("a.html", "<p>a" * DEEP),
    "one line of a page": ("a.html", "<p>" + "word " * (LONG // 5)),
    "one cell of a table": ("a.csv", 'a,b\n1,"' + "x" * LONG + '"\n2,3\n'),
}


@pytest.mark.parametrize("what", [*TEXTS, *(pytest.param(what, marks=pytest.mark.long) for what in LARGE_TEXTS)])
def test_texts(what: str) -> None:
    name, content = (TEXTS | LARGE_TEXTS)[what]
    bounded(partial(_read, content.encode(), name))


def _read(data: bytes, name: str) -> None:
    try:
        for document in read_file(data, ReadContext(LIMITS), f"/in/{name}"):
            assert_sound(document)
    except AnswerableError as error:
        assert not isinstance(error, ReaderFailed), error
        assert "/in/" in str(error)
        assert len(str(error)) < 1_000


def _overlapping() -> bytes:
    """An archive whose members all share one packed text, as in Fifield's "A better zip bomb" (2019)."""
    data = zipped({"a.txt": b"0" * 1_000_000})
    end = data.rindex(b"PK\5\6")
    start = struct.unpack("<I", data[end + 16 : end + 20])[0]
    entry = data[start:end]
    count = 2_000
    sizes = struct.pack("<HHII", count, count, count * len(entry), start)
    return data[:start] + entry * count + data[end : end + 8] + sizes + data[end + 20 :]


def _many_members() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(5_000):
            archive.writestr(f"{number}.md", "")
    return buffer.getvalue()


def _book(body: str, package: str = "") -> bytes:
    """A book with this chapter; braces in it would be taken for places to fill in."""
    return epub({"one.xhtml": body}, metadata=package)


def _changed(**parts: str) -> bytes:
    """A Word document whose parts begin with these instead of with their own declaration."""
    return edited(WORD, **{name: _headed(start) for name, start in parts.items()})


def _headed(start: str) -> Callable[[str], str]:
    return lambda text: start + text[text.index("?>") + 2 :]


PACKAGES: dict[str, tuple[str, Callable[[], bytes]]] = {
    "a text that is all zeros": ("a.zip", lambda: zipped({"a.txt": b"0" * 60_000_000})),
    "members that overlap": ("a.zip", _overlapping),
    "an archive in an archive": ("a.zip", lambda: zipped({"b.zip": zipped({"a.md": "0" * 2_000_000})})),
    "many members": ("a.zip", _many_members),
    "an archive by LZMA": ("a.zip", lambda: zipped({"a.txt": b"0" * 20_000_000}, zipfile.ZIP_LZMA)),
    "a bomb of entities in Word": ("a.docx", lambda: _changed(document=XML_BOMB)),
    "elements of Word": ("a.docx", lambda: with_body(WORD, "<w:ins>" * DEEP)),
    "sound elements of Word": ("a.docx", lambda: with_body(WORD, "<w:ins>" * 250 + "<w:p/>" + "</w:ins>" * 250)),
    "tables in tables of Word": (
        "a.docx",
        lambda: with_body(WORD, "<w:tbl><w:tr><w:tc>" * 80 + "</w:tc></w:tr></w:tbl>" * 80),
    ),
    "zeros in Word": ("a.docx", lambda: with_body(WORD, " " * 51_000_000)),
    "a bomb of entities in a book": ("a.epub", lambda: _book("<p>x</p>", f"{XML_BOMB}&a9;")),
    "elements of a book": ("a.epub", lambda: _book("<div>" * DEEP)),
    "elements of a book's package": ("a.epub", lambda: _book("<p>x</p>", "<a>" * DEEP)),
    "tags of a book that are closed at once": ("a.epub", lambda: _book("<a/>" * DEEP + "<" * DEEP)),
    "zeros in a book": ("a.epub", lambda: _book(" " * 51_000_000)),
    "zeros in a PDF": ("a.pdf", lambda: _packed_pdf(b" " * 51_000_000)),
    "brackets in a PDF": ("a.pdf", lambda: build_pdf([], raw=[b"[" * DEEP, b"<<" * DEEP, b"q " * DEEP])),
    "a PDF's pages in each other": ("a.pdf", lambda: build_pdf(["x"]).replace(b"/Kids[4 0 R]", b"/Kids[2 0 R]")),
}


SLOW = {
    "many members",
    "an archive by LZMA",
    "a million addresses",
    *(f"zeros in {a}" for a in ("a book", "Word", "a PDF")),
}


def _packed_pdf(drawing: bytes) -> bytes:
    once = zlib.compress(drawing, 9)
    return build_pdf([], raw=[zlib.compress(once, 9)], filters="/Filter[/FlateDecode/FlateDecode]")


def _slow_as_long(names: Iterable[str]) -> list[Any]:
    return [pytest.param(name, marks=pytest.mark.long) if name in SLOW else name for name in names]


@pytest.mark.parametrize("what", _slow_as_long(PACKAGES))
def test_packages(what: str) -> None:
    name, made = PACKAGES[what]
    bounded(partial(_read, made(), name))


SITEMAPS: dict[str, Callable[[], bytes]] = {
    "a million addresses": lambda: _urlset("<url><loc>https://example.org/</loc></url>" * 1_000_000),
    "a long address": lambda: _urlset(f"<url><loc>https://example.org/{'a' * LONG}</loc></url>"),
    "nested elements": lambda: _urlset("<url>" * DEEP),
    "a bomb of entities": lambda: (XML_BOMB + "<urlset><url><loc>&a9;</loc></url></urlset>").encode(),
    "attributes": lambda: _urlset("<url " + "".join(f"a{number}='b' " for number in range(DEEP)) + "/>"),
    "a bomb of gzip": lambda: gzip.compress(b"0" * 60_000_000, 1),
    "many members of gzip": lambda: gzip.compress(b"") * DEEP,
    "comments": lambda: _urlset("<!--a-->" * 500_000),
}


def _urlset(inside: str) -> bytes:
    return f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>{inside}</urlset>".encode()


@pytest.mark.parametrize("what", _slow_as_long(SITEMAPS))
def test_sitemaps(what: str) -> None:
    bounded(partial(_read_sitemap, SITEMAPS[what]()))


def _read_sitemap(data: bytes) -> None:
    try:
        found = parse_sitemap(data, "https://example.org/sitemap.xml")
        assert found.pages == found.sitemaps == ()
    except AnswerableError as error:
        assert "https://example.org/sitemap.xml" in str(error)
        assert len(str(error)) < 1_000


def test_filters_that_are_deep_or_long() -> None:
    deep: Any = {"type": "pdf"}
    for _ in range(DEEP):
        deep = {"not": deep}
    filters: tuple[Any, ...] = (
        deep,
        {"page": {"gte": deep}},
        {"page": {"a" * LONG: 1}},
        {"a" * LONG: {}},
        {"date": {"gte": "x" * LONG}},
    )
    for where in filters:
        with pytest.raises(FilterError) as raised:
            parse_filter(where)
        assert len(str(raised.value)) < 1_000
    assert parse_filter({"page": list(range(DEEP))})
