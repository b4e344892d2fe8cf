"""Each file in a process of its own, with a time limit; markitdown and docling in environments of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from peers.environments import environment
from peers.systems import System

from format_files.judging import cited, told
from format_files.sample import Sample
from format_files.states import says
from format_files.words import passages, share, words

BENCHMARKS = Path(__file__).resolve().parents[1]
MARKITDOWN = System("markitdown", "markitdown", ("markitdown[all]==0.1.9",), "`MarkItDown().convert`")
DOCLING = System(
    "docling",
    "docling",
    ("docling==2.143.0", "docling-slim[format-opendocument]==2.143.0"),
    "`DocumentConverter().convert`, `export_to_markdown`, `export_to_html`, and the places of its items",
)
NEEDS_MODELS = frozenset({"pdf", "pdf, scanned", "png", "jpg", "mp3", "opus", "WhatsApp with a voice note"})
"""Kinds for which docling gets models from a hub that this machine doesn't reach; they aren't measured."""
SECONDS = 3600
"""The time for a file, of the clock."""


@dataclass(frozen=True)
class Result:
    """What a program finds in a file: share of words, places of passages, states by kind, CPU seconds, why not."""

    words: float
    places: int
    asked: int
    cpu: float
    states: Mapping[str, int]
    missed: Sequence[str]
    failed: str = ""


def read_ours(sample: Sample, path: Path) -> Result:
    """What Answerable finds."""
    run = _run(Path(sys.executable), "ours", _wanted(sample), str(path))
    return _result(sample, run, [cited(*pair) for pair in zip(run.get("places", []), sample.probes, strict=False)])


def read_markitdown(sample: Sample, path: Path) -> Result:
    """What markitdown finds."""
    run = _run(environment(MARKITDOWN), "theirs", "", "markitdown", str(path))
    return _result(sample, run, _told(sample, run))


def read_docling(sample: Sample, path: Path) -> Result | None:
    """What docling finds, None where it isn't measured. Its Markdown has to tell a place, or its items to say it."""
    if sample.kind in NEEDS_MODELS:
        return None
    run = _run(environment(DOCLING), "theirs", _wanted(sample), "docling", str(path))
    said = [cited(*pair) for pair in zip(run.get("places", []), sample.probes, strict=False)]
    return _result(sample, run, [any(pair) for pair in zip(_told(sample, run), said, strict=False)])


READERS: Mapping[str, Callable[[Sample, Path], Result | None]] = {
    "Answerable": read_ours,
    "markitdown": read_markitdown,
    "docling": read_docling,
}


def _wanted(sample: Sample) -> str:
    return json.dumps([probe.text for probe in sample.probes])


def _told(sample: Sample, run: Mapping[str, Any]) -> list[bool]:
    text = run.get("text", "")
    return [told(text, passages(text, probe.text), probe) for probe in sample.probes]


def as_json(result: Result | None) -> dict[str, Any] | None:
    """What is kept of a result."""
    return result and asdict(result)


def _result(sample: Sample, run: Mapping[str, Any], rights: Sequence[bool]) -> Result:
    found: Counter[str] = words(run.get("text", ""))
    with_place = [bool(probe.place) for probe in sample.probes]
    expected = [sample.words] if sample.words else [probe.text for probe in sample.probes]
    shares = [share(each, found) for each in expected]
    right = sum(is_right for is_right, counts in zip(rights, with_place, strict=False) if counts)
    texts = [run.get("text", ""), run.get("html", "")]
    is_said = {state: any(says(text, state) for text in texts) for state in sample.states}
    return Result(
        sum(shares) / max(len(shares), 1),
        right,
        sum(with_place),
        round(run["cpu"], 2),
        {kind: sum(said for state, said in is_said.items() if state.kind == kind) for kind in _kinds(sample)},
        [f"{state.kind} {state.text} {state.value}".strip() for state, said in is_said.items() if not said],
        run.get("failed", ""),
    )


def _kinds(sample: Sample) -> Sequence[str]:
    return list(dict.fromkeys(state.kind for state in sample.states))


def _run(python: Path, module: str, given: str, *arguments: str) -> dict[str, Any]:
    """What the process prints, with its CPU seconds and those of its children, or why it failed."""
    variables = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(str(BENCHMARKS.parent / name) for name in ("benchmarks", "src", "tests")),
        "PYTHONIOENCODING": "utf-8",
        "OMP_WAIT_POLICY": "PASSIVE",
        "HF_HUB_OFFLINE": "1",
    }
    command = [str(python), "-m", f"format_files.{module}", *arguments]
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
