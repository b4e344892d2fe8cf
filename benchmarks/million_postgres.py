"""The step of `million.py` that copies a library to a PostgreSQL server of its own and searches it there."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path

import psycopg
from measuring import ROOT, cpu_seconds
from million_steps import searched

from answerable.maintenance.copy import copy_store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.postgres.store import PostgresStore

sys.path.insert(0, str(ROOT / "tests" / "servers"))

from postgres_server import in_database, private_server

SETTINGS = ("shared_buffers=2GB", "max_wal_size=8GB", "maintenance_work_mem=4GB")


def serve_postgres(folder: Path) -> dict[str, float]:
    """What copying and searching took; CPU is that of client and server together."""
    with private_server("", *SETTINGS) as server:
        store = PostgresStore(in_database(server.address, "million"))
        source = EmbeddedStore(folder)
        began = time.monotonic()
        copy_store(source, store)
        found = {"copying, with binary quantisation, wall s": time.monotonic() - began}
        source.close()
        with psycopg.connect(server.address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        found["database, bytes a chunk"] = _size(server.folder / "data" / "base") / store.count()[1]

        def clock() -> float:
            # A tick is a hundredth of a second: too coarse for one search, not for a mean.
            return cpu_seconds() + _server_ticks(server.folder) / os.sysconf("SC_CLK_TCK")

        found |= searched(store, folder, clock, clock())
    coarse = ("p50 CPU ms", "p95 CPU ms", "first search, CPU s")
    return {f"PostgreSQL, {name}": value for name, value in found.items() if not name.endswith(coarse)}


def _size(folder: Path) -> int:
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def _server_ticks(server: Path) -> int:
    """What the server's processes that are there have used so far."""
    leader = int((server / "data" / "postmaster.pid").read_text().split()[0])
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == leader:
                ticks += int(fields[11]) + int(fields[12])
    return ticks
