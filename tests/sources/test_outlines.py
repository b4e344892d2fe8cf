"""OPML and bookmarks: entries under the path of those above them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import answerable
from answerable.datatypes import Document, DocumentType
from answerable.errors import DamagedSource, EmptySource
from answerable.sources.dispatch import read_bytes
from answerable.sources.formats import recognise

OPML = """<?xml version="1.0" encoding="ISO-8859-1"?>
<opml version="2.0"><head><title>Plans of Zoë</title><ownerName>Ana</ownerName></head><body>
<outline text="Trips">
  <outline text="Lisbon" _note="The ferry leaves on Tuesday.&#10;The hotel costs 90 euros.">
    <outline text="&lt;b&gt;Museum&lt;/b&gt; of tiles"/>
  </outline>
</outline>
<outline text=""><outline title="Orphan"/></outline>
<outline text="News" type="rss" xmlUrl="https://example.org/feed" htmlUrl="https://example.org/"/>
</body></opml>""".encode("latin-1")
BOOKMARKS = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks of Ana</H1>
<DL><p>
    <DT><H3 ADD_DATE="1700000000" PERSONAL_TOOLBAR_FOLDER="true">Bread</H3>
    <DL><p>
        <DT><A HREF="https://example.org/rye?a=1&amp;b=2" ADD_DATE="1700000000000000" TAGS="rye, oven"
            ICON="data:x">Rye &gt; wheat</A>
        <DD>Bake it for 50 minutes.
        <DT><A HREF="javascript:alert('secret')">Secret</A>
        <DT><A HREF="place:sort=8">Secret</A>
    </DL><p>
    <DT><A HREF="https://example.org/untitled"></A>
    <DT><A HREF="https://example.org/tides" ADD_DATE="junk">Tides of Cork</A>
</DL>
"""


def read(content: str | bytes, name: str) -> Document:
    (document,) = read_bytes(content.encode() if isinstance(content, str) else content, f"/in/{name}")
    return document


def entries(document: Document) -> list[tuple[str, tuple[str, ...]]]:
    return [(document.content[part.start : part.end], part.headings) for part in document.parts]


def test_an_outline() -> None:
    document = read(OPML, "plans.opml")
    assert (document.type, document.title) == (DocumentType.OUTLINE, "Plans of Zoë")
    assert document.metadata == {"author": "Ana"}
    top = "Plans of Zoë"
    assert entries(document) == [
        ("Trips", (top,)),
        ("Lisbon\n    The ferry leaves on Tuesday.\n    The hotel costs 90 euros.", (top, "Trips")),
        ("Museum of tiles", (top, "Trips", "Lisbon")),
        ("Orphan", (top,)),
        ("News (https://example.org/)", (top,)),
    ]
    assert "\n    - Museum of tiles\n" in document.content


def test_bookmarks_by_folder_with_days_and_tags() -> None:
    document = read(BOOKMARKS, "bookmarks.html")
    top = "Bookmarks of Ana"
    assert (document.type, document.title) == (DocumentType.OUTLINE, top)
    rye = "Rye > wheat (https://example.org/rye?a=1&b=2, added 2023-11-14, tags: rye, oven)"
    assert entries(document) == [
        ("Bread", (top,)),
        (f"{rye}\n    Bake it for 50 minutes.", (top, "Bread")),
        ("https://example.org/untitled", (top,)),
        ("Tides of Cork (https://example.org/tides)", (top,)),
    ]
    assert "ecret" not in document.content


def test_bookmarks_are_told_by_their_first_line() -> None:
    assert recognise(BOOKMARKS.encode(), "any.htm").name == "bookmarks"
    assert recognise(b"\xef\xbb\xbf\n" + BOOKMARKS.lower().encode(), "without suffix").name == "bookmarks"
    assert recognise(b"<!doctype html><p>NETSCAPE-Bookmark-file-1", "a.html").name == "html"


