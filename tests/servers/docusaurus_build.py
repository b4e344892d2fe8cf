"""A small real Docusaurus site for the tests, built from `docusaurus_site/` with npm.

It takes a few minutes and half a gigabyte the first time; what was built is kept in the user's cache, for as long as
neither the site nor its pins change.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from filelock import FileLock
from quality.harness import CACHE

SOURCES = Path(__file__).parents[1] / "docusaurus_site"
# What its configuration says: nobody serves it there.
PUBLIC = "https://book.example.org/book/"
BASE = "/book/"
# In seconds, for a test that may be the first to need the site.
LONGEST_BUILD = 1800
# Read here, since every test runs with an environment of its own; npm's settings are in the user's home.
# Where the system has no Node.js of an age that will do, the one beside this Python is used.
_ENVIRONMENT = {
    **os.environ,
    "CI": "1",
    "NO_UPDATE_NOTIFIER": "1",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
}


def docusaurus_site() -> Path:
    """The folder of the built site: to be served under BASE. Builds it where that hasn't been done.

    Raises AssertionError, with what was printed, when Node or the network is missing.
    """
    built = CACHE / f"docusaurus-{_hash(sorted(path for path in SOURCES.rglob('*') if path.is_file()))}"
    if not built.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        work = CACHE / f"docusaurus-npm-{_hash([SOURCES / 'package.json'])}"
        with FileLock(f"{work}.lock"):
            if not built.exists():
                os.replace(_build(work), built)
    return built


def _build(work: Path) -> Path:
    """Builds in a folder whose packages stay for the next time."""
    if not (work / "installed").exists():
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        shutil.copy(SOURCES / "package.json", work)
        _run(work, "npm", "install", "--no-package-lock", "--no-audit", "--no-fund")
        (work / "installed").touch()
    for old in work.iterdir():
        if old.is_dir() and old.name != "node_modules":
            shutil.rmtree(old)
    shutil.copytree(SOURCES, work, dirs_exist_ok=True)
    _run(work, "node", "node_modules/@docusaurus/core/bin/docusaurus.mjs", "build")
    return work / "build"


def _run(work: Path, program: str, *arguments: str) -> None:
    command = shutil.which(program, path=_ENVIRONMENT["PATH"])
    assert command, f"the tests need {program}, of Node.js 20 or newer: make system"
    done = subprocess.run(
        [command, *arguments],
        cwd=work,
        env=_ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LONGEST_BUILD / 2,
        check=False,
    )
    assert done.returncode == 0, f"{program} {' '.join(arguments)}:\n{done.stdout.decode('utf-8', 'replace')[-4000:]}"


def _hash(paths: list[Path]) -> str:
    digest = sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SOURCES).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]
