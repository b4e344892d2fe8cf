"""The page in Chromium: requests, script and layout shift of a visit, CPU until an answer and its source are in sight.

CPU is that of the server and of all processes of the browser; figures of time are of this machine, the others are not.
`python benchmarks/page.py`
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import httpx
from measuring import ROOT, machine

sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "http", "servers")]

REPEATS = 3
OBSERVE = """() => {
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint').length"
LOADED = """() => {
  // The worker of the phone fetches all files again, to keep them.
  const files = performance.getEntriesByType("resource")
    .filter(({ name, initiatorType }) => new URL(name).pathname.startsWith("/page/") && initiatorType !== "fetch");
  const all = (entries, size) => entries.reduce((sum, entry) => sum + entry[size], 0) / 1000;
  const scripts = files.filter(({ name }) => /\\.m?js$/.test(name));
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return {
    "files": files.length,
    "kB sent": all(files, "transferSize"),
    "kB of script": all(scripts, "decodedBodySize"),
    "first paint, ms": paint.startTime,
    "layout shift": globalThis.shift,
  };
}"""


def main() -> None:
    """Prints the figures of a first visit, of an answer, and of a citation in a PDF of 352 pages."""
    from browser import DESKTOP, PATIENCE, Visitor, chromium, serving
    from service_on_socket import upload
    from test_page_panel import IN_SIGHT, book
    from test_page_walk import BUILT, LIGHTHOUSE

    print(machine())
    rows: dict[str, list[float]] = {}

    def note(what: str, value: float) -> None:
        rows.setdefault(what, []).append(value)

    def note_files(visitor: Visitor, what: str) -> None:
        for name, value in visitor.page.evaluate(LOADED).items():
            note(f"{what}: {name}", value)

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "server", reader="local") as address:
        with httpx.Client(base_url=address, timeout=120) as client:
            upload(client, ("ponds.pdf", book(2, LIGHTHOUSE)))
        browser = chromium()
        for _ in range(REPEATS):
            with browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]}, locale="en-GB") as context:
                page = context.new_page()
                page.set_default_timeout(PATIENCE)
                session = context.new_cdp_session(page)
                rounds = Rounds(session)
                start = seconds()
                page.goto(address, wait_until="commit")
                page.wait_for_function(PAINTED)
                note("first visit: CPU s until the first paint", seconds() - start)
                page.locator("textarea").wait_for()
                note("first visit: round trips until the first paint", rounds.longest)
                page.evaluate(OBSERVE)
                visitor = Visitor(page, address)
                turn = visitor.ask(BUILT)
                note("answer: CPU s from the start of the visit", seconds() - start)
                note_files(visitor, "answer")
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                before = busy(session)
                visitor.cite(turn)
                assert page.locator(".panel-body .pdf-quote").first.evaluate(IN_SIGHT)
                note("citation: CPU s of the page's main thread", busy(session) - before)
                note_files(visitor, "citation")
    print("| figure | median |\n|---|---|")
    for name, values in rows.items():
        print(f"| {name} | {median(values):,.3f} |")


class Rounds:
    """The most files that were asked for one after the other, each because of the one before."""

    def __init__(self, session: Any) -> None:
        self.longest = 0
        self._depth: dict[str, int] = {}
        session.on("Network.requestWillBeSent", self._note)
        session.send("Network.enable")

    def _note(self, event: dict[str, Any]) -> None:
        depth = self._depth.get(event["initiator"].get("url", ""), 0) + 1
        self._depth.setdefault(event["request"]["url"], depth)
        self.longest = max(self.longest, depth)


def busy(session: Any) -> float:
    """The CPU seconds of the page's main thread so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


def seconds() -> float:
    """The CPU seconds of the server and the browser so far: of all processes below this one, but Playwright's."""
    ticks, below = 0, {os.getpid()}
    # A process has a higher number than the one that started it.
    for path in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: int(path.name)):
        try:
            name, _, fields = (path / "stat").read_text().rpartition(")")
        except OSError:
            continue
        state = fields.split()
        if int(state[1]) in below:
            below.add(int(path.name))
            # Of its own and of its ended children.
            ticks += 0 if name.endswith("(node") else sum(map(int, state[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
