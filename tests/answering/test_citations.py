"""Test that every quote is verbatim at its citation's offsets, and that its link opens exactly there."""

from __future__ import annotations

from datetime import datetime
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answerable.answering.citations import LONGEST_DIRECTIVE, cite, cite_spans, link
from answerable.datatypes import Chunk, Document, DocumentType, Location, Part, PartKind, RetrievalResult
from answerable.splitting.recursive import RecursiveSplitter

LINES, PAGE, WEB = Location((3, 3)), Location((3, 4), (2, 3)), Location(None, anchor="setup")


def whole(document: Document) -> RetrievalResult:
    """A result whose chunk is the whole document."""
    (chunk,) = RecursiveSplitter(100_000, 0).split(document)
    return RetrievalResult(chunk, 1.0, document)


@given(st.text(max_size=200), st.integers(1, 50), st.integers(-5, 220), st.integers(-5, 220))
def test_a_citation_is_verbatim_or_none(text: str, size: int, start: int, end: int) -> None:
    document = Document.from_text(text)
    for chunk in RecursiveSplitter(size, size // 3).split(document):
        citation = cite(RetrievalResult(chunk, 1.0, document), start, end)
        touches_the_chunk = 0 <= start < end <= len(text) and start < chunk.end and end > chunk.start
        assert (citation is not None) is (touches_the_chunk and bool(text[start:end].strip()))
        if citation:
            assert document.content[citation.start : citation.end] == citation.quote == text[start:end]
            lines = (text[:start].count("\n") + 1, text[:end].count("\n") + 1)
            assert citation.location.lines == lines


def test_content_that_was_altered_is_not_cited() -> None:
    document = Document.from_text("The cat sat.", source="/a.txt")
    result = whole(document)
    assert cite(result, 4, 7) is not None
    altered = Document(document.id, "The dog sat.", source="/a.txt")
    assert cite(RetrievalResult(result.chunk, 1.0, altered), 4, 7) is None
    assert cite(RetrievalResult(result.chunk, 1.0, Document(document.id, "")), 4, 7) is None


def test_a_citation_locates_the_quote_not_the_chunk() -> None:
    moment = datetime(2024, 3, 5, 21, 15)
    content = "a: hello\nb: how are\nyou\n"
    parts = (
        Part(0, 9, PartKind.MESSAGE, time=moment, sender="Ana", body=3),
        Part(9, 24, PartKind.MESSAGE, time=moment, sender="Luis", body=12),
    )
    document = Document("d", content, "/c.txt", "Chat", DocumentType.CHAT, parts=parts)
    citation = cite(whole(document), 12, 23)
    assert citation is not None
    assert citation.location == Location((2, 3), times=(moment, moment), senders=("Luis",))
    assert (citation.document_id, citation.source, citation.title) == ("d", "/c.txt", "Chat")
    assert citation.link == "file:///c.txt#L2-L3"


def test_links() -> None:
    cases: list[tuple[str, Location, str]] = [
        ("/a/b.txt", LINES, "file:///a/b.txt#L3"),
        ("/a/b.txt", Location((3, 9)), "file:///a/b.txt#L3-L9"),
        ("/a/b.pdf", PAGE, "file:///a/b.pdf#page=2"),
        ("/a/my file#1?.txt", LINES, "file:///a/my%20file%231%3F.txt#L3"),
        ("/año/日本.md", LINES, "file:///a%C3%B1o/%E6%97%A5%E6%9C%AC.md#L3"),
        ("/a/100%.txt", LINES, "file:///a/100%25.txt#L3"),
        ("/a://b.txt", LINES, "file:///a%3A//b.txt#L3".replace("//b", "/b")),
        ("/a/x.zip!/in/c.txt", LINES, "file:///a/x.zip"),
        ("/a/x.zip!/y.zip!/c.pdf", PAGE, "file:///a/x.zip"),
        ("/a/Wow!/c.txt", LINES, "file:///a/Wow%21/c.txt#L3"),
        (r"C:\Users\Ana\my notes.txt", LINES, "file:///C:/Users/Ana/my%20notes.txt#L3"),
        ("c:/notes/a.zip!/b.txt", LINES, "file:///c:/notes/a.zip"),
        (r"\\server\share\a.txt", LINES, ""),
        ("relative/a.txt", LINES, ""),
        ("", LINES, ""),
        ("https://x.org/p", WEB, "https://x.org/p#setup:~:text=a%20quote"),
        ("https://x.org/p#old", Location((3, 3)), "https://x.org/p#:~:text=a%20quote"),
        ("HTTPS://x.org/p", WEB, "HTTPS://x.org/p#setup:~:text=a%20quote"),
        ("https://x.org/p.pdf", PAGE, "https://x.org/p.pdf#page=2"),
        # Only pages have text fragments.
        ("https://x.org/p.pdf", WEB, "https://x.org/p.pdf"),
        ("https://x.org/raw/Guide.MD?v=2", WEB, "https://x.org/raw/Guide.MD?v=2"),
        ("https://x.org/data.json", LINES, "https://x.org/data.json"),
        ("https://x.org/v1.2", WEB, "https://x.org/v1.2#setup:~:text=a%20quote"),
        ("https://x.md", WEB, "https://x.md#setup:~:text=a%20quote"),
        ("https://x.org/a.txt", WEB, "https://x.org/a.txt#setup:~:text=a%20quote"),
        ("https://x.org/a b?q=ñ&r=%20", WEB, "https://x.org/a%20b?q=%C3%B1&r=%20#setup:~:text=a%20quote"),
        ('https://x.org/"><script>', WEB, "https://x.org/%22%3E%3Cscript%3E#setup:~:text=a%20quote"),
        ("/site/page.html", WEB, "file:///site/page.html#setup:~:text=a%20quote"),
    ]
    failed = [
        (source, got)
        for source, location, address in cases
        if (got := link(Document("d", "", source), location, "a quote")) != address
    ]
    assert failed == []


def test_other_schemes_are_not_linked() -> None:
    cases = [
        "javascript:alert(1)",
        "javascript://x.org/%0aalert(1)",
        "JaVaScRiPt://https://x.org",
        "java\nscript://x",
        " https://x.org",
        "data:text/html,<script>alert(1)</script>",
        "vbscript://x",
        "file://server/share",
        "https:",
        "https:///x",
        "//x.org/a",
    ]
    for address in cases:
        document = Document("d", "", address)
        assert link(document, WEB, "q") in ("", "file:////x.org/a#setup:~:text=q"), address
        disguised = Document("d", "", "/a.html", metadata={"url": address})
        assert link(disguised, WEB, "q") == "file:///a.html#setup:~:text=q", address


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.text(max_size=20), st.text(max_size=200))
def test_nothing_injects_a_scheme_a_fragment_or_markup(name: str, anchor: str, text: str) -> None:
    for source in (name, f"/{name}", f"https://x.org/{name}", f"javascript:{name}", f"/a.zip!/{name}"):
        for location in (Location(None, anchor=anchor), LINES, PAGE):
            address = link(Document("d", "", source), location, text)
            assert address == "" or urlsplit(address).scheme in ("file", "https")
            assert address.count("#") <= 1
            assert not set(address) & set("<>\"'` \n\r\t\\")
            assert address.isascii()


