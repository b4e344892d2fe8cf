"""Answers to take away: what documents, models and people said is text in them, however they are rendered."""

from __future__ import annotations

import base64
import io
import re
import zipfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from browser import Visitor, documents, visiting
from markdown_it import MarkdownIt
from service_on_socket import small_service, upload

HOSTILE = {
    "an image": "![x](https://evil.example/track.png)",
    "an image by reference": "![x][1]\n\n[1]: https://evil.example/track.png",
    "a link": 'See [here](https://evil.example/ "a title") or [there][1].\n\n[1]: https://evil.example/',
    "a link around an image": "[![x](https://evil.example/a.png)](https://evil.example/)",
    "a footnote": "x[^1]\n\n[^1]: https://evil.example/",
    "addresses": "https://evil.example/a http://evil.example ftp://evil.example www.evil.example WWW.evil.example",
    "addresses in angle brackets": "<https://evil.example/> <mailto:a@evil.example>",
    "an e-mail address": "write to ana@evil.example or mailto:ana@evil.example",
    "HTML": '<img src=x onerror="window.hacked=1"><script>window.hacked=2</script><b>x</b>',
    "HTML over lines": "<div\nonclick=x>\n<!-- a\ncomment -->\n</div>",
    "entities": "&lt;b&gt; &#60;script&#62; &colon; https&colon;//evil.example",
    "a fence": "```\ncode\n```\n~~~\nmore\n~~~",
    "code": "`code` ``more``",
    "indented code": "    code\n\n\tmore code",
    "headings": "# one\n\ntwo\n===\n\nthree\n---",
    "lists": "- one\n- two\n\n* three\n\n+ four\n\n1. five\n2) six",
    "a table": "a | b\n--- | ---\nc | d\n\n| e |\n| - |\n| f |",
    "a table of one column": "a\n:-:\nb",
    "quotes": "> one\n>> two",
    "emphasis": "**one** __two__ ~~three~~ *four* _five_",
    "a rule": "***\n\n---\n\n___",
    "backslashes": "\\[x](https://evil.example) \\\\<b>",
    "a hard break and a carriage return": "one  \r# two\rthree\\\n<b>",
    "other line ends": "one\u2028# two\u2029- three\x0b> four",
    "formulas": "$\\href{https://evil.example}{x}$",
    "control characters": "\x1b]8;;https://evil.example\x07here\x1b]8;;\x07 \x1b[31mred \u202egnp.exe",
}
ADDRESS = "https://example.org/a_(b)?x=%3C1%3E%E2%80%AE%C2%9B#:~:text=it%20is"
LIZARDS = "Lizards eat [crickets](https://evil.example/) and ![x](https://evil.example/x.png) at noon."
HARMLESS = {"h1", "h2", "p", "em", "ol", "li", "blockquote", "br"}
WORDS = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """Somebody at the page of a library with one document."""
    with small_service(tmp_path_factory.mktemp("service")) as (server, client):
        upload(client, ("lizards.txt", LIZARDS.encode()))
        with visiting(server.address) as visitor:
            yield visitor


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_said_stays_text(reader: Visitor, kind: str) -> None:
    said = HOSTILE[kind]
    citation = {"title": said, "source": "x", "link": "", "headings": [f"Under {said}"], "quote": said}
    turn = {"question": said, "asked": 1.0, "answer": {"text": said, "citations": [citation]}}
    markdown, by_marked, printed, word = export(reader, turn)
    assert shown(Seen(printed).text).count(shown(said)) == 5
    assert Seen(printed).tags <= {*HARMLESS, "div", "span"}, printed
    assert shown(words(word)).count(shown(said)) == 5
    assert not {"\x1b", "\x07", "\u202e", "\r"} & set(markdown)
    for rendered in (by_marked, MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)):
        seen = Seen(rendered)
        assert seen.tags <= HARMLESS, rendered
        # In the question, the answer, the title, the heading and the quote.
        assert "".join(seen.text.split()).count(shown(said)) == 5, rendered


def test_a_source_on_the_web_is_linked(reader: Visitor) -> None:
    link = "https://example.org/a_(b)?x=<1>\u202e\x9b#:~:text=it%20is"
    citation = {"title": "A [page](https://evil.example)", "source": "x", "link": link, "quote": "It is."}
    turn = {"question": "Is it?", "asked": 1.0, "answer": {"text": "“It is.” [1]", "citations": [citation]}}
    markdown, by_marked, printed, word = export(reader, turn)
    assert ADDRESS in words(word)
    for rendered in (printed, by_marked, MarkdownIt("commonmark").render(markdown)):
        seen = Seen(rendered)
        assert seen.tags <= {*HARMLESS, "a", "div", "span"}
        assert seen.links == [ADDRESS]
        assert "A [page](https://evil.example)" in seen.text
        assert "“It is.” [1]" in seen.text


