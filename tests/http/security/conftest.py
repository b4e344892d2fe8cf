"""Two libraries behind one server, with keys of every kind, and the same without keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from raw_requests import exchange, request
from service_on_socket import running
from targets import TEXTS, Target, short_guards

from answerable.interfaces.http.guards.key_file import Keys
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.settings import Settings
from answerable.wiring.build import build_library


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> dict[str, Settings]:
    """The settings of two libraries of one document each."""
    folder = tmp_path_factory.mktemp("libraries")
    made = {}
    for name, text in TEXTS.items():
        (folder / f"{name}.txt").write_text(text, "utf-8")
        made[name] = Settings(str(folder / name), reader="off", cache_folder=str(cache_folder / "quick"))
        with build_library(made[name]) as library:
            library.add(folder / f"{name}.txt")
    return made


@pytest.fixture(scope="session")
def key_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The key file of the server with keys."""
    return tmp_path_factory.mktemp("keys") / "keys.json"


@pytest.fixture(scope="session")
def servers(
    libraries: dict[str, Settings], tmp_path_factory: pytest.TempPathFactory, key_path: Path
) -> Iterator[tuple[Target, Target]]:
    """A server with keys and one without, over the same libraries."""
    file = key_path
    made = {
        "admin": Keys(file).add("admin"),
        "ask": Keys(file).add("ask"),
        "admin of book": Keys(file).add("admin", "book"),
        "ask of book": Keys(file).add("ask", "book"),
        "removed": Keys(file).add("admin"),
    }
    Keys(file).remove(made["removed"][0].id)
    keys = {name: secret for name, (_, secret) in made.items()}
    targets = []
    with ExitStack() as stack:
        for held in (Keys(file), None):
            service = open_service(libraries, Options(data_folder=tmp_path_factory.mktemp("server"), max_files=5))
            server = stack.enter_context(running(service, short_guards(held)))
            port = server.socket.getsockname()[1]
            documents = {name: service.libraries.get(name).documents()[0].id for name in libraries}
            targets.append(Target(port, service, documents, keys if held else {}, held))
        yield targets[0], targets[1]


@pytest.fixture
def keyed(servers: tuple[Target, Target]) -> Iterator[Target]:
    """The server with keys, which must be as it was afterwards."""
    yield from _unharmed(servers[0])


@pytest.fixture
def local(servers: tuple[Target, Target]) -> Iterator[Target]:
    """The server without keys, which must be as it was afterwards."""
    yield from _unharmed(servers[1])


def _unharmed(target: Target) -> Iterator[Target]:
    before = target.state()
    yield target
    assert target.state() == before
    assert exchange(target.port, request("GET", "/health")).status == 200
