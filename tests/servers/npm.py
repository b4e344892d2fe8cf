"""Programs of Node.js for the tests, and the packages that npm brings them, kept in the user's cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from filelock import FileLock
from quality.harness import CACHE

# Read here, since every test runs with an environment of its own; npm's settings are in the user's home.
# Where the system has no Node.js of an age that will do, the one beside this Python is used.
_ENVIRONMENT = {
    **os.environ,
    "CI": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
}
_OF = "of Node.js 22 or newer: make system"


def run_program(folder: Path, program: str, *arguments: str, timeout: float) -> str:
    """What a program prints that runs in a folder. AssertionError, with what was printed, if it is missing or fails."""
    command = shutil.which(program, path=_ENVIRONMENT["PATH"])
    assert command, f"the tests need {program}, {_OF}"
    done = subprocess.run(
        [command, *arguments],
        cwd=folder,
        env=_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=timeout,
        check=False,
    )
    printed = done.stdout.decode("utf-8", "replace")
    said = f"{program} {' '.join(arguments)} ({_OF}):\n{printed[-4000:]}"
    assert done.returncode == 0, said
    return printed


def installed(package: Path, timeout: float) -> Path:
    """A folder with the packages that a package.json names, installed the first time."""
    folder = CACHE / f"npm-{sha256(package.read_bytes()).hexdigest()[:16]}"
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not (folder / "installed").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(package, folder)
            run_program(folder, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund", timeout=timeout)
            (folder / "installed").touch()
    return folder
