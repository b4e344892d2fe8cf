"""A real browser for the web page, and a server in a process of its own, as users start it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import httpx
from filelock import FileLock
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, Playwright, sync_playwright
from quality.harness import CACHE

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"
PHONE = (390, 844)
# Milliseconds: a machine may be busy with other tests.
PATIENCE = 120_000
DESKTOP = (1400, 900)
_AXE = "axe-core@4.14.1"
# Read here, since every test runs with an environment of its own; npm's settings are in the user's home.
# Where the system has no Node.js, the one beside this Python is used.
ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
}
_COMMAND = (sys.executable, "-c", "from answerable.interfaces.cli.main import run; run()")
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
# What the page shows of a quote: marks in a text, or in a PDF the words under the rectangles.
_QUOTED = """() => {
  const marks = [...document.querySelectorAll(".panel mark:not(.also)")];
  if (marks.length) return marks.map((mark) => mark.textContent).join("");
  const boxes = [...document.querySelectorAll(".pdf-quote")].map((box) => box.getBoundingClientRect());
  const found = [];
  for (const layer of document.querySelectorAll(".textLayer")) {
    const walker = document.createTreeWalker(layer, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode;
      for (let at = 0; at < node.length; at += 1) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + 1);
        const { left, right, top, bottom } = range.getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        const isIn = (box) => x > box.left && x < box.right && y > box.top && y < box.bottom;
        if (boxes.some(isIn)) found.push(node.data[at]);
      }
    }
  }
  return found.join("");
}"""

# Waits for what comes last, and for the observer, which isn't told at once.
_MOVED = """() => new Promise((resolve) => {
  let moved = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) moved += value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(moved), 500);
})"""


@dataclass
class Visitor:
    """Somebody at the page. `complaints` are what the browser's console said of errors."""

    page: Page
    address: str
    complaints: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Starts a new conversation on the page as it is: loading it again takes most of a test's time."""
        self.page.evaluate("() => document.activeElement.blur()")
        self.page.keyboard.press("Escape")
        self.page.locator(".panel").wait_for(state="detached")
        self.page.evaluate("() => { location.hash = '#ask' }")
        self.page.locator(".composer").wait_for()
        if self.page.locator(".turn").count():
            self.page.get_by_role("button", name="New conversation").click()
        self.page.locator(".welcome").wait_for()

    def ask(self, question: str) -> Locator:
        """Types a question, presses Enter and waits for the answer; gives the turn."""
        self.page.get_by_role("textbox", name=re.compile("question|pregunta|pergunta", re.IGNORECASE)).fill(question)
        # Earlier turns are there with the field, which has just been waited for.
        turn = self.page.locator(".turn").nth(self.page.locator(".turn").count())
        self.page.keyboard.press("Enter")
        turn.and_(self.page.locator("[data-state=done]")).wait_for()
        return turn

    def cite(self, turn: Locator, number: int = 1) -> str:
        """Clicks a citation's chip and gives the text that is highlighted when the source is there."""
        turn.locator(f".chip[data-citation='{number}']").click()
        self.page.locator(".panel[data-shown=true]").wait_for()
        self.page.locator(".panel mark:not(.also, .syntax), .pdf-page[data-drawn=true] .pdf-quote").first.wait_for()
        return str(self.page.evaluate(_QUOTED))

    def pick(self, *files: Path | dict[str, Any]) -> None:
        """Chooses files to add, in the form that is open."""
        with self.page.expect_file_chooser() as chooser:
            self.page.locator(".drop-zone").click()
        chooser.value.set_files(list(files))  # type: ignore[arg-type]

    def shot(self, name: str) -> None:
        """Keeps a picture of what is seen, if the variable SCREENSHOTS is set."""
        if "SCREENSHOTS" not in ENVIRONMENT:
            return
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")

    def moved(self) -> float:
        """How far what was seen has been moved by what came in, from the start of the page on, as browsers count it."""
        return float(self.page.evaluate(_MOVED))

    def barriers(self) -> list[str]:
        """What axe finds to be in the way of people who can't see, hear or point well, however little."""
        # Colours that are on their way to others would be measured as they are in between.
        self.page.evaluate("() => Promise.all(document.getAnimations().map((each) => each.finished.catch(() => {})))")
        self.page.evaluate(_axe())
        found = self.page.evaluate("() => axe.run()")
        return [
            f"{each['id']}: {node['target']} {node['html'][:120]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]


def chromium() -> Browser:
    """The browser that tests one after another share."""
    return _started()[1]


def close_browser() -> None:
    """Close the shared browser if one was started: its event loop would be in the way of other tests' loops."""
    if _started.cache_info().currsize:
        playwright, browser = _started()
        _started.cache_clear()
        browser.close()
        playwright.stop()


@cache
def _started() -> tuple[Playwright, Browser]:
    program = shutil.which("chromium")
    assert program, "the tests need chromium: make system"
    playwright = sync_playwright().start()
    return playwright, playwright.chromium.launch(executable_path=program, args=list(SWITCHES))


@contextmanager
def visiting(address: str, size: tuple[int, int] = DESKTOP, **context: Any) -> Iterator[Visitor]:
    """Open the page in a fresh context of the shared browser; `context` is as playwright's `new_context` takes it.

    Raises AssertionError at the end when the console reported errors.
    """
    viewport = {"width": size[0], "height": size[1]}
    with chromium().new_context(**{"viewport": viewport, "locale": "en-GB", **context}) as opened:
        page = opened.new_page()
        page.set_default_timeout(PATIENCE)
        visitor = Visitor(page, address)

        def heard(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning"):
                visitor.complaints.append(f"{message.text} ({message.location.get('url')})")

        page.on("console", heard)
        page.on("pageerror", lambda error: visitor.complaints.append(str(error)))
        page.goto(address)
        page.locator("textarea, .key-form, .library, .document-page").first.wait_for()
        yield visitor
    assert visitor.complaints == []


@contextmanager
def serving(folder: Path, *arguments: str, reader: str = "off") -> Iterator[str]:
    """A server in a process of its own with all that it keeps under a folder; gives its address."""
    command = [*_COMMAND, "serve", "--port", "0", "--library", str(folder / "library"), "--data", str(folder / "data")]
    # Vectors of this runtime are kept apart from those of the tests that take the usual one.
    quick = {"ANSWERABLE_READER": reader, "ANSWERABLE_CACHE_FOLDER": str(folder.parent / "quick")}
    environment = {**os.environ, **quick}
    with subprocess.Popen(
        [*command, *arguments], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        try:
            said = process.stdout.readline()
            address = re.search(r"http://\S+", said)
            assert address, said + process.stdout.read()
            yield address[0]
        finally:
            process.terminate()
            process.wait(60)


def documents(address: str) -> dict[str, dict[str, Any]]:
    """The documents of the server's library by source."""
    listed = httpx.get(f"{address}api/v1/library/documents", timeout=60).json()["documents"]
    return {found["source"]: found for found in listed}


def last_quotes(address: str, visitor: Visitor) -> Sequence[str]:
    """The quotes that the last answer of the visitor's conversation has, as the API tells them."""
    names = "() => Object.entries(localStorage).find(([name]) => name.includes('session:'))[1]"
    session = visitor.page.evaluate(names)
    turns = httpx.get(f"{address}api/v1/library/sessions/{session}", timeout=60).json()["turns"]
    return [citation["quote"] for citation in turns[-1]["answer"]["citations"]]


def squeezed(text: str) -> str:
    """The text without white space, which a PDF's layer of text has none of at the ends of lines."""
    return re.sub(r"\s", "", text)


@cache
def _axe() -> str:
    """The source of axe-core, which npm brings the first time."""
    kept = CACHE / f"{_AXE.replace('@', '-')}.tgz"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{kept}.lock"):
        if not kept.exists():
            npm = shutil.which("npm", path=ENVIRONMENT["PATH"])
            assert npm, "the tests need npm: make system"
            command = [npm, "pack", "--silent", "--pack-destination", str(CACHE), _AXE]
            subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, timeout=120)
    with tarfile.open(kept) as archive:
        member = archive.extractfile("package/axe.min.js")
        assert member
        return member.read().decode("utf-8")
