"""Every benchmark that a page names exists, and every benchmark is in the table of their README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BENCHMARKS = ROOT / "benchmarks"
PAGES = [
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "apps").rglob("*.md"),
    *BENCHMARKS.rglob("*.md"),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile")),
]
# After a colon is what git shows of an earlier commit.
NAMED = re.compile(r"(?<!:)\bbenchmarks/[\w/]+\.py\b")


def test_pages_name_benchmarks_that_exist() -> None:
    named = {(page.name, name) for page in PAGES for name in NAMED.findall(page.read_text("utf-8"))}
    assert named
    assert [each for each in sorted(named) if not (ROOT / each[1]).is_file()] == []


def test_the_table_has_every_benchmark() -> None:
    listed = set(re.findall(r"^\| `(\w+\.py)` \|", (BENCHMARKS / "README.md").read_text("utf-8"), re.MULTILINE))
    # `million_peers.py` is run by `million.py` in environments of its own.
    run = {path.name for path in BENCHMARKS.glob("*.py") if '__name__ == "__main__"' in path.read_text("utf-8")}
    assert listed == run - {"million_peers.py"}


@pytest.mark.parametrize("name", sorted(path.name for path in BENCHMARKS.glob("*.py")))
def test_every_benchmark_finds_what_it_imports(name: str) -> None:
    load = f"import runpy; runpy.run_path({str(BENCHMARKS / name)!r})"
    subprocess.run([sys.executable, "-c", load], cwd=BENCHMARKS, check=True)


def test_make_bench_runs_benchmarks_that_exist() -> None:
    (names,) = re.findall(r"^\tfor name in (.+); do", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert [name for name in names.split() if not (BENCHMARKS / f"{name}.py").is_file()] == []
