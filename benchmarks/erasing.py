"""Removing one document from a library in a folder, with and without rewriting its files: CPU, opening and closing too.

Vectors are of chance. `--chunks 20000`, or `--library FOLDER` for a copy of a library that is there. Takes turns.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from measuring import cpu_seconds, median_of, show
from synthetic import library_of

from answerable.stores.embedded.store import EmbeddedStore


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="answerable-erasing-"))
    try:
        folder = place / "library"
        shutil.copytree(given.library or library_of(given.chunks)[0], folder)
        measure(folder, given.repeats)
    finally:
        shutil.rmtree(place)


def measure(folder: Path, repeats: int) -> None:
    """Removes a document at a time."""

    def opened(change: bool, erases: bool) -> float:
        before = cpu_seconds()
        store = EmbeddedStore(folder, create=False)
        store.refresh()
        if change:
            store.remove(next(store.documents()).id)
        if erases:
            store.erase()
            assert not store.unerased().passages
        store.close()
        return cpu_seconds() - before

    # The first one builds the index if it isn't there.
    opened(change=False, erases=False)
    nothing, removed, erased = median_of(
        repeats,
        lambda: opened(change=False, erases=False),
        lambda: opened(change=True, erases=False),
        lambda: opened(change=True, erases=True),
    )
    store = EmbeddedStore(folder, create=False)
    documents, chunks = store.count()
    store.close()
    show(
        f"Removing one document from a library of {chunks:,} passages",
        [
            ("opening and closing it", nothing, "s of CPU"),
            ("and removing", removed, "s of CPU"),
            ("and rewriting the files", erased, "s of CPU"),
            ("database", (folder / "library.db").stat().st_size / 1e6, "MB"),
        ],
        documents=documents,
    )


if __name__ == "__main__":
    main()
