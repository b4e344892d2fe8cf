"""Writes the tables in docs/formats.md: `python docs/generate_formats.py`.

What is read of each format comes from formats.toml, the formats and their endings from the code, figures from what
`benchmarks/formats.py` measured.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import tomllib

from answerable.formats.built_in import FORMATS
from answerable.formats.format import Format
from answerable.formats.registry import suffixes

PAGE = Path(__file__).with_name("formats.md")
ROWS = Path(__file__).with_name("formats.toml")
MEASURED = Path(__file__).parents[1] / "benchmarks" / "format_files" / "results.json"
PEERS = {"markitdown": "markitdown", "docling": "docling", "anythingllm": "AnythingLLM", "ragflow": "RAGFlow"}
OURS = "Answerable"
MEASURED_PEERS = ("markitdown", "docling")
STATES = {
    "struck": "struck text",
    "box": "boxes, ticked or not",
    "field": "fields beside their labels",
    "number": "numbers of clauses and items",
    "raised": "raised figures, 10⁶",
    "lowered": "lowered figures, CO₂",
    "note": "notes at their words",
}
SHOWN = 8
"""So many endings are named."""

File = Mapping[str, Any]


def page() -> str:
    """The page with its tables made anew."""
    rows = tomllib.loads(ROWS.read_text("utf-8"))
    measured = json.loads(MEASURED.read_text("utf-8"))
    files = measured["files"]
    with_places = [file for file in files if not file["states"]]
    peers = " and ".join(each.replace("==", " ") for each in measured["peers"].values())
    tables = {
        "read": read_table(rows),
        "beside": beside_table(rows),
        "measured": totals(with_places, (OURS, "markitdown")),
        "measured with docling": totals([file for file in with_places if file["docling"]], (OURS, *MEASURED_PEERS)),
        "states": states_table([file for file in files if file["states"]]),
        "kinds": kinds_table(files),
        "losses": losses(files),
        "when": f"Measured on {measured['when']} with {peers}.",
    }
    text = PAGE.read_text("utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
        text, count = re.subn(pattern, lambda _, made=f"{begin}\n{table}\n{end}": made, text, flags=re.DOTALL)
        if count != 1:
            raise SystemExit(f"{PAGE} has to have {begin} and {end} once")
    return text


def read_table(rows: Mapping[str, Mapping[str, str]]) -> str:
    """What we read of each format: in the words of formats.toml and its order; of others, what their objects say."""
    formats = {form.name: form for form in FORMATS if form.suffixes}
    if unknown := set(rows) - set(formats) - {"plugin"}:
        raise SystemExit(f"{ROWS} has rows of no format: {', '.join(sorted(unknown))}")
    listed = [(row, row.get("endings") or _endings(formats[name])) for name, row in rows.items()]
    listed += [
        ({"name": name, "read": "", "cited": form.places.value, "limits": ""}, _endings(form))
        for name, form in formats.items()
        if name not in rows
    ]
    return _table(
        ["format", "endings", "what is read", "what is cited", "limits"],
        [[row["name"], endings, row["read"], row["cited"], row["limits"]] for row, endings in listed],
    )


def beside_table(rows: Mapping[str, Mapping[str, str]]) -> str:
    """What other systems read of each format, where formats.toml says it."""
    known = [row for row in rows.values() if all(peer in row for peer in PEERS)]
    return _table(["format", *PEERS.values()], [[row["name"], *(row[peer] for peer in PEERS)] for row in known])


def totals(files: Sequence[File], programs: Sequence[str]) -> str:
    """Files with places, in a column for each program."""

    def row(title: str, say: Any) -> list[str]:
        return [title, *(say([file[program] for file in files]) for program in programs)]

    return _table(
        ["", *programs],
        [
            row(f"files read, of {len(files)}", lambda found: f"{sum(_is_read(each) for each in found)}"),
            row("words found, mean of the files", lambda found: f"{_share(found):.1%}".replace("%", " %")),
            row(
                f"places right, of {sum(file[OURS]['asked'] for file in files)}",
                lambda found: f"{sum(each['places'] for each in found)}",
            ),
            row("CPU for a file, median", lambda found: f"{median(each['cpu'] for each in found):.1f} s"),
            row("CPU for all files", lambda found: f"{sum(each['cpu'] for each in found):.0f} s"),
        ],
    )


def states_table(files: Sequence[File]) -> str:
    """States right by their kind."""

    def row(title: str, kinds: Iterable[str]) -> list[str]:
        formats = sorted({file["kind"] for file in files if not file["states"].keys().isdisjoint(kinds)})
        return [title, ", ".join(formats), *(_states(files, program, kinds) for program in (OURS, *MEASURED_PEERS))]

    rows = [row(title, [kind]) for kind, title in STATES.items()]
    return _table(["state", "formats", OURS, *MEASURED_PEERS], [*rows, row("all", list(STATES))])


def _states(files: Sequence[File], program: str, kinds: Iterable[str] = tuple(STATES)) -> str:
    """How many states of these kinds are right, of those in the files that were measured."""
    measured = [file for file in files if file[program]]
    asked = sum(file["states"].get(kind, 0) for file in measured for kind in kinds)
    return (
        f"{sum(file[program]['states'].get(kind, 0) for file in measured for kind in kinds)} of {asked}"
        if asked
        else ""
    )


def kinds_table(files: Sequence[File]) -> str:
    """The same by kind of file."""
    kinds = {kind: [file for file in files if file["kind"] == kind] for kind in dict.fromkeys(f["kind"] for f in files)}
    heads = (f"{program}: {what}" for program in (OURS, *MEASURED_PEERS) for what in ("words", "places", "states"))
    return _table(
        ["kind", "files", *heads],
        [[kind, f"{len(group)}", *_of_kind(group)] for kind, group in sorted(kinds.items(), key=_name)],
    )


def _name(pair: tuple[str, Any]) -> str:
    return pair[0].lower()


def _of_kind(group: Sequence[File]) -> Iterator[str]:
    for program in (OURS, *MEASURED_PEERS):
        found = [file[program] for file in group if file[program] and not file["states"]]
        yield f"{_share(found):.0%}".replace("%", " %") if found else ""
        asked = sum(each["asked"] for each in found)
        yield f"{sum(each['places'] for each in found)} of {asked}" if asked else ""
        yield _states([file for file in group if file["states"]], program)


def losses(files: Sequence[File]) -> str:
    """The files of which another program finds more, and those of which we don't find all."""
    lines = []
    for file in files:
        ours, others = file[OURS], [(peer, file[peer]) for peer in MEASURED_PEERS if file[peer]]
        loses = any(
            other["words"] > ours["words"] + 0.005 or other["places"] > ours["places"] or _more(other, ours)
            for _, other in others
        )
        lacks = ours["missed"] or ours["places"] < ours["asked"] or (ours["words"] < 0.995 and not file["states"])
        if loses or lacks:
            beside = "; ".join(f"{peer}: {_found(file, other)}" for peer, other in others)
            lines.append(f"- {file['kind']}, `{file['name']}`: {_found(file, ours)} ({beside})")
    return "\n".join(lines)


def _more(other: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    return any(other["states"][kind] > right for kind, right in ours["states"].items())


def _found(file: File, found: Mapping[str, Any]) -> str:
    if file["states"]:
        return f"states {sum(found['states'].values())} of {sum(file['states'].values())}"
    return f"words {found['words']:.0%}".replace("%", " %") + f", places {found['places']} of {found['asked']}"


def _is_read(found: Mapping[str, Any]) -> bool:
    return found["words"] >= 0.5


def _share(found: Sequence[Mapping[str, Any]]) -> float:
    return sum(float(each["words"]) for each in found) / len(found)


def _endings(form: Format) -> str:
    endings = [suffix for suffix in form.suffixes if suffixes()[suffix] is form]
    named = " ".join(f"`{suffix}`" for suffix in endings[:SHOWN])
    return named if len(endings) <= SHOWN else f"{named} and {len(endings) - SHOWN} more"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
