"""The book's Markdown → Qdrant: `python src/tools/sync_book_to_qdrant.py`, and what `POST /ingest` calls."""

from __future__ import annotations

import argparse
import logging
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

if not __package__:
    # Run as a script, Python looks for modules beside it.
    sys.path.insert(0, str(Path(__file__).parents[2]))

from answerable.embedding import CachedEmbedder
from answerable.errors import AnswerableError, LibraryBusy, SettingsError
from answerable.protocols import Passage as Embedded
from answerable.text import printable_line
from src.collection import Collected
from src.embedding import open_embedder
from src.errors import IngestionStopped, QdrantOperationError, openai_errors
from src.passages import Row, rows
from src.qdrant import open_qdrant
from src.settings import COLLECTION, Settings, load
from src.tools.markdown_book import read_book

# Some seconds of work on this machine: so long a stop is waited for.
_BATCH = 64
_RUNNING = threading.Lock()
_log = logging.getLogger("textbook")


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a run did: the book's pages and chunks, the texts that were embedded for it, the stored chunks removed."""

    pages: int
    chunks: int
    embedded: int
    removed: int

    def __str__(self) -> str:
        return (
            f"{self.chunks} chunks of {self.pages} pages are in the collection: {self.embedded} were embedded, "
            f"{self.chunks - self.embedded} taken over unchanged, {self.removed} removed."
        )


def sync_book(force_resync: bool = False, stopping: threading.Event | None = None) -> SyncReport:
    """Brings the collection up to date with the Markdown under BOOK_DOCS_PATH; without any change nothing is written.

    The new version is built beside the one that answers meanwhile, and takes its place in one step; when anything
    fails, that one stays. Vectors of unchanged passages are taken over, unless `force_resync` makes all anew.
    Raises LibraryBusy while this process is at it already, SettingsError, SourceError, OpenAIAPIError,
    QdrantOperationError, and IngestionStopped soon after `stopping` is set.
    """
    if not _RUNNING.acquire(blocking=False):
        raise LibraryBusy("The book is being ingested already. Try again when that has ended.")
    try:
        return _sync(load(), force_resync, stopping or threading.Event())
    finally:
        _RUNNING.release()


def _sync(settings: Settings, force_resync: bool, stopping: threading.Event) -> SyncReport:
    embedder = open_embedder(settings.engine)
    passages = read_book(settings.docs_folder, settings.engine)
    wanted = list(rows(passages, str(embedder.fingerprint)))
    with open_qdrant(settings.qdrant) as opened:
        collected = Collected(opened)
        stored = collected.hashes()
        if stored and not force_resync and not collected.version():
            raise QdrantOperationError(
                f"The collection {COLLECTION!r} isn't this tool's. Ingest with force_resync to replace it."
            )
        kept = {} if force_resync else _kept(collected, stored, wanted)
    missing = {row.hash: row for row in wanted if row.hash not in kept}
    removed = len(stored.keys() - {row.id for row in wanted})
    report = SyncReport(len({passage.source for passage in passages}), len(wanted), 0, removed)
    if not force_resync and stored.keys() == {row.id for row in wanted}:
        return report
    made, embedded = _embed(embedder, list(missing.values()), force_resync, stopping)
    with open_qdrant(settings.qdrant) as opened:
        Collected(opened).replace(wanted, {**kept, **made}, embedder.fingerprint.dimension)
    return replace(report, embedded=embedded)


def _kept(collected: Collected, stored: dict[str, str], wanted: Sequence[Row]) -> dict[str, list[float]]:
    """The stored vectors of what is wanted, by hash."""
    hashes = {row.hash for row in wanted}
    return collected.vectors(list({made: point for point, made in stored.items() if made in hashes}.values()))


def _embed(
    embedder: CachedEmbedder, new: Sequence[Row], anew: bool, stopping: threading.Event
) -> tuple[dict[str, list[float]], int]:
    """Vectors by hash, and how many of them no cache gave; `anew` asks no cache."""
    found: dict[str, list[float]] = {}
    embedded = 0
    for start in range(0, len(new), _BATCH):
        if stopping.is_set():
            raise IngestionStopped("The service was stopped while it ingested; the book is as it was. Ingest it again.")
        some = new[start : start + _BATCH]
        with openai_errors():
            vectors, count = embedder.embed([Embedded(row.passage.indexed) for row in some], anew)
        embedded += count
        found.update((row.hash, vector.whole.tolist()) for row, vector in zip(some, vectors, strict=True))
        _log.info("%d of %d chunks have their vectors", len(found), len(new))
    return found, embedded


def main(arguments: Sequence[str] | None = None) -> int:
    """What the command line asks for; the exit status: 1 after an error, 2 where a setting makes no sense."""
    parser = argparse.ArgumentParser(description="Brings the book's Markdown into Qdrant.")
    parser.add_argument("--force-resync", action="store_true", help="embed everything again")
    given = parser.parse_args(arguments)
    logging.basicConfig(format="%(levelname)s %(message)s", level=logging.WARNING, stream=sys.stderr)
    _log.setLevel(logging.INFO)
    try:
        print(sync_book(given.force_resync))
    except AnswerableError as error:
        print(printable_line(str(error)), file=sys.stderr)
        return 2 if isinstance(error, SettingsError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
