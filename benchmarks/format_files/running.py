"""Each file in a process of its own, with a time limit; markitdown in an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from peers.environments import environment
from peers.systems import System

from format_files.judging import cited, told
from format_files.sample import Sample
from format_files.words import passages, share, words

BENCHMARKS = Path(__file__).resolve().parents[1]
MARKITDOWN = System("markitdown", "markitdown", ("markitdown[all]==0.1.9",), "`MarkItDown().convert`")
SECONDS = 3600
"""The time for a file, of the clock."""


@dataclass(frozen=True)
class Result:
    """What a reader finds in a file: shares of words, places of passages, CPU seconds, why not."""

    words: float
    places: int
    asked: int
    cpu: float
    failed: str = ""


def read_ours(sample: Sample, path: Path) -> Result:
    """What Answerable finds."""
    run = _run(Path(sys.executable), "ours", path, json.dumps([probe.text for probe in sample.probes]))
    return _result(sample, run, [cited(*pair) for pair in zip(run.get("places", []), sample.probes, strict=False)])


def read_theirs(sample: Sample, path: Path) -> Result:
    """What markitdown finds."""
    run = _run(environment(MARKITDOWN), "theirs", path)
    text = run.get("text", "")
    return _result(sample, run, [told(text, passages(text, probe.text), probe) for probe in sample.probes])


READERS = {"Answerable": read_ours, "markitdown": read_theirs}


def as_json(result: Result) -> dict[str, Any]:
    """What is kept of a result."""
    return asdict(result)


def _result(sample: Sample, run: dict[str, Any], rights: list[bool]) -> Result:
    found: Counter[str] = words(run.get("text", ""))
    with_place = [bool(probe.place) for probe in sample.probes]
    shares = [share(sample.words, found)] if sample.words else [share(probe.text, found) for probe in sample.probes]
    right = sum(is_right for is_right, counts in zip(rights, with_place, strict=False) if counts)
    return Result(sum(shares) / len(shares), right, sum(with_place), round(run["cpu"], 2), run.get("failed", ""))


def _run(python: Path, module: str, path: Path, given: str = "") -> dict[str, Any]:
    """What the process prints, with its CPU seconds and those of its children, or why it failed."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(BENCHMARKS.parent / name) for name in ("benchmarks", "src", "tests")),
        "PYTHONIOENCODING": "utf-8",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    command = [str(python), "-m", f"format_files.{module}", str(path)]
    with tempfile.TemporaryFile() as put, tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        put.write(given.encode())
        put.seek(0)
        process = subprocess.Popen(command, cwd=BENCHMARKS, env=variables, stdin=put, stdout=printed, stderr=errors)
        timer = threading.Timer(SECONDS, process.kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        said, problems = (_lines(file) for file in (printed, errors))
    cpu = usage.ru_utime + usage.ru_stime
    if process.returncode:
        return {"cpu": cpu, "failed": (problems or [f"status {process.returncode}"])[-1]}
    return {**json.loads(said[-1]), "cpu": cpu}


def _lines(file: IO[bytes]) -> list[str]:
    file.seek(0)
    return file.read().decode("utf-8", "replace").strip().splitlines()
