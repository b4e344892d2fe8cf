"""Every parser, fuzzed: a second of random inputs in `make test`, ten minutes by atheris in `make test-long`.

The sample begins the same way each time, so that it fails for what was changed. `FUZZ_SECONDS` gives each another time,
start included, and `FUZZ_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz_targets import MODULES

LONG = pytest.mark.long
PROGRAM = Path(__file__).with_name("fuzz.py")
SAMPLE = 3
START = 2


@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("name", "seconds"), [("records", SAMPLE), *(pytest.param(name, 600, marks=LONG) for name in MODULES)]
)
def test_nothing_but_errors_of_ours(name: str, seconds: int, tmp_path: Path) -> None:
    fuzz(name, seconds, tmp_path)


@pytest.mark.parametrize("name", MODULES)
def test_random_inputs_do_where_atheris_has_no_wheel(name: str, tmp_path: Path) -> None:
    fuzz(name, SAMPLE, tmp_path, "--random")


def fuzz(name: str, seconds: int, folder: Path, *more: str) -> None:
    """Fuzzes a parser in a process of its own; fails with what was found."""
    seed = int(os.environ.get("FUZZ_SEED", 1 if seconds == SAMPLE else random.randrange(1, 2**31)))
    seconds = int(os.environ.get("FUZZ_SECONDS", seconds))
    found = folder / "found-"
    # What starting takes is part of the time.
    options = [f"-max_total_time={max(seconds - START, 1)}", f"-seed={seed}", f"-artifact_prefix={found}"]
    # What a process that is started directly is said to have used at most is never less than what this one has.
    apart = ["sh", "-c", '"$@"; exit $?', "sh"]
    fuzzing = subprocess.run(
        [*apart, sys.executable, PROGRAM, name, "-print_final_stats=1", *options, *more],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds + 240,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    inputs = [f"{path} ({path.read_bytes().hex()[:200]})" for path in folder.glob("found-*")]
    assert fuzzing.returncode == 0, (
        f"{fuzzing.stderr[-3_000:]}\nwith FUZZ_SEED={seed}, by {', '.join(inputs) or 'no input'}: "
        f"python {PROGRAM} {name} FILE runs it again"
    )
    executed = re.search(r"number_of_executed_units: (\d+)", fuzzing.stderr)
    assert executed, fuzzing.stderr[-3_000:]
    assert int(executed[1]) > 0