def test_the_source_is_cited_not_the_address_that_a_document_declares() -> None:
    cases = [
        ("/saved.html", "file:///saved.html#setup:~:text=q"),
        ("C:\\saved.html", "file:///C:/saved.html#setup:~:text=q"),
        ("/a/site.zip!/saved.html", "file:///a/site.zip"),
        ("https://mirror.org/p", "https://mirror.org/p#setup:~:text=q"),
        ("note of mine", "https://x.org/p#setup:~:text=q"),
    ]
    failed = [
        (source, got)
        for source, address in cases
        if (got := link(Document("d", "", source, metadata={"url": "https://x.org/p"}), WEB, "q")) != address
    ]
    assert failed == []


def test_the_address_of_a_saved_page_is_beside_its_file() -> None:
    cases = [
        ("https://x.org/p?a=1#b", "https://x.org/p?a=1#b"),
        ('https://x.org/ñ"><b>', "https://x.org/%C3%B1%22%3E%3Cb%3E"),
        ("javascript:alert(1)", ""),
        ("", ""),
    ]
    for declared, address in cases:
        page = Document("d", "A page.", "/a/b.html", type=DocumentType.HTML, metadata={"url": declared})
        citation = cite(whole(page), 0, 7)
        assert citation is not None, declared
        assert (citation.source, citation.web_address) == ("/a/b.html", address), declared
        assert citation.link.startswith("file:///a/b.html"), declared
        assert cite_spans(page, [(0, 7)])[0].web_address == address, declared
        (other,) = cite_spans(
            Document("d", "A page.", "https://x.org/p", type=DocumentType.HTML, metadata={"url": declared}), [(0, 7)]
        )
        assert other.web_address == "", declared


@pytest.mark.parametrize("kind", [DocumentType.DOCX, DocumentType.EPUB, DocumentType.RECORDS])
def test_formats_that_no_browser_shows_are_linked_without_a_fragment(kind: DocumentType) -> None:
    for location in (WEB, LINES):
        assert link(Document("d", "", "/a/b.docx", type=kind), location, "q") == "file:///a/b.docx"
        assert link(Document("d", "", "https://x.org/b", type=kind), location, "q") == "https://x.org/b"


def test_text_directives_match_the_rendered_page() -> None:
    cases = [
        ("- Spades and forks", "Spades and forks"),
        ("3. > ## Deep", "Deep"),
        (": Meaning", "Meaning"),
        ("-5 degrees", "-5 degrees"),
        ("1.5 metres", "1.5 metres"),
        ("| Hazel \\| Elm | 44 euros |", "Hazel | Elm,44 euros"),
        ("| Plot | Rent |\n| --- | --- |\n| Elm | 40 |", "Plot,40"),
        ("one | two", "one | two"),
        ("```py\nx = 1\ny = 2\n```", "x = 1,y = 2"),
        ("Mill Lane\n\n7", "Mill Lane,7"),
        ("?!", "?!"),
        ("word " * 40 + "\n" + "end " * 40, ("word " * 16).strip() + "," + ("end " * 20).strip()),
    ]
    for text, directive in cases:
        found = link(Document("d", "", "https://x.org"), WEB, text).split(":~:text=")[1]
        assert ",".join(map(unquote, found.split(","))) == directive, text


def test_text_directives_are_whole_words_and_escape_their_syntax() -> None:
    text = "well-known, so & so:  " + "words " * 40
    directive = link(Document("d", "", "https://x.org"), WEB, text).split(":~:text=")[1]
    assert not set(directive) & set("-,&")
    beginning = unquote(directive)
    assert len(beginning) <= LONGEST_DIRECTIVE
    assert (" ".join(text.split()) + " ").startswith(beginning + " ")
    assert unquote(link(Document("d", "", "https://x.org"), WEB, "x" * 200)).endswith("x" * LONGEST_DIRECTIVE)


def test_a_citation_needs_its_chunks_text() -> None:
    document = Document.from_text("The cat sat.")
    lying = Chunk("c", document.id, "The dog sat.", 0, 12, 0, LINES)
    assert cite(RetrievalResult(lying, 1.0, document), 4, 7) is None
    assert cite(RetrievalResult(lying, 1.0, document), 8, 11) is not None
