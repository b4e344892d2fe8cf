"""Figures of the systems → tables in Markdown, losses like wins."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from peers.systems import System

Results = Mapping[str, Any]
"""By a system's module what `comparison.py` found: `ndcg` by set, `measured`, `megabytes`, `when`, or `failed`.

`questions` are the numbers of them by set. `measured` may have a `note` on how its figures came about.
"""

TIED = 0.01
"""Our cost is held against that of the systems whose nDCG@10 is at most so much below ours."""
COSTS = {
    "index": ("CPU to index {timed}, embedding apart", 1, "s"),
    "p50": ("CPU of a question, median, embedding apart", 1000, "ms"),
    "p95": ("CPU of a question, 95th percentile", 1000, "ms"),
    "again": ("CPU to add the same again, embedding apart", 1, "s"),
    "peak": ("most memory held", 1, "MB"),
    "import": ("CPU to import it and open an empty index", 1, "s"),
    "megabytes": ("installed", 1, "MB"),
}
"""Figures by key: title, what they are multiplied by, unit."""


def tables(systems: Sequence[System], results: Results, sets: Sequence[str], timed: str) -> str:
    """All tables; ours is the first of `systems`, `timed` the set that costs were measured on."""
    shown = [system for system in systems if system.module in results]
    kept = [system for system in shown if "failed" not in results[system.module]]
    rows = [*_quality(kept, results, sets), *_costs(kept, results, timed), *_habits(kept, results)]
    parts = [_table(["", *(system.name for system in kept)], rows)]
    if kept and kept[0] == systems[0]:
        parts.append(_losses(kept, results, sets, timed))
    notes = ((system.name, results[system.module].get("measured", {}).get("note")) for system in kept)
    parts += [f"{name}: {note}" for name, note in notes if note]
    for system in shown:
        if system not in kept:
            parts.append(f"**{system.name}** isn't in the table: {results[system.module]['failed']}")
    pieces = [[system.name, system.pieces, results[system.module]["when"]] for system in shown]
    parts.append(_table(["system", "its pieces", "measured"], pieces))
    return "\n\n".join(parts)


def _quality(systems: Sequence[System], results: Results, sets: Sequence[str]) -> list[list[str]]:
    rows = []
    for name in (each for each in sets if each in results["questions"]):
        figures = [results[system.module]["ndcg"].get(name) for system in systems]
        best = max((figure for figure in figures if figure is not None), default=None)
        cells = ["" if each is None else f"**{each:.4f}**" if each == best else f"{each:.4f}" for each in figures]
        rows.append([f"nDCG@10 {name}, {results['questions'][name]:,} questions", *cells])
    return rows


def _costs(systems: Sequence[System], results: Results, timed: str) -> list[list[str]]:
    """Each figure with its multiple of the first system's."""
    rows = []
    for key, (title, scale, unit) in COSTS.items():
        figures = [_figure(results[system.module], key) for system in systems]
        first = figures[0] if figures else None
        cells = [
            ""
            if figure is None
            else f"{_short(figure * scale)} {unit}" + (f" ({figure / first:.2g}×)" if first and number else "")
            for number, figure in enumerate(figures)
        ]
        rows.append([title.format(timed=timed), *cells])
    return rows


def _habits(systems: Sequence[System], results: Results) -> list[list[str]]:
    says: dict[str, Callable[[Mapping[str, Any]], str]] = {
        "texts embedded when the same is added again": lambda measured: f"{measured['embedded_again']:,.0f}",
        "adding again duplicates": lambda measured: "yes" if measured["duplicates"] else "no",
        "a deleted document is still found": lambda measured: "yes" if measured["still_found"] else "no",
        "passages at their exact offsets": lambda measured: _share(measured["offsets"]),
    }
    measured = [results[system.module].get("measured") for system in systems]
    return [[title, *(say(each) if each else "" for each in measured)] for title, say in says.items()]


def _losses(systems: Sequence[System], results: Results, sets: Sequence[str], timed: str) -> str:
    """Where the first system isn't first, in quality, or in cost among those of like quality on `timed`."""
    ours, *others = systems
    mine = results[ours.module]
    lines = []
    for name in sets:
        for other in others:
            lead = results[other.module]["ndcg"].get(name, 0) - mine["ndcg"].get(name, 1)
            if lead > 0:
                lines.append(f"- {name}: {other.name} is {lead:.4f} above.")
    like = [
        other for other in others if results[other.module]["ndcg"].get(timed, 0) >= mine["ndcg"].get(timed, 1) - TIED
    ]
    for key in ("index", "p50", "p95", "again"):
        for other in like:
            theirs, own = _figure(results[other.module], key), _figure(mine, key)
            if theirs is not None and own is not None and theirs < own:
                why = f" {other.spares}" if key in ("index", "again") and other.spares else ""
                lines.append(
                    f"- {COSTS[key][0].format(timed=timed)}: {other.name} takes {theirs / own:.2g} of ours.{why}"
                )
    head = (
        f"Costs are compared with the systems that are at most {TIED} below {ours.name} on {timed}: "
        f"{', '.join(other.name for other in like) or 'none is'}."
    )
    return "\n".join([f"Where {ours.name} is not first:", "", *(lines or ["- nowhere."]), "", head])


def _figure(result: Mapping[str, Any], key: str) -> float | None:
    found = result.get(key) if key == "megabytes" else result.get("measured", {}).get(key)
    return None if found is None else float(found)


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def _share(share: float | None) -> str:
    return "not said" if share is None else "all" if share == 1 else f"{100 * share:.1f} %"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # What a process said of its failure must not break the table.
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |" for cells in lines)