def test_the_page_gives_the_conversation_as_a_file_and_on_paper(reader: Visitor) -> None:
    page = reader.page
    reader.ask("What do lizards eat at noon?")
    button = page.get_by_role("button", name="Save", exact=True)
    button.press("Enter")
    assert reader.barriers() == []
    page.keyboard.press("Tab")
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    seen = Seen(MarkdownIt("commonmark").render(Path(download.value.path()).read_text("utf-8")))
    assert seen.tags <= HARMLESS
    assert LIZARDS in seen.text
    button.click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Word").click()
    assert download.value.suggested_filename == "What-do-lizards-eat-at-noon.docx"
    assert words(Path(download.value.path()).read_bytes()).endswith(f"[1] lizards, line 1\n{LIZARDS}")
    button.click()
    page.keyboard.press("Escape")
    page.locator(".save-menu").wait_for(state="detached")
    assert button.evaluate("(button) => button === document.activeElement")
    # The dialog of the browser would wait for somebody.
    page.evaluate("() => { window.print = () => { window.printed = document.title } }")
    page.get_by_role("button", name="Save this answer").click()
    page.get_by_role("button", name="Print").click()
    page.wait_for_function("() => window.printed?.endsWith('at noon?')")
    page.emulate_media(media="print")
    on_paper = [line for line in page.locator("body").inner_text().splitlines() if line]
    assert on_paper[0] == "What do lizards eat at noon?"
    assert on_paper[-2:] == ["[1] lizards, line 1", LIZARDS]
    page.emulate_media(media="screen")
    button.click()
    assert not page.locator(".printed").count()


def test_an_answer_becomes_a_note_that_can_be_asked(reader: Visitor) -> None:
    page = reader.page
    reader.begin()
    turn = reader.ask("What do lizards eat at noon?")
    for said in ("1 document added", "Already"):
        turn.get_by_role("button", name="Save as note").click()
        page.locator(".job[data-state=done]", has_text=said).wait_for()
    (note,) = [each for each in documents(reader.address).values() if each["source"] != "lizards.txt"]
    assert re.sub(r"\d", "0", note["source"]) == "note-0000-00-00-000000-What-do-lizards-eat-at-noon.md"
    # It doesn't answer instead of its source.
    turn = reader.ask("What do lizards eat at noon?")
    assert turn.locator(".source-name").all_inner_texts() == ["lizards"]
    # Its quotes are shown as quotes.
    page.evaluate("() => { location.hash = '#library' }")
    page.locator(".library tbody").get_by_role("button", name="What do lizards eat at noon?", exact=True).click()
    quote = page.locator(".panel .md.blockquote")
    assert quote.inner_text() == LIZARDS
    assert not page.locator(".panel .md.front").count()
    reader.begin()


def test_sources_are_numbered_through_and_named_by_their_files(reader: Visitor) -> None:
    quote = "Norway lost more than\nhalf of its people:\n- in towns\n- and farms"
    paper = {"title": "The Plague", "source": "/x/plague-1349.pdf", "link": "", "pages": [4, 4], "quote": quote}
    turns = [
        {"question": question, "asked": 1.0, "answer": {"text": "It is so. [1]", "citations": [paper]}}
        for question in ("Is it?", "Is it still?")
    ]
    markdown, _, printed, word = export(reader, *turns)
    for text in (Seen(printed).text, words(word), markdown):
        assert text.index("It is so. [1]") < text.index("It is so. [2]")
        assert text.count("The Plague, plague-1349.pdf") == 2
        assert "Norway lost more than half of its people:" in text


def words(word: bytes) -> str:
    """The text of a Word file."""
    body = ElementTree.fromstring(zipfile.ZipFile(io.BytesIO(word)).read("word/document.xml"))
    return "\n".join("".join(found.text or "" for found in each.iter(f"{WORDS}t")) for each in body.iter(f"{WORDS}p"))


def export(reader: Visitor, *turns: dict[str, Any]) -> tuple[str, str, str, bytes]:
    """Turns as Markdown, that rendered by marked, as the page prints it, and as Word."""
    found = reader.page.evaluate(
        """async (turns) => {
          const { later } = await import(new URL("page/main.js", location));
          const names = ["exporting.js", "printed.js", "word.js"].map((name) => `conversation/${name}`);
          const [{ markdownOf }, { documentOf }, { wordOf }, { parse }] = await Promise.all(
            [...names, "vendor/marked.mjs"].map(later));
          const texts = { t: (name) => name, moment: () => "now", language: "en" };
          const markdown = markdownOf(turns, texts);
          const printed = documentOf(turns, texts);
          const word = new Uint8Array(await wordOf(printed).arrayBuffer());
          return [markdown, parse(markdown), printed.innerHTML, btoa(String.fromCharCode(...word))];
        }""",
        turns,
    )
    return found[0], found[1], found[2], base64.b64decode(found[3])


def shown(said: str) -> str:
    """A text as it should be seen, without its white space."""
    return "".join(character for character in said if character.isprintable() and not character.isspace())


class Seen(HTMLParser):
    """What HTML shows: its text, its elements and where its links lead."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.tags: set[str] = set()
        self.links: list[str | None] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data
