"""Make libraries that add documents with workers, sources for them, and compare their contents."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import steps

from answerable.indexing.worker_pool import JobQueue, WorkerPool
from answerable.library import Library
from answerable.settings import Settings
from answerable.wiring.build import build_answerer, build_reader, build_store

EXAMPLES = Path(__file__).parents[2] / "examples"


def make_library(address: str | Path, start: Callable[[], JobQueue] | None = None) -> Library:
    """A library as `answerable.open` makes it, with the tests' tools."""
    pipeline, settings = steps.make_pipeline(), Settings()
    worker_pool = WorkerPool(start) if start else None
    return Library(
        store=build_store(str(address)),
        embedder=pipeline.embedder,
        splitter=pipeline.splitter,
        reader=build_reader(settings, ahead=worker_pool),
        answerer=build_answerer(settings, pipeline.embedder.fingerprint),
        worker_pool=worker_pool,
    )


def make_files(folder: Path, count: int) -> Path:
    """The sample files, `count` texts of several passages, and some files that can't be added."""
    folder.mkdir()
    for path in EXAMPLES.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    for number in range(count):
        lines = (f"Report {number}, part {part}: " + f"the river rose by {number + part} cm. " * 6 for part in range(9))
        (folder / f"report-{number:03}.txt").write_text("\n\n".join(lines))
    (folder / "broken.pdf").write_bytes(b"%PDF-1.7\nnothing else")
    (folder / "blank.txt").write_text(" \n" * 30)
    return folder


def holdings(library: Library) -> list[dict[str, Any]]:
    """Every document with its chunks, vectors and all, by source."""
    found = []
    for stored in library.documents():
        document = library.document(stored.id)
        chunks = library._store.indexed_chunks(stored.id)
        found.append({"document": document, "chunks": [each.chunk for each in chunks], "indexed": chunks})
    return found


def assert_same(one: Library, other: Library) -> None:
    """The same documents, chunks and vectors."""
    ours, theirs = holdings(one), holdings(other)
    assert [each["document"] for each in ours] == [each["document"] for each in theirs]
    assert [each["chunks"] for each in ours] == [each["chunks"] for each in theirs]
    for mine, yours in zip(ours, theirs, strict=True):
        for left, right in zip(mine["indexed"], yours["indexed"], strict=True):
            assert float(np.dot(left.vector, right.vector)) > 0.9999
            assert (left.terms, left.fields, left.sentences) == (right.terms, right.fields, right.sentences)
            assert np.allclose(left.sentence_vectors, right.sentence_vectors, atol=1e-3)
