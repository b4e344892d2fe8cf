"""Sync of many small files of which none has changed, one has, and all have been touched: CPU of the whole command.

Beside it: a walk by hand that asks the system for each file's size and time, and one that hashes each file. Vectors are
of chance under the local embedder's fingerprint, so that the command opens the library; it doesn't load the model.
`--files 10000`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from measuring import cpu_seconds, median_of, run_python, show

from answerable.datatypes import FloatArray
from answerable.embedding.local import LocalEmbedder
from answerable.library import Library
from answerable.protocols import Fingerprint, Passage, PassageVectors
from answerable.settings import Settings
from answerable.wiring.build import build_answerer, build_reader, build_splitter, build_store

FOLDERS = 100
PARAGRAPHS = 12
SYNC = "from answerable.interfaces.cli.main import run; run()"
STAT = """
import os, sys
def walk(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                yield from walk(entry.path)
            else:
                status = entry.stat()
                yield entry.path, status.st_size, status.st_mtime_ns
print(len(list(walk(sys.argv[1]))))
"""
HASH = """
import hashlib, os, sys
names = [os.path.join(folder, name) for folder, _, found in os.walk(sys.argv[1]) for name in found]
print(len({hashlib.sha256(open(name, "rb").read()).hexdigest() for name in names}))
"""


class CountingEmbedder:
    """Gives passages unit vectors of chance under the local embedder's fingerprint, and counts them."""

    def __init__(self) -> None:
        self._local = LocalEmbedder()
        self._chance = np.random.default_rng(1)
        self.embedded = 0

    @property
    def fingerprint(self) -> Fingerprint:
        """That of the local embedder, so that the command opens the library."""
        return self._local.fingerprint

    def embed_passages(self, passages: Sequence[Passage]) -> list[PassageVectors]:
        """Vectors of chance, as many as asked for."""
        self.embedded += len(passages)
        return [PassageVectors(self._rows(1)[0], self._rows(len(passage.spans))) for passage in passages]

    def embed_query(self, text: str) -> FloatArray:
        """The question's real vector."""
        return self._local.embed_query(text)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """The real count."""
        return self._local.count_tokens(texts)

    def cost(self, tokens: int) -> float:
        """Nothing."""
        return 0.0

    def _rows(self, count: int) -> FloatArray:
        rows = self._chance.standard_normal((count, self.fingerprint.dimension), np.float32)
        unit: FloatArray = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit


def text(number: int, changed: int = -1) -> str:
    """A page of a dozen sections, each about something else; one of them may have changed."""
    sections = (
        f"## Step {step} of {number}\n\n"
        + f"Turn the {step}th valve of pump {number} by {number % 360} degrees, then wait for {step} minutes. " * 8
        + ("It hisses now." if step == changed else "")
        for step in range(PARAGRAPHS if number == 0 else 1)
    )
    return f"# Page {number}\n\n" + "\n\n".join(sections) + "\n"


def write(folder: Path, files: int) -> None:
    """So many files in a hundred folders, older than what counts as just written."""
    long_ago = 1_600_000_000
    for number in range(files):
        path = folder / f"{number % FOLDERS:02}" / f"{number:05}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(number), "utf-8")
        os.utime(path, (long_ago, long_ago))


def open_library(folder: Path, embedder: CountingEmbedder) -> Library:
    """A library as the command opens it, but for the vectors."""
    settings = Settings()
    return Library(
        store=build_store(str(folder)),
        embedder=embedder,
        splitter=build_splitter(settings),
        reader=build_reader(settings),
        answerer=build_answerer(settings, embedder.fingerprint),
    )


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="answerable-sync-"))
    try:
        measure(place, given.files, given.repeats)
    finally:
        shutil.rmtree(place)


def measure(place: Path, files: int, repeats: int) -> None:
    """Adds the files once, then takes turns."""
    pages, library = place / "pages", place / "library"
    write(pages, files)
    embedder = CountingEmbedder()
    began = cpu_seconds()
    with open_library(library, embedder) as opened:
        added = opened.add(pages)
    first = cpu_seconds() - began

    def command(*options: str) -> float:
        done = run_python("-c", SYNC, "sync", "--library", library, "--json", *options)
        assert json.loads(done.report)["total"]["unchanged"] == files, done.report
        return done.cpu

    def touch() -> float:
        for path in pages.rglob("*.md"):
            os.utime(path)
        return command()

    unchanged, checksum, listed, by_stat, by_hash = median_of(
        repeats,
        command,
        lambda: command("--checksum"),
        lambda: run_python("-c", SYNC, "sources", "--library", library, "--json").cpu,
        lambda: run_python("-c", STAT, pages).cpu,
        lambda: run_python("-c", HASH, pages).cpu,
    )
    touched = touch()
    (pages / "00" / "00000.md").write_text(text(0, changed=7), "utf-8")
    embedder.embedded = 0
    with open_library(library, embedder) as opened:
        began = cpu_seconds()
        report = opened.sync().total
        one_changed = cpu_seconds() - began
        chunks = len(opened.chunks(opened.resolve(str(pages / "00" / "00000.md"))))
    show(
        f"Sync of {files:,} files",
        [
            ("nothing has changed, whole command", unchanged, "s of CPU"),
            ("the same with --checksum", checksum, "s of CPU"),
            ("all touched, none changed", touched, "s of CPU"),
            ("of it starting and reading the records (answerable sources)", listed, "s of CPU"),
            ("a walk by hand, size and time of each", by_stat, "s of CPU"),
            ("a walk by hand that hashes each", by_hash, "s of CPU"),
            ("one file changed, without starting", one_changed, "s of CPU"),
            ("passages of that file", chunks, ""),
            ("of them embedded", embedder.embedded, ""),
            ("adding all of them first, vectors of chance", first, "s of CPU"),
        ],
        added=added.added,
        changed=report.changed,
    )


if __name__ == "__main__":
    main()
