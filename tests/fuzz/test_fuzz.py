"""Every parser, fuzzed: by some random inputs in `make test`, for a minute by atheris in `make test-long`.

The samples are the same each time, so that they fail for what was changed. `FUZZ_SECONDS` gives each parser of
`make test-long` another time, start included (600 is ten minutes, for a thorough look), and `FUZZ_SEED` repeats a run.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from fuzz_targets import MODULES

PROGRAM = Path(__file__).with_name("fuzz.py")
START = 2


def test_random_inputs_raise_nothing_but_errors_of_ours(tmp_path: Path) -> None:
    """All parsers in one process: starting one takes longer than so few inputs."""
    executed = fuzz(MODULES, tmp_path, "--random", "-runs=40", "-seed=1")
    assert len(executed) == len(MODULES)
    assert min(executed) > 0


def test_atheris_finds_nothing_but_errors_of_ours(tmp_path: Path) -> None:
    assert min(fuzz(["records"], tmp_path, "-runs=200", "-seed=1")) > 0


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize(
    ("seconds", "more"), [(60, ()), (10, ("--random",))], ids=["by atheris", "where it has no wheel"]
)
@pytest.mark.parametrize("name", MODULES)
def test_nothing_but_errors_of_ours(name: str, seconds: int, more: Sequence[str], tmp_path: Path) -> None:
    seconds = int(os.environ.get("FUZZ_SECONDS", seconds))
    seed = int(os.environ.get("FUZZ_SEED", random.randrange(1, 2**31)))
    # What starting takes is part of the time.
    options = (f"-max_total_time={max(seconds - START, 1)}", f"-seed={seed}")
    assert min(fuzz([name], tmp_path, *options, *more, seconds=seconds)) > 0


def fuzz(names: Iterable[str], folder: Path, *options: str, seconds: int = 60) -> list[int]:
    """Fuzzes parsers in a process of their own; returns how many inputs each got, fails with what was found."""
    # What a process that is started directly is said to have used at most is never less than what this one has.
    apart = ["sh", "-c", '"$@"; exit $?', "sh"]
    printed = ("-print_final_stats=1", f"-artifact_prefix={folder / 'found-'}")
    fuzzing = subprocess.run(
        [*apart, sys.executable, PROGRAM, ",".join(names), *printed, *options],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds + 240,
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    name = re.findall(r"^Fuzzing (\w+)$", fuzzing.stderr, re.MULTILINE)[-1:]
    inputs = [f"{path} ({path.read_bytes().hex()[:200]})" for path in folder.glob("found-*")]
    assert fuzzing.returncode == 0, (
        f"{fuzzing.stderr[-3_000:]}\n{name} with {options}, by {', '.join(inputs) or 'no input'}: "
        f"python {PROGRAM} TARGET FILE runs it again"
    )
    return [int(count) for count in re.findall(r"number_of_executed_units: (\d+)", fuzzing.stderr)]
