"""Fixtures of the tests of faults."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="preloading and mounting work otherwise elsewhere")


@cache
def mount_namespace() -> list[str] | None:
    """The command before one that may mount disks, which go with it; None where this user can have no such thing."""
    for options in (["--mount"], ["--mount", "--map-root-user"]):
        command = ["unshare", *options]
        with tempfile.TemporaryDirectory() as folder, suppress(FileNotFoundError):
            tried = [*command, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
            if subprocess.run(tried, capture_output=True).returncode == 0:
                return command
    return None


def compiled(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library to preload, from the C file of this name."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    assert compiler, "this test compiles a small C file: install gcc (Debian: apt-get install gcc libc6-dev)"
    built = tmp_path_factory.mktemp("preloaded") / f"{name}.so"
    source = Path(__file__).with_name(name)
    done = subprocess.run([compiler, "-shared", "-fPIC", "-o", built, source, "-ldl"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return built


@pytest.fixture(scope="session")
def failing_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library to preload into processes whose disk is to fail."""
    return compiled("failing_disk.c", tmp_path_factory)
