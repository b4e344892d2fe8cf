"""A library that follows folders on this disk, and helpers to test it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from helpers import READER, HashEmbedder

from answerable.answering.decide import Answering
from answerable.indexing.ingest import AddReport
from answerable.library import Library
from answerable.protocols import Store
from answerable.splitting.by_type import SplitterByType
from answerable.stores.memory import MemoryStore

LONG_AGO = 1_600_000_000
COUNTS = ("added", "changed", "moved", "unchanged", "removed", "kept")


@dataclass
class FollowedFiles:
    """A library with its store and an embedder that counts, and a folder for files."""

    folder: Path
    store: Store = field(default_factory=MemoryStore)
    embedder: HashEmbedder = field(default_factory=HashEmbedder)

    def __post_init__(self) -> None:
        answerer = Answering()
        self.library = Library(self.store, self.embedder, SplitterByType(200, 20), READER, answerer)

    def write(self, name: str, content: str | bytes, time: float | None = LONG_AGO) -> Path:
        """A file in the folder, last changed long ago unless `time` says otherwise; None leaves it to the system."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        if time is not None:
            os.utime(path, (time, time))
        return path

    def add(self, path: Path | None = None, dry_run: bool = False) -> dict[str, int]:
        """What adding the folder, or what else is named, does."""
        return counts(self.library.add(path or self.folder, dry_run=dry_run))

    def sync(self, origins: Sequence[str] = (), dry_run: bool = False, checksum: bool = False) -> dict[str, int]:
        """What syncing does, in all."""
        return counts(self.library.sync(origins, dry_run=dry_run, checksum=checksum).total)

    def texts(self) -> dict[str, str]:
        """What the library holds, by the names of the files in the folder."""
        found = [self.library.document(stored.id) for stored in self.library.documents()]
        return {document.source.removeprefix(f"{self.folder}/"): document.content for document in found}


def counts(report: AddReport) -> dict[str, int]:
    """What was done, without what is 0."""
    named = {name: getattr(report, name) for name in COUNTS}
    return {name: count for name, count in {**named, "failed": len(report.failures)}.items() if count}


def assert_same(store: Store, other: Store) -> None:
    """Both hold the same documents and chunks; vectors may differ by rounding."""
    assert list(store.documents()) == list(other.documents())
    assert store.count() == other.count()
    for stored in other.documents():
        assert store.document(stored.id) == other.document(stored.id)
        chunks, expected = store.indexed_chunks(stored.id), other.indexed_chunks(stored.id)
        assert [each.chunk for each in chunks] == [each.chunk for each in expected]
        for one, another in zip(chunks, expected, strict=True):
            assert float(one.vector @ another.vector) > 0.9999
            assert one.sentences == another.sentences
            assert np.allclose(one.sentence_vectors, another.sentence_vectors, atol=0.02)
            assert (dict(one.terms), dict(one.fields)) == (dict(another.terms), dict(another.fields))


def built_from_scratch(*origins: Path) -> Store:
    """What a new library holds after adding these."""
    made = FollowedFiles(origins[0])
    for origin in origins:
        made.library.add(origin)
    return made.store
