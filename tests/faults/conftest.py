"""What the tests of faults share."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


def may_mount() -> bool:
    """Whether a disk of a few megabytes can be mounted: by root, outside most containers."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return False
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        return done.returncode == 0


LINUX_ROOT = pytest.mark.skipif(not may_mount(), reason="this user may not mount a disk of a few megabytes here")


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


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Mounts a disk of its own with these options, or again with others; gives its folder."""
    folder = tmp_path / "disk"
    folder.mkdir()

    def mount(options: str) -> Path:
        again = "remount," if os.path.ismount(folder) else ""
        subprocess.run(["mount", "-t", "tmpfs", "-o", again + options, "tmpfs", folder], check=True)
        return folder

    yield mount
    # A process that still has a file open keeps nobody waiting.
    subprocess.run(["umount", "-l", folder], check=False)
