"""Test that the documentation site builds without warnings, links work, and nothing loads from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from types import ModuleType
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from lxml import html
from playwright.sync_api import Request, sync_playwright

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
LOADED = {"script", "link", "img", "iframe", "source", "video", "audio", "use", "object", "embed"}
"""Elements whose addresses a browser opens by itself."""
IN_CSS = re.compile(r"url\(\s*['\"]?(?!data:)([^'\")]+)|@import\s+['\"]([^'\"]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the built site."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, html.HtmlElement]:
    """Each page by its path."""
    return {str(path.relative_to(site)): html.parse(str(path)).getroot() for path in site.rglob("*.html")}


def addresses(page: html.HtmlElement) -> Iterator[tuple[html.HtmlElement, str]]:
    """What a page's elements load and link to."""
    for element, _, address, _ in page.iterlinks():
        yield element, address


def test_every_page_is_in_the_navigation_and_in_llms_txt(site: Path, pages: dict[str, html.HtmlElement]) -> None:
    listed = set(re.findall(r"^- \[[^\]]+\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8"), re.MULTILINE))
    assert {Path(name).with_suffix(".html").as_posix() for name in listed} == set(pages) - {"404.html"}
    assert all((site / name).is_file() for name in listed)
    assert len(listed) > 45


def test_the_pages_load_nothing_from_elsewhere(site: Path, pages: dict[str, html.HtmlElement]) -> None:
    outside = {
        f"{name}: {address}"
        for name, page in pages.items()
        for element, address in addresses(page)
        if element.tag in LOADED and urlsplit(address).netloc
    }
    for style in site.rglob("*.css"):
        found = ("".join(each) for each in IN_CSS.findall(style.read_text("utf-8")))
        outside |= {f"{style.name}: {address}" for address in found if urlsplit(address).netloc}
    assert outside == set()


def test_every_link_within_the_site_leads_to_a_page_and_a_place(site: Path, pages: dict[str, html.HtmlElement]) -> None:
    places = {name: set(page.xpath("//@id | //a/@name")) for name, page in pages.items()}
    broken = set()
    for name, page in pages.items():
        for _, address in addresses(page):
            if name == "404.html" or urlsplit(address).scheme or urlsplit(address).netloc:
                continue
            path, anchor = urldefrag(address)
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(path))) if path else name
            target = "index.html" if target == "." else target
            if not (site / target).exists() or (anchor and target in places and unquote(anchor) not in places[target]):
                broken.add(f"{name}: {address}")
    assert broken == set()


def test_a_browser_asks_nobody_else_for_anything(site: Path) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=which("chromium"), args=["--no-sandbox"])
        page = browser.new_page()
        page.on("request", note)
        for name in ("index.html", "http-api.html", "benchmarks.html"):
            page.goto((site / name).as_uri(), wait_until="networkidle")
        browser.close()
    assert len(asked) > 10
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []


def script(name: str) -> ModuleType:
    """A script of docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_of_the_http_api_is_that_of_the_server() -> None:
    made = script("generate_http").page()
    assert made == (DOCS / "http-api.md").read_text("utf-8"), "run: python docs/generate_http.py"
    assert made.count("\n### ") > 80


def test_the_plots_show_what_was_measured() -> None:
    made = script("generate_plots").plots()
    assert len(made) == 9
    for name, text in made.items():
        assert text == (DOCS / "images" / name).read_text("utf-8"), "run: python -m docs.generate_plots"
    assert "SQuAD 2 pt" in made["retrieval.svg"]
    assert made["peers.svg"].count("<rect") == 8
