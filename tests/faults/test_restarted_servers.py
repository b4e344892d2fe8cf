"""A server of libraries that is restarted in the middle of adding, searching and copying: all of it goes on.

How writers and the server itself are killed is in `stores/test_postgres_crash.py` and `stores/test_qdrant_crash.py`,
what is said of a server that stays away in `stores/test_postgres.py` and `stores/test_qdrant_failures.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from faults.door import door_to
from faults.sound_library import assert_sound, library_on, write_files
from postgres_server import in_database, private_server
from qdrant_server import StandIn

from answerable.maintenance.copy import copy_store
from answerable.protocols import Store
from answerable.stores.memory import MemoryStore
from answerable.stores.postgres.store import PostgresStore
from answerable.stores.qdrant.store import QdrantStore

FILES = 8
AWAY = 0.6


@dataclass
class Restarted:
    """A store, and what restarts its server, which is away for a moment then."""

    opened: Callable[[], Store]
    restart: Callable[[], threading.Thread]


@pytest.fixture(params=["postgres", "qdrant"])
def server(request: pytest.FixtureRequest) -> Iterator[Restarted]:
    """A server of its own, with a library that isn't there yet."""
    yield from {"postgres": _postgres, "qdrant": _qdrant}[request.param]()


def _postgres() -> Iterator[Restarted]:
    with private_server() as made:
        address = in_database(made.address, "restarted")

        def restart() -> threading.Thread:
            made.stop()
            starting = threading.Timer(AWAY, made.start)
            starting.start()
            return starting

        yield Restarted(lambda: PostgresStore(address), restart)


def _qdrant() -> Iterator[Restarted]:
    with closing(StandIn()) as made, door_to(urlsplit(made.url).port or 0) as door:
        address = f"qdrant+http://127.0.0.1:{door.port}/restarted?timeout=5"
        yield Restarted(lambda: QdrantStore(address), lambda: door.shut_for(AWAY))


def test_while_adding_searching_and_removing(server: Restarted, tmp_path: Path) -> None:
    files = write_files(tmp_path / "documents", *range(FILES))
    with library_on(server.opened()) as library:
        for number, file in enumerate(files):
            starting = server.restart() if number in (1, 5) else None
            assert library.add(file).added == 1
            if starting:
                starting.join()
        starting = server.restart()
        assert library.search("La estación midió lluvia")
        starting.join()
        starting = server.restart()
        library.unfollow(str(files[0]))
        starting.join()
        assert library.verify().is_clean
    assert assert_sound(server.opened()) == {str(file) for file in files[1:]}


@pytest.mark.long
def test_while_copying(server: Restarted, tmp_path: Path) -> None:
    source = MemoryStore()
    library = library_on(source)
    library.add(write_files(tmp_path / "documents", *range(FILES))[0].parent)
    starting: list[threading.Thread] = []
    with closing(server.opened()) as target:
        # Between two documents, and long enough to be away when the next one comes.
        copy_store(source, target, lambda report: starting.append(server.restart()) if report.copied == 4 else None)
        assert target.count() == source.count()
    for thread in starting:
        thread.join()
    assert starting
    assert len(assert_sound(server.opened())) == FILES
