"""A small real Docusaurus site for the tests, built from `docusaurus_site/` with npm.

It takes a few minutes and half a gigabyte the first time; what was built is kept in the user's cache, for as long as
neither the site nor its pins change.
"""

from __future__ import annotations

import os
import shutil
from hashlib import sha256
from pathlib import Path

from filelock import FileLock
from npm import installed, run_program
from quality.harness import CACHE

SOURCES = Path(__file__).parents[1] / "docusaurus_site"
# What its configuration says: nobody serves it there.
PUBLIC = "https://book.example.org/book/"
BASE = "/book/"
# In seconds, for a test that may be the first to need the site.
LONGEST_BUILD = 1800


def docusaurus_site() -> Path:
    """The folder of the built site: to be served under BASE. Builds it where that hasn't been done.

    Raises AssertionError, with what was printed, when Node or the network is missing.
    """
    built = CACHE / f"docusaurus-{_hash(sorted(path for path in SOURCES.rglob('*') if path.is_file()))}"
    if not built.exists():
        work = installed(SOURCES / "package.json", LONGEST_BUILD / 2)
        with FileLock(f"{work}.lock"):
            if not built.exists():
                os.replace(_build(work), built)
    return built


def _build(work: Path) -> Path:
    """Builds in a folder whose packages stay for the next time."""
    for old in work.iterdir():
        if old.is_dir() and old.name != "node_modules":
            shutil.rmtree(old)
    shutil.copytree(SOURCES, work, dirs_exist_ok=True)
    run_program(work, "node", "node_modules/@docusaurus/core/bin/docusaurus.mjs", "build", timeout=LONGEST_BUILD / 2)
    return work / "build"


def _hash(paths: list[Path]) -> str:
    digest = sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.relative_to(SOURCES).as_posix()}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]
