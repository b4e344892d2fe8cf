"""Fuzz the data of web sites: sitemaps, robots.txt, and the links of pages."""

from __future__ import annotations

import gzip

from draw import Draw
from fuzz_targets import Target
from fuzz_texts import HTML
from providers.scripted_server import Reply, ScriptedServer

from answerable.errors import AddressRefused, AnswerableError
from answerable.sources.html.links import page_links
from answerable.sources.html.parse import parse_page, valid_markup
from answerable.sources.html.web_address import parse_address
from answerable.sources.site.connection import AddressGuard
from answerable.sources.site.fetch import Fetcher, FetchPolicy
from answerable.sources.site.robots import MAX_ENTRIES, Robots, parse_sitemap

SITEMAP = (
    "<?xml version='1.0' encoding='UTF-8'?>",
    "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>",
    "<sitemapindex>",
    "<url><loc>https://example.org/a?x=1&amp;y=2</loc><lastmod>2024-01-01T00:00:00.123456789Z</lastmod></url>",
    "<sitemap><loc>https://example.org/s.xml.gz</loc></sitemap>",
    "<url><loc>file:///etc/passwd</loc><lastmod>9999-99-99</lastmod></url>",
    "<lastmod>0001-01-01T00:00:00+14:00</lastmod>",
    "<url>",
    "</url>",
    "<loc>",
    "</loc>",
    "</urlset>",
    "</sitemapindex>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]>",
    "&b;",
    "<![CDATA[",
    "]]>",
    "<a>",
    "<image:loc xmlns:image='x'>",
)
ROBOTS = (
    "User-agent: *\n",
    "User-agent: answerable\n",
    "Disallow: /\n",
    "Allow: /a*b$\n",
    "Disallow: /*a*a*a*a*a*a*a*a*b\n",
    "Crawl-delay: 1e308\n",
    "Crawl-delay: nan\n",
    "Request-rate: 1/0s 0000-9999\n",
    "Visit-time: 9999-0\n",
    "Sitemap: //[::1\n",
    "Sitemap: https://example.org/s.xml\n",
    "Host: \n",
    "Disallow: %zz%\n",
    "*",
    "$",
    "a",
    "#",
    ":",
)
ADDRESSES = (
    "https://example.org/",
    "http://127.0.0.1/",
    "//host/x",
    "http://[::1",
    "http://1.1.1.1:99999999/",
    "http://a@b/",
    "javascript:",
    "http://xn--zz/",
    "../",
    "?",
    "#",
    "%00",
    "http://ａ。b/",
)
SERVER = ScriptedServer().__enter__()


def _sitemap(draw: Draw) -> None:
    data = draw.file(SITEMAP)
    found = parse_sitemap(gzip.compress(data, 1, mtime=0) if not draw.number(3) else data, "https://example.org/s.xml")
    assert len(found.pages) + len(found.sitemaps) <= MAX_ENTRIES
    assert not (found.pages and found.sitemaps)
    for url in (*found.pages, *found.sitemaps):
        url.encode("utf-8")


def _robots(draw: Draw) -> None:
    # What there is of a site without a network: an address is never looked up.
    text = draw.text(ADDRESSES, 6)
    try:
        address = parse_address(text).url
        assert parse_address(address).url == address, "an address in plain form has another one"
    except AddressRefused:
        address = "http://example.org/"
    markup = draw.text((*HTML, "<a href='", "'>", *ADDRESSES), 15)
    for link in page_links(parse_page(valid_markup(markup, "page")), address):
        assert parse_address(link).url == link
    body = draw.file(ROBOTS)
    SERVER.script("/robots.txt", Reply(200, {"Content-Type": "text/plain"}, (body,)))
    guard = AddressGuard(allow_hosts=[SERVER.url.removeprefix("http://")])
    with Fetcher(guard, FetchPolicy(delay=0.0, retries=0), sleep=lambda _: None) as fetcher:
        robots = Robots(fetcher)
        for path in ("/", "/" + "a" * 200, "/%zz", "/ä?*"):
            try:
                robots.check(SERVER.url + path)
            except AnswerableError:
                continue
        robots.sitemaps(SERVER.url)


TARGETS = {
    "sitemap": Target(_sitemap, tuple("".join((SITEMAP[1], *SITEMAP[3:5], end)).encode() for end in SITEMAP[11:13])),
    "robots": Target(_robots, (b"\x01" * 30, "".join(ROBOTS[:4]).encode())),
}
