"""A disk that is full, and one that turns read-only, under a library.

A real one where this user may mount one, at least in a namespace of his own; and everywhere a folder that looks like
one to all calls. What is written through memory only fails on a real one: those tests fail where none can be mounted.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults import small_disk
from faults.conftest import LINUX, mount_namespace

REAL = ["real"] if mount_namespace() is not None else []
KINDS = ["looks like one", *REAL]
LONG = pytest.mark.long


@LINUX
@pytest.mark.parametrize(
    ("kind", "megabytes"),
    [
        (KINDS[-1], 60),
        *(pytest.param(kind, size, marks=LONG) for kind in KINDS for size in (0.2, 3)),
        *(pytest.param(kind, 60, marks=LONG) for kind in KINDS[:-1]),
    ],
)
def test_a_full_disk_ends_nothing_but_the_add(kind: str, megabytes: float, tmp_path: Path, failing_disk: Path) -> None:
    """The engine of the index writes through memory, where a full disk would end the process without a word."""
    run("fill", kind, tmp_path, megabytes, failing_disk)


@LINUX
@LONG
def test_another_program_takes_all_space(tmp_path: Path, failing_disk: Path) -> None:
    run("taken_by_another", "real", tmp_path, 150, failing_disk)


@LINUX
def test_a_full_disk_is_named_as_full_at_the_first_write(tmp_path: Path, failing_disk: Path) -> None:
    run("first_write", "real", tmp_path, 4, failing_disk)


@LINUX
def test_a_server_says_that_the_disk_is_full_and_goes_on_when_there_is_room(tmp_path: Path, failing_disk: Path) -> None:
    run("serve", "real", tmp_path, 150, failing_disk)


@LINUX
@pytest.mark.parametrize("kind", [KINDS[-1], *(pytest.param(kind, marks=LONG) for kind in KINDS[:-1])])
def test_a_disk_that_turns_read_only(kind: str, tmp_path: Path, failing_disk: Path) -> None:
    run("turn_read_only", kind, tmp_path, 200, failing_disk)


def run(action: str, kind: str, folder: Path, megabytes: float, shim: Path) -> None:
    """Does it in a process of its own, and fails with what that says."""
    program = [sys.executable, small_disk.__file__, action, str(folder / "disk"), str(megabytes)]
    if kind == "real":
        assert REAL, "This needs a disk of its own: run it as root, or allow namespaces to users."
        command, environment = [*(mount_namespace() or []), *program], {}
    else:
        command, environment = [*program, str(shim)], {"LD_PRELOAD": str(shim)}
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3_000:]
