"""Draws the plots of docs/benchmarks.md: `python -m docs.generate_plots`.

The figures are those of the tables in docs/quality.md and of benchmarks/peers/results.json; none is written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from lab.plots import STYLE, WIDTH, element, interval_plot

from answerable.evaluation.report import Figure, Measured

DOCS = Path(__file__).parent
FOLDER = DOCS / "images"
PEERS = DOCS.parent / "benchmarks" / "peers" / "results.json"
SYSTEMS = {
    "answerable_": "Answerable",
    "llamaindex": "LlamaIndex",
    "langchain": "LangChain",
    "haystack": "Haystack",
    "txtai": "txtai",
    "haiku_rag": "haiku.rag",
    "arara_rag": "arara-rag",
}
RETRIEVAL = {"meaning": "`dense`", "words": "`bm25`", "both": "`hybrid`"}
REFUSED = {
    "answerable": "answerable, not answered",
    "another subject": "of other sets, not answered",
    "just beside": "paragraph removed, not answered",
}
_ROW, _LEFT, _RIGHT, _TOP = 22, 220, 60, 30
_INTERVAL = re.compile(r"(?P<value>[\d.]+)\*?(?: \[(?P<low>[\d.]+), (?P<high>[\d.]+)\])?")

Table = dict[str, dict[str, str]]
"""Rows by their first cell, each with its cells by column."""


def plots() -> dict[str, str]:
    """Each file with its SVG."""
    tables = list(_tables((DOCS / "quality.md").read_text("utf-8")))
    peers = json.loads(PEERS.read_text("utf-8"))
    measured = {name: peers[key] for key, name in SYSTEMS.items()}
    costs = {
        "question": ("CPU of a question, milliseconds", {k: v["measured"]["p50"] * 1000 for k, v in measured.items()}),
        "again": ("CPU of adding the same again, seconds", {k: v["measured"]["again"] for k, v in measured.items()}),
        "adding": ("CPU of adding, embedding apart, seconds", {k: v["measured"]["index"] for k, v in measured.items()}),
        "memory": ("Most memory held, MB", {k: v["measured"]["peak"] for k, v in measured.items()}),
        "installed": ("Installed, MB", {k: v["megabytes"] for k, v in measured.items()}),
    }
    ranked = {name: sum(each["ndcg"].values()) / len(each["ndcg"]) for name, each in measured.items()}
    return {
        "retrieval.svg": _svg(_dots(tables, RETRIEVAL, "nDCG@10 with 95 % intervals", "[")),
        "refusals.svg": _svg(_dots(tables, REFUSED, "The share of questions that is refused", "")),
        "everyday.svg": _svg(_bars("Everyday questions, share", _everyday(tables), 1)),
        "peers.svg": _svg(_bars("nDCG@10, mean of eight sets", ranked, 1)),
        **{f"peers-{name}.svg": _svg(_bars(title, values)) for name, (title, values) in costs.items()},
    }


def _tables(page: str) -> Iterator[Table]:
    for block in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines())
        yield {row[0]: dict(zip(head[1:], row[1:], strict=False)) for row in rows}


def _dots(tables: Sequence[Table], rows: dict[str, str], title: str, needed: str) -> Element:
    """A dot for each name in `rows` and each column of the tables with all of these rows; cells have `needed`."""
    measured = []
    for name, row in rows.items():
        figures = []
        for table in tables:
            found = {key.split(":")[0].split(",")[0]: cells for key, cells in table.items()} | table
            if all(any(key.startswith(wanted) for key in found) for wanted in rows.values()):
                cells = next(cells for key, cells in found.items() if key.startswith(row))
                figures += [_figure(column, cell) for column, cell in cells.items() if cell and needed in cell]
        measured.append(Measured(name, figures, [], [], [], [], None))
    drawing = interval_plot(measured)
    drawing[0].text = title
    return drawing


def _figure(name: str, cell: str) -> Figure:
    found = _INTERVAL.match(cell)
    assert found, cell
    value = float(found["value"])
    return Figure(name, value, float(found["low"] or value), float(found["high"] or value), 0)


def _everyday(tables: Sequence[Table]) -> dict[str, float]:
    """The shares of everyday questions, of the column of the program as it is."""
    shares = {}
    for row, cells in next(table for table in tables if any("of 96" in row for row in table)).items():
        found = re.search(r"^(.*?),? of (\d+)$", row)
        total = int(found[2]) if found else 96
        shares[re.sub(r" than the document|, of \d+$", "", row)] = int(cells["first set"]) / total
    return shares


def _bars(title: str, values: dict[str, float], most: float = 0) -> Element:
    """A bar for each name; ours is in another colour."""
    height = _TOP + _ROW * len(values) + 6
    drawing = element("svg", element("title", title), viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height)
    drawing.append(element("text", title, x=8, y=18, font_weight="bold"))
    scale = (WIDTH - _LEFT - _RIGHT) / (most or max(values.values()))
    for number, (name, value) in enumerate(values.items()):
        y = _TOP + _ROW * number
        colour = "#17605c" if name == SYSTEMS["answerable_"] else "#8aa3a1"
        drawing.append(element("text", name, x=_LEFT - 8, y=y + 14, text_anchor="end"))
        width = round(value * scale, 1)
        drawing.append(element("rect", x=_LEFT, y=y + 3, width=width, height=_ROW - 8, fill=colour))
        shown = f"{value:.3f}" if most else f"{value:,.3g}" if value < 100 else f"{value:,.0f}"
        drawing.append(element("text", shown, x=round(_LEFT + width + 6, 1), y=y + 14))
    return drawing


def _svg(drawing: Element) -> str:
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    drawing.set("font-family", "sans-serif")
    drawing.insert(1, element("style", STYLE))
    drawing.insert(2, element("rect", width="100%", height="100%", fill="#fff"))
    return ElementTree.tostring(drawing, encoding="unicode") + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in plots().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
