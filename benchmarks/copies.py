"""A library in which one text stands thousands of times: what a search finds there, and what it costs.

Debian's documentation under vectors of a stand-in (see `million.py`), and beside it a licence in 12,000 documents. One
half of the questions is about the licence, the other half are those of `million.py`. CPU of the searching process and
of its index, means. With another version's sources on the path (`PYTHONPATH`) it measures that one on a folder of its
own: `--chunks 10000 --copies 12000 --folder FOLDER` (kept, and used again).
"""

from __future__ import annotations

import argparse
import os
import statistics
from contextlib import closing
from pathlib import Path

from debian import CACHE, texts
from measuring import cpu_seconds, show
from million_steps import BEST, HELD_OUT, Given, Unindexed, add, library, word_vectors
from standin import StandInEmbedder

from answerable.datatypes import Document
from answerable.stores.embedded.store import EmbeddedStore

LICENCE = (
    "Permission is granted to copy, distribute and modify this document under the terms of the free documentation "
    "licence, version 1.3 or any later version, with no invariant sections, no front-cover texts and no back-cover "
    "texts. A copy of the licence is included in the section entitled GNU free documentation licence."
)
ABOUT_IT = "Permission is granted to copy, distribute and modify this document under the free documentation licence"
ROUNDS = 20


def build(folder: Path, chunks: int, copies: int) -> None:
    """Adds Debian's documents and the copies, and makes the index."""
    folder.mkdir(parents=True, exist_ok=True)
    add(folder, chunks)
    with library(Unindexed(folder), StandInEmbedder(word_vectors())) as opened:
        opened.add_documents(
            [
                Document.from_text(LICENCE, source=f"/copy/{number}", language="en", g10=number % 10)
                for number in range(copies)
            ]
        )
    with closing(EmbeddedStore(folder)) as store:
        store.refresh()


def cpu_of_all() -> float:
    """CPU seconds so far of this process and of those that it has started and that still run, as the index's does."""
    found = cpu_seconds()
    for listed in Path("/proc/self/task").glob("*/children"):
        for child in listed.read_text().split():
            fields = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()
            found += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def measured(folder: Path) -> list[tuple[str, float, str]]:
    """What searches find and take."""
    documents, _ = texts()
    others = [" ".join(documents[number].content[:90].split()) for number in range(0, ROUNDS * HELD_OUT, HELD_OUT)]
    embedder = StandInEmbedder(word_vectors())
    known = {question: embedder.embed_query(question) for question in (ABOUT_IT, *others)}
    rows: list[tuple[str, float, str]] = []
    with library(EmbeddedStore(folder), Given(known)) as opened:
        opened.search(ABOUT_IT)
        for name, questions in (("the licence", [ABOUT_IT] * ROUNDS), ("others", others)):
            for passing, where in (("", None), (", 10 % pass", {"g10": 7})):
                found, times = [], []
                for question in questions:
                    before = cpu_of_all()
                    found.append(opened.search(question, BEST, where))
                    times.append(1000 * (cpu_of_all() - before))
                # The clock of other processes ticks a hundred times a second.
                rows.append((f"{name}{passing}: a search, mean", statistics.mean(times), "CPU ms"))
                rows.append((f"{name}{passing}: passages of {BEST}", statistics.mean(map(len, found)), ""))
                told = [getattr(result, "other_places", -1) for result in found[0]]
                rows.append((f"{name}{passing}: most other places", max(told, default=-1), "-1: not told"))
    return rows


def main() -> None:
    """Builds the library unless it is there, and searches it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--copies", type=int, default=12_000)
    parser.add_argument("--folder", type=Path, default=CACHE.parent / "copies")
    options = parser.parse_args()
    if not (options.folder / "library.db").exists():
        build(options.folder, options.chunks, options.copies)
    show("copies", measured(options.folder), chunks=options.chunks, copies=options.copies)


if __name__ == "__main__":
    main()
