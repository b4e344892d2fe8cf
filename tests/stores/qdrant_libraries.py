"""Libraries on a Qdrant server as its tests need them: tiny vectors, documents written the real way."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers import HashEmbedder, add, make_document
from qdrant_client import QdrantClient
from qdrant_server import api_key

from answerable.protocols import Store
from answerable.stores.qdrant.address import parse_address
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
    return QdrantClient(url=parse_address(address).url, api_key=api_key() or None, check_compatibility=False)
