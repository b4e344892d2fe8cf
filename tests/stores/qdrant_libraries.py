"""Libraries on a Qdrant server as its tests need them: tiny vectors, documents written the real way."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import closing
from typing import Any

import numpy as np
from helpers import HashEmbedder, add, make_document
from qdrant_client import QdrantClient
from qdrant_server import Fault, StandIn, api_key

from answerable.protocols import Store
from answerable.stores.addresses import parse_qdrant
from answerable.stores.qdrant.store import QdrantStore

ANYWHERE = np.array([1, 0, 0, 0], np.float32)
PRINT = HashEmbedder(4).fingerprint


def opened(address: str, **options: Any) -> QdrantStore:
    made = QdrantStore(address, key=options.pop("key", api_key()), **options)
    if made.is_writable:
        made.bind_embedder(PRINT)
    return made


def write(store: Store, name: str, text: str = "Uno dos tres.", **metadata: Any) -> None:
    add(store, make_document(text, name, source=f"/{name}", **metadata), embedder=HashEmbedder(4))


def ids(store: Store) -> list[str]:
    return [stored.id for stored in store.documents()]


def client(address: str) -> QdrantClient:
    return QdrantClient(url=parse_qdrant(address).url, api_key=api_key() or None, check_compatibility=False)


def points(server: StandIn) -> dict[str, int]:
    """How many points each collection has."""
    with closing(QdrantClient(url=server.url, check_compatibility=False)) as client:
        names = [collection.name for collection in client.get_collections().collections]
        return {name: client.count(name).count for name in names}


def killed_at(server: StandIn, request: int, is_done: bool, work: Callable[[], None]) -> bool:
    """Does something in a process of its own, killed at one of its requests; whether it came so far."""
    child: Future[int] = Future()
    first = len(server.requests)

    def kill(number: int, done: bool) -> Fault | None:
        if number == first + request and done == is_done:
            os.kill(child.result(), signal.SIGKILL)
            return Fault()
        return None

    server.meddle = kill
    pid = os.fork()
    if not pid:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    child.set_result(pid)
    status = os.waitpid(pid, 0)[1]
    server.meddle = lambda number, is_done: None
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "it failed by itself"
    return os.WIFSIGNALED(status)
