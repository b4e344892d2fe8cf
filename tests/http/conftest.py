"""A service over the sample documents, with the embedder that users get."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import httpx
import pytest
from browser import close_browser
from service_on_socket import example_service

from answerable.interfaces.http.server import Server


@pytest.fixture(scope="session")
def example_server(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Server]:
    """A server with the sample documents uploaded to its one library, to be read and asked only."""
    with example_service(tmp_path_factory.mktemp("served"), cache_folder) as server:
        yield server


@pytest.fixture
def client(example_server: Server) -> Iterator[httpx.Client]:
    """A client of the server with the sample documents."""
    with httpx.Client(base_url=example_server.address, timeout=60) as client:
        yield client


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> Generator[None, None, None]:
    """One browser for all tests of the page that follow one another."""
    yield
    if nextitem is None or not nextitem.path.name.startswith("test_page"):
        close_browser()
