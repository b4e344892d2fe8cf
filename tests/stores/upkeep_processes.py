"""What the kill tests let other processes do to a whole library: `python upkeep_processes.py ACTION …`."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from helpers import HashEmbedder

from answerable.indexing.ingest import Ingestion
from answerable.maintenance.copy import copy_store
from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.maintenance.reindex import reindex
from answerable.splitting.by_type import SplitterByType
from answerable.wiring.build import build_store

OLD, NEW = HashEmbedder(64), HashEmbedder(32)


def copy(source: str, target: str) -> None:
    """Copies a library to another address."""
    with closing(build_store(source)) as copied, closing(build_store(target)) as made:
        copy_store(copied, made)


def export(source: str, file: str) -> None:
    """Writes a library to a file."""
    with closing(build_store(source)) as store:
        export_store(store, Path(file))


def restore(file: str, target: str) -> None:
    """Imports a file."""
    import_store(Path(file), lambda: build_store(target))


def change(address: str) -> None:
    """Gives a library another embedder."""
    with closing(build_store(address)) as store:
        reindex(store, NEW)


def embed(address: str) -> None:
    """Makes the vectors that a library waits for."""
    with closing(build_store(address)) as store:
        Ingestion(store, OLD, SplitterByType(200, 20), 0).fill()


ACTIONS = {action.__name__: action for action in (copy, export, restore, change, embed)}

if __name__ == "__main__":
    print("begins", flush=True)
    started = time.monotonic()
    ACTIONS[sys.argv[1]](*sys.argv[2:])
    print(time.monotonic() - started, flush=True)
