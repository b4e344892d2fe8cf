"""Each call to the disk fails in turn, as on a full, broken or read-only one, whatever is being done to a library.

Two calls of one action in `make test`, up to 400 of each in `make test-long`.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from faults import faulty

LONG = pytest.mark.long
ERRORS = {"full": (errno.ENOSPC, True), "broken once": (errno.EIO, False), "read-only": (errno.EROFS, True)}
LONGEST_MESSAGE = 1_500


@pytest.mark.skipif(sys.platform != "linux", reason="preloading works otherwise elsewhere")
@pytest.mark.timeout(14_400)
@pytest.mark.parametrize(
    ("action", "kind", "failures"),
    [
        ("add", "full", 2),
        *(pytest.param(action, kind, 400, marks=LONG) for action in faulty.ACTIONS for kind in ERRORS),
    ],
)
def test_any_call_fails(action: str, kind: str, failures: int, tmp_path: Path, failing_disk: Path) -> None:
    faulty.prepare(tmp_path)
    error, is_lasting = ERRORS[kind]
    undisturbed, *outcomes = _outcomes(failing_disk, action, tmp_path, error, is_lasting, failures)
    assert undisturbed["calls"] > 0
    assert "error" not in undisturbed
    told = 0
    for outcome in [undisturbed, *outcomes]:
        assert outcome["wrong"] == [], outcome
        # What nobody needs may fail in silence: what is left of an index can be made anew.
        assert outcome["status"] == 0, outcome
        if "error" in outcome:
            told += 1
            _assert_clear(outcome["message"], tmp_path)
            assert kind != "full" or outcome["error"] == "DiskFull", outcome
    assert told, "no failure was told"


def _outcomes(shim: Path, action: str, folder: Path, error: int, is_lasting: bool, failures: int) -> list[Any]:
    arguments = [shim, action, folder, error, int(is_lasting), failures]
    done = subprocess.run(
        [sys.executable, faulty.__file__, *map(str, arguments)],
        env={**os.environ, "LD_PRELOAD": str(shim)},
        capture_output=True,
        text=True,
        timeout=14_000,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def _assert_clear(message: str, folder: Path) -> None:
    """It says which file, what is wrong and what to do, on one line."""
    assert "\n" not in message
    assert len(message) < LONGEST_MESSAGE
    assert str(folder) in message
    assert any(word in message for word in ("again", "--library", "backup")), message
