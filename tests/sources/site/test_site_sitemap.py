"""Sitemaps: what they name, and what is made to do harm."""

from __future__ import annotations

import gzip

import pytest

from answerable.errors import DamagedSource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.sources.site.robots import MAX_ENTRIES, parse_sitemap

SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
PAGES = f"""<?xml version="1.0" encoding="UTF-8"?>
<urlset {SPACE} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url><loc> https://a.test/?x=1&amp;y=2 </loc><image:image><image:loc>https://a.test/i.png</image:loc></image:image>
    <lastmod>2024-05-01</lastmod></url>
  <url><lastmod>never</lastmod><loc><![CDATA[https://a.test/b]]></loc></url>
  <url><loc></loc></url>
</urlset>"""


@pytest.mark.parametrize(
    "data",
    [
        PAGES.encode(),
        gzip.compress(PAGES.encode()),
        b"\n\n" + PAGES.encode(),
        PAGES.replace("UTF-8", "UTF-16").encode("utf-16"),
        PAGES.replace(SPACE, "").encode(),
        PAGES.replace("sitemaps.org", "google.com").encode(),
    ],
)
def test_addresses_of_pages(data: bytes) -> None:
    sitemap = parse_sitemap(data, "s")
    assert sitemap.pages == ("https://a.test/?x=1&y=2", "https://a.test/b")
    assert not sitemap.sitemaps


def test_an_index_names_sitemaps() -> None:
    index = f"<sitemapindex {SPACE}><sitemap><loc>https://a.test/s.xml.gz</loc></sitemap></sitemapindex>"
    sitemap = parse_sitemap(index.encode(), "s")
    assert sitemap.sitemaps == ("https://a.test/s.xml.gz",)
    assert not sitemap.pages


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (PAGES.encode()[:-30], DamagedSource),
        (PAGES.replace("&amp;", "&").encode(), DamagedSource),
        (gzip.compress(PAGES.encode())[:-12], DamagedSource),
        (b"<!DOCTYPE html><html><body>Not here</body></html>", SourceError),
        (b"<html><body>Not here</body></html>", UnsupportedSource),
        (b"<rss><channel/></rss>", UnsupportedSource),
        (b"", UnsupportedSource),
        (b"Not found", UnsupportedSource),
        (b"\xff\xfe\x00", UnsupportedSource),
    ],
)
def test_what_is_broken_or_none_is_said_to_be(data: bytes, error: type[Exception]) -> None:
    with pytest.raises(error, match="the map"):
        parse_sitemap(data, "the map")


@pytest.mark.parametrize(
    "declaration",
    [
        '<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">',
        '<!ENTITY b SYSTEM "file:///etc/passwd">',
        '<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p; <!ENTITY b "x">',
    ],
)
def test_no_entity_is_ever_resolved(declaration: str) -> None:
    xml = f"<?xml version='1.0'?><!DOCTYPE urlset [{declaration}]><urlset><url><loc>&b;</loc></url></urlset>"
    with pytest.raises(DamagedSource, match="document type"):
        parse_sitemap(xml.encode(), "s")


def test_a_sitemap_is_bounded() -> None:
    many = b"<urlset>" + b"<url><loc>http://a/</loc></url>" * (MAX_ENTRIES + 1) + b"</urlset>"
    with pytest.raises(SourceTooLarge):
        parse_sitemap(many, "s")
    with pytest.raises(SourceTooLarge):
        parse_sitemap(gzip.compress(b"<urlset>" + b" " * 60_000_000), "s")
    deep = b"<urlset>" + b"<a>" * 100_000
    with pytest.raises(DamagedSource):
        parse_sitemap(deep, "s")
