"""What searches cost by the size of the library, a line for each kind, as SVG; both scales are logarithmic."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

sys.path.append(str(Path(__file__).resolve().parents[1]))
from lab.plots import element

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 230, 20, 40
COLOURS = ("#0969da", "#1f883d", "#8250df", "#cf222e", "#bc4c00", "#57606a", "#9a6700")
# What each line shows, and which recall at the largest size stands beside it.
LINES = {
    "hybrid search, with texts": ("hybrid, p50 CPU ms", ""),
    "ours, vectors (100 best)": ("vectors, p50 CPU ms", "recall@10"),
    "ours, terms (100 best)": ("terms, p50 CPU ms", ""),
    "FAISS, exact": ("FAISS flat, vectors, mean CPU ms", "FAISS flat, recall@10"),
    "FAISS, HNSW": ("FAISS HNSW, vectors, mean CPU ms", "FAISS HNSW, recall@10"),
    "LanceDB": ("LanceDB, vectors, mean CPU ms", "LanceDB, recall@10"),
    "pgvector, HNSW": ("pgvector, vectors, mean CPU ms", "pgvector, recall@10"),
}


def growth_plot(sizes: Sequence[Mapping[str, float]]) -> str:
    """The figures of each size, as `million.py` has them."""
    drawing = element("svg", viewBox=f"0 0 {WIDTH} {HEIGHT}", xmlns="http://www.w3.org/2000/svg", font_size=12)
    drawing.append(element("title", "CPU milliseconds of a search by number of chunks"))
    drawing.append(element("rect", width=WIDTH, height=HEIGHT, fill="white"))
    for chunks in (1e4, 1e5, 1e6):
        x = _x(chunks)
        drawing.append(element("line", x1=x, x2=x, y1=TOP, y2=HEIGHT - BOTTOM, stroke="#d8dee4"))
        drawing.append(element("text", f"{chunks:,.0f}", x=x, y=HEIGHT - BOTTOM + 16, text_anchor="middle"))
    for cost in (0.1, 1, 10, 100):
        y = _y(cost)
        drawing.append(element("line", x1=LEFT, x2=WIDTH - RIGHT, y1=y, y2=y, stroke="#d8dee4"))
        drawing.append(element("text", f"{cost:g} ms", x=LEFT - 6, y=y + 4, text_anchor="end"))
    for place, (label, (name, recall)) in enumerate(LINES.items()):
        points = [(_x(size["chunks"]), _y(size[name])) for size in sizes if size.get(name, 0) > 0]
        colour = COLOURS[place]
        shown = " ".join(f"{x},{y}" for x, y in points)
        drawing.append(element("polyline", points=shown, fill="none", stroke=colour, stroke_width=2))
        for x, y in points:
            drawing.append(element("circle", cx=x, cy=y, r=3.5, fill=colour))
        found = f", recall {sizes[-1][recall]:.3f}" if recall in sizes[-1] else ""
        drawing.append(element("text", label + found, x=WIDTH - RIGHT + 16, y=TOP + 20 + 20 * place, fill=colour))
    return ElementTree.tostring(drawing, encoding="unicode")


def _x(chunks: float) -> float:
    return round(LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(chunks) - 3.9) / 2.2, 1)


def _y(cost: float) -> float:
    share = (math.log10(cost) + 1.5) / 4
    return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share, 1)
