"""Pages a second of CPU: fetching a site by its sitemap and reading its pages, beside LangChain's SitemapLoader.

The site is the built textbook of the quality data: its 52 documents, served on loopback by a process of its own, whose
time doesn't count. Every arm runs in a process of its own too, visits the site once to warm up, and then as often as
`--visits` says, asking four pages at once. Ours is the visit that `answerable add` makes, with its choice of pages, its
robots.txt, and all that a document knows of its place; nothing is waited for between requests, and nothing is embedded.
SitemapLoader runs with a function that drops the navigation by BeautifulSoup, as its guide shows, on Python's parser,
its default, and once more on lxml's.

Then the site is added by the command, and added again with nothing changed: whole processes, embedding and all.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from measuring import DATA, ROOT, cpu_seconds, median_of, run_python, show

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

ARMS = {"ours": "Answerable", "html.parser": "SitemapLoader", "lxml": "SitemapLoader with lxml"}
AT_ONCE = 4


def main() -> None:
    """Runs the arms in turn and prints their rates and how many times ours is theirs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--arm", choices=ARMS, help=argparse.SUPPRESS)
    parser.add_argument("--site", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        serve()
    elif arguments.arm:
        print(json.dumps(pages_a_second(arguments.arm, arguments.site, arguments.visits)))
    else:
        compare(arguments.rounds, arguments.visits)


def compare(rounds: int, visits: int) -> None:
    """The medians of all rounds."""
    with served() as site, tempfile.TemporaryDirectory() as folder:
        measures = [partial(rate, arm, site, visits) for arm in ARMS]
        rates = dict(zip(ARMS, median_of(rounds, *measures), strict=True))
        first, again = (added(site, folder) for _ in range(2))
    rows = [(name, rates[arm], "pages per CPU second") for arm, name in ARMS.items()]
    rows += [(f"times {name}", rates["ours"] / rates[arm], "") for arm, name in ARMS.items() if arm != "ours"]
    rows += [("added by the command", first, "CPU s"), ("added again, unchanged", again, "CPU s")]
    rows += [("share of the first", again / first, "")]
    peers = {name: version(name) for name in ("langchain-community", "beautifulsoup4", "lxml", "selectolax")}
    show("Pages of a site, fetched and read", rows, rounds=rounds, visits=visits, peers=peers)


def rate(arm: str, site: str, visits: int) -> float:
    """One arm's pages per CPU second, in a process of its own."""
    arguments = ("--arm", arm, "--site", site, "--visits", visits)
    # What LangChain warns of would stand between the figures.
    return float(run_python("-W", "ignore", __file__, *arguments, environment={"USER_AGENT": "benchmark"}).report)


def added(site: str, folder: str) -> float:
    """CPU seconds of `answerable add` on the site, with a library and a cache in this folder."""
    environment = {"ANSWERABLE_ALLOW_HOSTS": "127.0.0.1", "ANSWERABLE_CACHE_FOLDER": f"{folder}/cache"}
    done = run_python("-m", "answerable", "add", site, "--json", "-l", f"{folder}/library", environment=environment)
    assert not json.loads(done.report)["failed"]
    return done.cpu


def pages_a_second(arm: str, site: str, visits: int) -> float:
    """Pages per CPU second of this process, after one visit that isn't counted."""
    visit = partial(ours, site) if arm == "ours" else partial(langchain, site, arm)
    visit()
    start = cpu_seconds(of_children=False)
    pages = sum(visit() for _ in range(visits))
    return pages / (cpu_seconds(of_children=False) - start)


def ours(site: str) -> int:
    """Visits the site as for the first time; gives the number of its documents."""
    from answerable.sources.site.addresses import AddressGuard
    from answerable.sources.site.fetch import Fetcher
    from answerable.sources.site.pace import FetchPolicy
    from answerable.sources.site.visit import SiteVisit
    from answerable.sources.web_address import parse_address

    guard = AddressGuard([parse_address(site).host])
    visit = SiteVisit(site, Fetcher(guard, FetchPolicy(delay=0, concurrency=AT_ONCE)))
    with contextlib.closing(visit):
        documents = [document for visited in visit.items({}) for document in visited.documents]
    assert not visit.errors
    assert all(document.content for document in documents)
    return len(documents)


def langchain(site: str, parser: str) -> int:
    """Loads the site as LangChain's guide does; gives the number of its documents."""
    from langchain_community.document_loaders.sitemap import SitemapLoader

    loader = SitemapLoader(
        f"{site}sitemap.xml",
        parsing_function=without_navigation,
        default_parser=parser,
        requests_per_second=AT_ONCE,
        show_progress=False,
    )
    documents = loader.load()
    assert all(document.page_content for document in documents)
    return len(documents)


def without_navigation(page: BeautifulSoup) -> str:
    """A page's text but for its menus."""
    for element in page(["nav", "header"]):
        element.decompose()
    return page.get_text()


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The site's address, for as long as the block runs."""
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.communicate()


def serve() -> None:
    """Serves the textbook's documents until the input ends."""
    sys.path.insert(0, str(ROOT / "tests" / "servers"))
    from site_server import SiteServer

    from answerable.sources.html.docusaurus import document_element

    with tarfile.open(DATA / "docusaurus" / "robotics_anusbutt" / "built_html.tar.xz") as archive, SiteServer() as site:
        for member in archive:
            if member.name.endswith(".html") and (file := archive.extractfile(member)):
                page = file.read()
                if document_element(page):
                    site.put("/" + member.name.removeprefix("./").removesuffix(".html"), page)
        print(site.home, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
