"""A cache in front of an embedder, so that nothing is embedded twice on this machine."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from answerable.disk.files import make_file, make_folder, use_write_ahead_log
from answerable.errors import LibraryError
from answerable.protocols import Embedder, Fingerprint, Passage, PassageVectors

LOOKUP = 500  # keys in one query: before version 3.32, SQLite allowed at most 999 parameters

# Seconds to wait for another process that writes.
WAIT = 10.0


class CachedEmbedder:
    """Caches vectors of passages by model, provider address and content. Questions are not cached.

    The file holds vectors and hashes, no texts. `limit` is in bytes; the oldest entries are deleted first. If the cache
    cannot be read or written, the embedder is called instead. `addresses` maps providers to addresses, since two
    servers may use the same name for different models.
    """

    def __init__(self, embedder: Embedder, path: Path, limit: int, addresses: Mapping[str, str] | None = None) -> None:
        self.inner = embedder
        self.embed_query, self.count_tokens, self.cost = embedder.embed_query, embedder.count_tokens, embedder.cost
        self._limit = limit
        self._addresses = addresses or {}
        self._lock = threading.Lock()
        self.hits = 0
        self.embedded = 0
        self._database = _open(path)

    @property
    def fingerprint(self) -> Fingerprint:
        """The fingerprint of the embedder behind the cache."""
        return self.inner.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Embed passages; equal passages are embedded only once."""
        return self.embed(passages)[0]

    def embed(self, passages: Sequence[Passage], anew: bool = False) -> tuple[list[PassageVectors], int]:
        """Return the vectors and how many were not in the cache; `anew` ignores and replaces cached ones."""
        keys = [self._key(passage) for passage in passages]
        known = {} if anew else self._load(keys)
        missing = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in known}
        if missing:
            vectors = self.inner.embed_passages(list(missing.values()))
            fresh = {key: _pack(vector) for key, vector in zip(missing, vectors, strict=True)}
            self._save(fresh)
            # Return the vectors as they are read back, so that the first call returns the same numbers as later calls.
            known.update((key, self._unpack(blob)) for key, blob in fresh.items())
        self.hits += len(passages) - len(missing)
        self.embedded += len(missing)
        return [known[key] for key in keys], len(missing)

    def forget(self, passages: Sequence[Passage]) -> None:
        """Erase the vectors of these passages from the file; they are embedded again when next needed.

        Rewrites the whole file. Raise LibraryError if that fails, for example on a full disk.
        """
        if self._database is None:
            return
        with self._lock:
            try:
                with self._database:
                    keys = [(self._key(passage),) for passage in passages]
                    found = self._database.executemany("DELETE FROM cache WHERE key = ?", keys).rowcount
                if found:
                    # Deleted rows stay in the free pages of the file, and copies of them in the write-ahead log.
                    self._database.execute("VACUUM")
                    self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                raise LibraryError(
                    f"The cache of vectors can't be changed ({error}). Try again when no other process adds documents, "
                    "or delete the folder `cache` of the configuration."
                ) from error

    def _key(self, passage: Passage) -> bytes:
        spans = ",".join(f"{start}-{end}" for start, end in passage.spans)
        fingerprint = self.fingerprint
        address = self._addresses.get(fingerprint.provider, "")
        # The keys of local embedders contain no address, so they are the same in all versions.
        maker = f"{fingerprint} at {address}" if address else str(fingerprint)
        return sha256(f"{maker}\0{spans}\0{passage.text}".encode("utf-8", "replace")).digest()

    def _load(self, keys: Sequence[bytes]) -> dict[bytes, PassageVectors]:
        found: dict[bytes, PassageVectors] = {}
        if self._database is None:
            return found
        unique = list(dict.fromkeys(keys))
        with self._lock:
            try:
                for start in range(0, len(unique), LOOKUP):
                    some = unique[start : start + LOOKUP]
                    marks = ",".join("?" * len(some))
                    for key, blob in self._database.execute(
                        f"SELECT key, vectors FROM cache WHERE key IN ({marks})", some
                    ):
                        if self._is_valid(blob):
                            found[key] = self._unpack(blob)
            except sqlite3.Error:
                return {}
        return found

    def _is_valid(self, blob: bytes) -> bool:
        """Return whether these bytes can be vectors: each of length one, or all zeros for a span without tokens."""
        size = 2 * self.fingerprint.dimension
        if not blob or len(blob) % size:
            return False
        rows = np.frombuffer(blob, np.float16).astype(np.float32).reshape(-1, size // 2)
        if not np.isfinite(rows).all():
            return False
        lengths = np.linalg.norm(rows, axis=1)
        return bool(np.all((np.abs(lengths - 1) < 0.01) | (lengths == 0)))

    def _unpack(self, blob: bytes) -> PassageVectors:
        rows = np.frombuffer(blob, np.float16).astype(np.float32).reshape(-1, self.fingerprint.dimension)
        rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return PassageVectors(rows[0], rows[1:])

    def _save(self, fresh: dict[bytes, bytes]) -> None:
        if self._database is None:
            return
        with self._lock:
            try:
                with self._database:
                    self._database.executemany(
                        "INSERT OR REPLACE INTO cache (key, vectors) VALUES (?, ?)", fresh.items()
                    )
                    self._trim()
            except sqlite3.Error:
                return

    def _trim(self) -> None:
        assert self._database is not None
        (pages,), (size,) = (
            self._database.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size")
        )
        (free,) = self._database.execute("PRAGMA freelist_count").fetchone()
        if (pages - free) * size > self._limit:
            self._database.execute(
                "DELETE FROM cache WHERE number IN "
                "(SELECT number FROM cache ORDER BY number LIMIT (SELECT count(*) / 4 + 1 FROM cache))"
            )


def _pack(vectors: PassageVectors) -> bytes:
    return np.vstack((vectors.whole[None], vectors.spans)).astype(np.float16).tobytes()


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        make_folder(path.parent)
        make_file(path)
        database = sqlite3.connect(path, timeout=WAIT, check_same_thread=False)
        use_write_ahead_log(database, WAIT)
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(
            "CREATE TABLE IF NOT EXISTS cache "
            "(number INTEGER PRIMARY KEY AUTOINCREMENT, key BLOB UNIQUE NOT NULL, vectors BLOB NOT NULL)"
        )
        return database
    except (OSError, sqlite3.Error):
        return None
