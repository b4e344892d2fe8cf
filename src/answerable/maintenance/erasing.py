"""Decides when a store rewrites its files, so that nothing is left there of what was removed.

Removing hides a document at once; its data may stay in free parts of files until these are rewritten, which takes time
in proportion to the library. So a removal that was asked for is erased at once from a library of up to `AT_ONCE`
passages. Otherwise, `SHARE` and `PATIENCE` bound how much stays how long in a library that is used.
"""

from __future__ import annotations

import time
from contextlib import suppress

from answerable.errors import LibraryError
from answerable.protocols import ErasingStore, Store, Unerased

# Some seconds of rewriting.
AT_ONCE = 10_000
SHARE = 0.1
# Seconds: a day.
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
    """Return what to tell the user about this many unerased passages."""
    return (
        f"{passages:,} removed passages may still have data in the library's files. `answerable verify --repair` "
        "erases it, once no other process uses the library; so does adding or syncing, at most once a day."
    )


def erase_if_due(store: Store, asked: bool = False) -> None:
    """Erase what was removed, if it is time to; `asked` if somebody asked for the removal. A failure leaves it due."""
    if isinstance(store, ErasingStore) and store.is_writable:
        with suppress(LibraryError):
            left = store.unerased()
            if left.passages and _is_due(left, store.count()[1], asked):
                store.erase()


def _is_due(left: Unerased, chunks: int, asked: bool) -> bool:
    is_much = left.passages > SHARE * chunks
    return is_much or (asked and chunks <= AT_ONCE) or time.time() - left.erased > PATIENCE
