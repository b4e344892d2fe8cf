"""A virtual environment for each system, in the user's cache, so that none meets the others' pins."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import platformdirs
from measuring import ROOT

from peers.systems import System

CACHE = Path(platformdirs.user_cache_dir("answerable-benchmarks", appauthor=False)) / "peers"
EDITABLE = "--editable"
TOOLS = ("pip", "setuptools", "pkg_resources", "_distutils_hack")


class Failed(Exception):
    """A system can't be installed or ended with an error; says which, in its own words."""


def environment(system: System) -> Path:
    """The Python of the system's environment, made where it isn't there. Raises Failed."""
    folder = CACHE / system.module
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    # What is installed to be edited is that of this folder only.
    wanted = json.dumps([str(ROOT)] * (EDITABLE in system.requirements) + list(system.requirements))
    done = folder / "installed.json"
    if not (done.is_file() and done.read_text("utf-8") == wanted):
        shutil.rmtree(folder, ignore_errors=True)
        _run([_interpreter(system.python), "-m", "venv", str(folder)])
        _run([str(python), "-m", "pip", "install", "--quiet", *system.requirements])
        done.write_text(wanted, "utf-8")
    return python


def work(python: Path, task: str, system: System, corpus: Path, port: int) -> dict[str, Any]:
    """What the system's process reports on a task. Raises Failed."""
    report: dict[str, Any] = json.loads(
        _run([str(python), "-m", "peers.worker", task, system.module, str(corpus), str(port)])
    )
    return report


def megabytes(system: System) -> float:
    """The size of what was installed, without pip and compiled files."""
    packages = min((CACHE / system.module).glob("[Ll]ib/**/site-packages"))
    folders = [path for path in packages.iterdir() if not path.name.startswith(TOOLS)]
    if EDITABLE in system.requirements:
        folders.append(ROOT / "src")
    return sum(path.stat().st_size for folder in folders for path in _files(folder)) / 1e6


def _files(path: Path) -> Iterator[Path]:
    found = path.rglob("*") if path.is_dir() else [path]
    return (file for file in found if file.is_file() and "__pycache__" not in file.parts)


def _interpreter(wanted: str) -> str:
    if not wanted:
        return sys.executable
    name = f"python{wanted}"
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for candidate in (shutil.which(name), *sorted(versions.glob(f"{wanted}.*/bin/{name}"))):
        if candidate and subprocess.run([candidate, "-c", ""], capture_output=True, check=False).returncode == 0:
            return str(candidate)
    raise Failed(f"it needs Python {wanted}, which isn't here")


def _run(command: list[str]) -> str:
    """The last line that a command prints; the last one of its errors in what is raised."""
    variables = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "benchmarks"),
        # Nothing is fetched or reported while it is measured, and idle threads don't spin.
        "HF_HUB_OFFLINE": "1",
        "HAYSTACK_TELEMETRY_ENABLED": "False",
        "OMP_WAIT_POLICY": "PASSIVE",
        "TOKENIZERS_PARALLELISM": "false",
    }
    done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise Failed((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    return (done.stdout.strip().splitlines() or ["null"])[-1]
