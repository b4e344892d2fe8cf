"""The page in Chromium: script that is loaded, first paint, layout shift, and CPU until a citation is in sight.

Figures of time are of this machine, those of bytes are not.
`python benchmarks/page.py`
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median

import httpx
from measuring import ROOT, machine

sys.path[:0] = [str(ROOT / "tests" / folder) for folder in ("", "http", "servers")]

REPEATS = 5
OBSERVE = """() => {
  globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""
LOADED = """() => {
  // The worker of the phone fetches all files again, to keep them.
  const sizes = performance.getEntriesByType("resource")
    .filter(({ name, initiatorType }) => /\\.m?js$/.test(new URL(name).pathname) && initiatorType !== "fetch")
    .map(({ decodedBodySize }) => decodedBodySize);
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return { script: sizes.reduce((all, size) => all + size, 0), files: sizes.length, paint: paint?.startTime ?? 0 };
}"""


def main() -> None:
    """Prints the figures of a first visit, of an answer, and of a citation in a PDF of 352 pages."""
    from browser import Visitor, documents, serving, visiting
    from service_on_socket import upload
    from test_page_panel import IN_SIGHT, book
    from test_page_walk import BUILT, LIGHTHOUSE

    print(machine())
    rows: dict[str, list[float]] = {}

    def note(visitor: Visitor, what: str) -> None:
        for name, value in visitor.page.evaluate(LOADED).items():
            rows.setdefault(f"{what}: {name}", []).append(value)
        rows.setdefault(f"{what}: shift", []).append(visitor.page.evaluate("() => globalThis.shift"))

    with tempfile.TemporaryDirectory() as folder, serving(Path(folder) / "server") as address:
        with httpx.Client(base_url=address, timeout=120) as client:
            upload(client, ("ponds.pdf", book(2, LIGHTHOUSE)))
        assert documents(address)
        for _ in range(REPEATS):
            with visiting(address) as visitor:
                page = visitor.page
                page.evaluate(OBSERVE)
                page.wait_for_timeout(500)
                note(visitor, "first visit")
                turn = visitor.ask(BUILT)
                note(visitor, "answer")
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                before = busy(session)
                visitor.cite(turn)
                assert page.locator(".pdf-page[data-page='246'] .pdf-quote").first.evaluate(IN_SIGHT)
                rows.setdefault("citation: CPU s of the page", []).append(busy(session) - before)
                note(visitor, "citation")
    print("| figure | median |\n|---|---|")
    for name, values in rows.items():
        print(f"| {name} | {median(values):,.3f} |")


def busy(session: object) -> float:
    """The CPU seconds of the page's main thread so far."""
    metrics = session.send("Performance.getMetrics")["metrics"]  # type: ignore[attr-defined]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


if __name__ == "__main__":
    main()