@pytest.mark.parametrize(
    ("content", "name", "error", "match"),
    [
        ("<opml><head/></opml>", "a.opml", DamagedSource, "it has no body.*export it again"),
        ("no xml", "a.opml", DamagedSource, "export it again"),
        ("<opml><body><outline/></body></opml>", "a.opml", EmptySource, "no entry with a text"),
        ('{"nodes": [', "a.canvas", DamagedSource, "not a canvas.*save it again"),
        ('{"nodes": []}', "a.canvas", EmptySource, "no entry with a text"),
        ("<!DOCTYPE NETSCAPE-Bookmark-file-1><H1>x</H1>", "a.html", EmptySource, "no entry with a text"),
    ],
)
def test_damaged_and_empty_ones(content: str, name: str, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        read(content, name)


def test_cards_of_a_canvas_say_what_they_are_linked_to() -> None:
    canvas = {
        "nodes": [
            {"id": "a", "type": "text", "text": "# Sow peas\n\nin March"},
            {"id": "b", "type": "file", "file": "Beds.md", "subpath": "#North"},
            {"id": "c", "type": "link", "url": "https://example.org/"},
            {"id": "g", "type": "group", "label": "To do"},
            {"id": "x", "type": "text"},
        ],
        "edges": [
            {"fromNode": "a", "toNode": "b", "label": "where"},
            {"fromNode": "a", "toNode": "c"},
            {"fromNode": "a", "toNode": "gone"},
        ],
    }
    document = read(json.dumps(canvas), "Plan.canvas")
    assert (document.title, document.metadata["links"]) == ("Plan", ["Beds"])
    assert entries(document) == [
        ("# Sow peas\n  in March\n  where → Beds.md#North\n  → https://example.org/", ()),
        ("Beds.md#North", ()),
        ("https://example.org/", ()),
        ("To do", ()),
    ]


def test_clippings_of_a_kindle_with_book_and_place() -> None:
    text = (
        "\ufeffThe Sea (Ruiz, Ana)\r\n- Your Highlight on page 12 | Location 170-172\r\n\r\nThe tide turns at six.\r\n"
        "==========\r\n\ufeffKilns (Ben Paz)\r\n- Your Bookmark at location 9\r\n\r\n\r\n==========\r\n"
        "The Sea (Ruiz, Ana)\r\n- Your Note on page 14\r\n\r\nAsk Ben\r\n==========\r\n"
    )
    document = read(text, "My Clippings.txt")
    assert entries(document) == [
        ("The Sea (Ruiz, Ana)", ()),
        ("The tide turns at six.\n    (Your Highlight on page 12 | Location 170-172)", ("The Sea (Ruiz, Ana)",)),
        ("Ask Ben\n    (Your Note on page 14)", ("The Sea (Ruiz, Ana)",)),
    ]
    assert read("A title\n==========\nText.\n", "a.txt").type is DocumentType.TEXT


def test_no_entity_of_opml_is_expanded() -> None:
    content = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><opml><body><outline text="A"/>&x;</body></opml>'
    assert read(content, "a.opml").content == "- A\n"


@pytest.mark.parametrize(
    ("name", "content", "question", "quote", "place"),
    [
        ("plans.opml", OPML, "When does the ferry leave?", "on Tuesday", "Plans of Zoë › Trips"),
        ("links.html", BOOKMARKS.encode(), "How many minutes is rye baked?", "50 minutes", "Bookmarks of Ana › Bread"),
    ],
)
def test_an_answer_cites_the_entry(
    tmp_path: Path, name: str, content: bytes, question: str, quote: str, place: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with answerable.open(":memory:") as library:
        library.add(path)
        (citation, *_) = library.ask(question).citations
        document = library.document(citation.document_id)
    assert document.content[citation.start : citation.end] == citation.quote
    assert quote in citation.quote
    assert str(citation.location) == place
    assert citation.link == path.as_uri()
