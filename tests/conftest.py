"""What every test shares: folders of its own, and the real embedder."""

from __future__ import annotations

import os
import signal
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import LocalEmbedder

# Tests that are started in the background of a script inherit that Ctrl-C is ignored, and so would what they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes on a busy machine says nothing. `make test-long` takes the profile `long`.
for name, number in {"short": 20, "long": 100}.items():
    settings.register_profile(name, max_examples=number, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("short")

_homes = count()


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


@pytest.fixture(autouse=True)
def _away_from_the_users_files(
    tmp_path_factory: pytest.TempPathFactory, cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the tests nor the processes they start see the settings, libraries and caches of whoever runs them."""
    for name in [name for name in os.environ if name.startswith("ANSWERABLE_")]:
        monkeypatch.delenv(name)
    # `mktemp` lists all earlier folders each time.
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    for name, folder in {
        "HOME": home,
        "USERPROFILE": home,
        "XDG_CACHE_HOME": home / "cache",
        "XDG_CONFIG_HOME": home / "config",
        "XDG_DATA_HOME": home / "data",
        "ANSWERABLE_CACHE_FOLDER": cache_folder,
    }.items():
        monkeypatch.setenv(name, str(folder))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give long tests an hour where they don't say otherwise."""
    for item in items:
        if item.get_closest_marker("long") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(3600))


def pytest_report_header() -> str:
    """Which Qdrant the tests of its store run on."""
    from qdrant_server import which

    return f"qdrant: {which()}"
