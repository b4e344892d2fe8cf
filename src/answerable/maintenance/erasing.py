"""Decides when a store rewrites its files, so that no data of removed documents is left in them.

Removing hides a document at once; its data may stay in free parts of files until these are rewritten, which takes time
in proportion to the library. So a removal that a user requested is erased at once if the library has up to `AT_ONCE`
passages. Otherwise, `SHARE` limits how much removed data stays, and `PATIENCE` how long, in a library that is used.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from typing import TypeVar

from answerable.errors import LibraryError
from answerable.indexing.prepare import passage
from answerable.protocols import Embedder, ErasingStore, Forgetting, Store, Unerased

Report = TypeVar("Report")

# Libraries of at most this many passages are rewritten at once, which takes a few seconds.
AT_ONCE = 10_000
# Removed passages as a share of the passages in the library, above which the files are rewritten. A round number.
SHARE = 0.1
# Seconds (a day) after which removed data is erased.
PATIENCE = 86_400.0

NOTHING = Unerased(0, 0.0)


def unerased(store: Store) -> Unerased:
    """Return how many removed passages may have left data in the store's files."""
    return store.unerased() if isinstance(store, ErasingStore) else NOTHING


def erase(store: Store) -> None:
    """Rewrite the store's files if they may have data of removed passages. Raise LibraryError."""
    if isinstance(store, ErasingStore) and store.unerased().passages:
        store.erase()


def erasing_note(passages: int) -> str:
    """Return the note for the user about this number of unerased passages."""
    return (
        f"{passages:,} removed passages may still have data in the library's files. `answerable verify --repair` "
        "erases it, once no other process uses the library; so does adding or syncing, at most once a day."
    )


def erase_if_due(store: Store, asked: bool = False) -> None:
    """Erase removed data if it is due; `asked` means that a user requested the removal. Ignore a LibraryError."""
    if isinstance(store, ErasingStore) and store.is_writable:
        with suppress(LibraryError):
            left = store.unerased()
            if left.passages and _is_due(left, store.count()[1], asked):
                store.erase()


def erased_if_due(store: Store, report: Report, asked: bool = False) -> Report:
    """Do the same as `erase_if_due`, and return `report` unchanged."""
    erase_if_due(store, asked)
    return report


def forget_vectors(store: Store, embedder: Embedder, document_ids: Iterable[str]) -> None:
    """Erase the vectors of these documents in the embedder's cache, if it has one. Raise LibraryError."""
    if isinstance(embedder, Forgetting):
        chunks = (chunk for each in document_ids for chunk in store.indexed_chunks(each))
        embedder.forget([passage(each.chunk, each.sentences) for each in chunks])


def forget_origin(store: Store, embedder: Embedder, origins: Iterable[str]) -> None:
    """Erase the vectors of the documents of these origins in the embedder's cache. Raise LibraryError."""
    kept = (record for name in origins for record in store.records(name))
    forget_vectors(store, embedder, {each for record in kept for each in record.documents})


def _is_due(left: Unerased, chunks: int, asked: bool) -> bool:
    is_much = left.passages > SHARE * chunks
    return is_much or (asked and chunks <= AT_ONCE) or time.time() - left.erased > PATIENCE
