"""How soon a command is ready, and what it holds: CPU of whole processes, wall time and peak memory.

Beside them: Python that does nothing, and `llm --version` where `--llm` names its command. `--files 10000` are synced
unchanged, beside a walk that asks the system for each file's size and time. What a server holds is `soak.py`'s.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measuring import ROOT, run_python, show
from sync import STAT, CountingEmbedder, open_library, write

COMMAND = (sys.executable, "-m", "answerable")
ASKED = "How long is the warranty?"

# In a small process: the most memory of a new process counts from what its parent holds.
RUN = """
import os, subprocess, sys, time
began = time.perf_counter()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
unit = 2**20 if sys.platform == "darwin" else 1024
print([usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / unit])
sys.exit(process.returncode)
"""


@dataclass(frozen=True)
class Run:
    """What a process cost: CPU seconds with its children, wall seconds, and the most megabytes that it held."""

    cpu: float
    wall: float
    megabytes: float


def run(*command: object) -> Run:
    """Runs a command to its end; whatever fails there fails here."""
    return Run(*run_python("-c", RUN, *command).report)


def medians(commands: dict[str, Sequence[object]], repeats: int) -> dict[str, Run]:
    """The median of each figure of each command; they take turns."""
    rounds = [{name: run(*command) for name, command in commands.items()} for _ in range(repeats)]
    return {
        name: Run(*(statistics.median(getattr(each[name], field) for each in rounds) for field in Run.__annotations__))
        for name in commands
    }


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--llm", help="the command llm, installed elsewhere, to compare with")
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="answerable-starting-"))
    # Installed programs have their bytecode, whatever this shell says.
    os.environ |= {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(place / "bytecode")}
    try:
        measure(place, given)
    finally:
        shutil.rmtree(place)


def measure(place: Path, given: argparse.Namespace) -> None:
    """Builds a library of the examples and one of many files, then takes turns."""
    library, pages, many = place / "library", place / "pages", place / "many"
    run(*COMMAND, "add", ROOT / "examples", "--library", library)
    commands: dict[str, Sequence[object]] = {
        "python -c pass": (sys.executable, "-c", "pass"),
        **({"llm --version": (given.llm, "--version")} if given.llm else {}),
        "--version": (*COMMAND, "--version"),
        "--help": (*COMMAND, "--help"),
        "list": (*COMMAND, "list", "--library", library),
        "search, cold": (*COMMAND, "search", ASKED, "--library", library),
        "ask, cold": (*COMMAND, "ask", ASKED, "--library", library),
    }
    if given.files:
        write(pages, given.files)
        with open_library(many, CountingEmbedder()) as opened:
            opened.add(pages)
        commands |= {
            f"a walk of {given.files:,} files with size and time": (sys.executable, "-c", STAT, pages),
            f"sync of {given.files:,} unchanged files": (*COMMAND, "sync", "--library", many),
        }
    # The first run writes the compiled networks and Python's bytecode.
    for command in commands.values():
        run(*command)
    found = medians(commands, given.repeats)
    rows = [(f"{name}: {unit}", getattr(each, field), unit) for name, each in found.items() for field, unit in FIELDS]
    show("Starting", rows)


FIELDS = (("cpu", "s of CPU"), ("wall", "s"), ("megabytes", "MB at most"))


if __name__ == "__main__":
    main()
