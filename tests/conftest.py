"""Fixtures of all tests: separate folders for each test, and the real embedder."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder

# Tests that are started in the background of a script inherit that Ctrl-C is ignored, and so would what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes on a busy machine says nothing. `make test` draws the same examples each time, so that it
# fails for a change only; `make test-long` takes the profile `long`, which draws others each time.
for name, number in {"short": 20, "long": 100}.items():
    settings.register_profile(
        name,
        max_examples=number,
        derandomize=name == "short",
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile("short")

_numbers = count()


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all tests of this run, in whichever process: texts are embedded and the model compiled once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "answerable-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def embedder(cache_folder: Path) -> CachedEmbedder:
    """The embedder that users get."""
    return CachedEmbedder(
        LocalEmbedder(cache_folder=cache_folder / "models"), cache_folder / "embeddings.db", 10_000_000_000
    )


def _leave_the_users_files(patch: pytest.MonkeyPatch, home: Path, cache_folder: Path) -> None:
    """Neither the tests nor the processes they start see the settings, libraries and caches of whoever runs them."""
    for name in [name for name in os.environ if name.startswith("ANSWERABLE_")]:
        patch.delenv(name)
    home.mkdir(parents=True)
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CACHE_HOME": home / "cache",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "ANSWERABLE_CACHE_FOLDER": cache_folder,
    }.items():
        patch.setenv(name, str(folder))


@pytest.fixture(scope="session", autouse=True)
def _homes(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Path]:
    """A folder for the home of each test. What is set up for several tests has one too."""
    homes = tmp_path_factory.mktemp("homes")
    with pytest.MonkeyPatch.context() as patch:
        _leave_the_users_files(patch, homes / "shared", cache_folder)
        yield homes


@pytest.fixture(autouse=True)
def _away_from_the_users_files(_homes: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # `mktemp` lists all earlier folders each time.
    _leave_the_users_files(monkeypatch, _homes / str(next(_numbers)), cache_folder)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests an hour where they don't say otherwise."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))


def pytest_report_header() -> str:
    """Which Qdrant the tests of its store run on."""
    from qdrant_server import which

    return f"qdrant: {which()}"
