"""What a server holds that answers questions for an hour: how much memory, of what kind, and whether it grows.

`answerable serve` on the examples and on paragraphs in three languages, asked over a socket at a steady pace: different
questions, and beside every tenth a search, the page and its list. Memory is read from Linux's /proc, so this runs only
there. RSS counts whole pages, PSS shares those that other processes map too. Beside it: Python that does nothing,
OpenVINO imported, and a process with one compiled network that has embedded one question.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import httpx
from measuring import DATA, ROOT, show
from serving import QUESTIONS, served

LIMIT = 350  # megabytes after 1,000 questions, as asked for
SETTLED = 1000
"""Questions after which memory must be flat: by then, each length of batch has been computed."""
MARKS = (1, 10, 100, SETTLED)
SETS = ("squad2/en-dev", "xquad/es", "faquad")  # English, Spanish, Portuguese
EMBEDDED = """
from answerable.embedding.local import LocalEmbedder
from answerable.settings import Settings
embedder = LocalEmbedder(cache_folder=Settings().cache_path / "models")
embedder.embed_query("How long is the warranty?")
"""
ALONE = {"python -c pass": "pass", "OpenVINO imported": "import openvino", "one network, one question": EMBEDDED}


def memory(process: int) -> dict[str, float]:
    """Megabytes of a process: RSS, PSS, and RSS by kind. Changed pages of a mapped file count as private."""
    found: dict[str, float] = defaultdict(float)
    kind = ""
    for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
        name, *values = line.split(maxsplit=5)
        if not name.endswith(":"):
            kind = kind_of(values[4] if len(values) == 5 else "")
        elif name in ("Rss:", "Pss:", "Anonymous:"):
            size = int(values[0]) / 1024
            found[name[:-1].upper()] += size
            found[kind] += {"Rss:": size, "Anonymous:": -size}.get(name, 0)
    return {"RSS": found.pop("RSS"), "PSS": found.pop("PSS"), "private": found.pop("ANONYMOUS"), **found}


def kind_of(path: str) -> str:
    """What a mapping is, by its file."""
    if path.endswith((".blob", ".bin", ".npz")):
        return "models, mapped"
    if ".so" in Path(path).name or "/bin/" in path:
        return "programs, mapped"
    return "library and caches, mapped" if path.startswith("/") else "other"


def alone(code: str) -> float:
    """The megabytes of a process that has run this code."""
    command = [sys.executable, "-c", f"{code}\nprint(flush=True)\ninput()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        held = memory(process.pid)["RSS"]
        process.communicate(b"\n")
    return held


def questions() -> Iterator[str]:
    """Different questions, the languages in turns; without the development sets, few ones with a number."""
    paths = [DATA / name / "queries.jsonl" for name in SETS]
    if all(path.exists() for path in paths):
        lines = (path.read_text("utf-8").splitlines() for path in paths)
        yield from (json.loads(line)["text"] for one in zip(*map(itertools.cycle, lines), strict=True) for line in one)
    yield from (f"{question} {number}" for number in itertools.count() for question in QUESTIONS)


def write_documents(folder: Path, count: int) -> Path:
    """A folder of so many paragraphs of each language, if the development sets are there."""
    for name in SETS:
        into = folder / name.replace("/", " ")
        into.mkdir(parents=True)
        path = DATA / name / "corpus.jsonl"
        lines = path.read_text("utf-8").splitlines()[:count] if path.exists() else []
        for number, row in enumerate(map(json.loads, lines)):
            (into / f"{number}.txt").write_text(f"{row['title']}\n\n{row['text']}", "utf-8")
    return folder


def soak(client: httpx.Client, process: int, given: argparse.Namespace) -> list[tuple[int, float, dict[str, float]]]:
    """Asks at a steady pace; gives questions asked, minutes and memory at the marks and each minute."""
    began, readings = time.monotonic(), list[tuple[int, float, dict[str, float]]]()
    for number, question in enumerate(itertools.islice(questions(), given.questions), 1):
        client.post("/api/v1/library/ask", json={"question": question, "keep": False}).raise_for_status()
        if number % 10 == 0:
            client.post("/api/v1/library/search", json={"question": question}).raise_for_status()
            for path in ("/", "/api/v1/library/documents"):
                client.get(path).raise_for_status()
        minutes = (time.monotonic() - began) / 60
        if number in MARKS or not readings or minutes >= int(readings[-1][1]) + 1:
            readings.append((number, minutes, memory(process)))
            print(f"{minutes:5.1f} min  {number:6} questions  {readings[-1][2]['RSS']:5.0f} MB", flush=True)
        if minutes >= given.minutes:
            break
        time.sleep(max(0, began + number * given.pace - time.monotonic()))
    return readings if readings[-1][0] == number else [*readings, (number, minutes, memory(process))]


def rows(readings: list[tuple[int, float, dict[str, float]]]) -> Iterator[tuple[str, float, str]]:
    """The rows of the table."""
    shown = 0
    for number, minutes, held in readings:
        if number in MARKS or minutes >= shown + 10:
            shown = int(minutes) // 10 * 10
            yield f"after {number:,} questions, {minutes:.0f} minutes: RSS", held["RSS"], f"MB, limit {LIMIT}"
            yield f"after {number:,} questions, {minutes:.0f} minutes: PSS", held["PSS"], "MB"
    late = [(number, held["RSS"]) for number, _, held in readings if number >= SETTLED]
    if len(late) > 2:
        growth = statistics.linear_regression(*zip(*late, strict=True)).slope * 1000
        yield f"growth per 1,000 questions after {SETTLED:,}", growth, "MB"
    yield from ((f"at the end: {kind}", size, "MB") for kind, size in readings[-1][2].items())
    yield from ((name, alone(code), "MB") for name, code in ALONE.items())


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--questions", type=int, default=10_000, help="after which it ends before the time")
    parser.add_argument("--pace", type=float, default=2, help="seconds from one question to the next, at least")
    parser.add_argument("--documents", type=int, default=80, help="paragraphs of each language")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="answerable-soak-") as place:
        documents = write_documents(Path(place, "documents"), given.documents)
        with served(Path(place), ROOT / "src", documents) as (address, process):
            with httpx.Client(base_url=address, timeout=300) as client:
                readings = soak(client, process, given)
            show("Soak", list(rows(readings)), readings=[(number, round(at, 1)) for number, at, _ in readings])


if __name__ == "__main__":
    main()
