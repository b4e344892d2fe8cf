"""Writes to a library on a Qdrant server: take the lease, upload, publish, erase (see `head`)."""

from __future__ import annotations

import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace

from answerable.errors import LibraryBusy, LibraryError
from answerable.stores.qdrant.connection import CollectionGone, models
from answerable.stores.qdrant.head import Head, HeadPoint, Moved, pause

# Seconds: longer than any request may take, so that a living writer renews its lease in time.
LEASE = 60.0
# A lease is lost if a clock jumps or a machine sleeps, rarely twice during a write. A guess, not measured.
_ATTEMPTS = 3
# Seconds to wait for other writers: three times `LEASE`, so that leases of killed writers expire meanwhile.
_PATIENCE = 180.0
# Most hidden versions that may stay listed: each makes every request a few bytes longer. A round number.
_FEW = 50
# Characters per request: a server accepts requests of up to 32 MB, and a character may become six bytes.
_CHARACTERS_AT_ONCE = 4_000_000


class Lease:
    """A writer's exclusive right to publish, with the versions and chunk numbers reserved for it.

    The versions begin at `first`, the numbers after `after_number`. Raises Moved if another writer has taken over.
    """

    def __init__(self, point: HeadPoint, head: Head, seconds: float, numbers: int) -> None:
        self.head = head
        self.first = head.published + 1
        self.after_number = head.number - numbers
        self._point = point
        self._seconds = seconds
        self._renewed = time.monotonic()

    def send(self, collection: str, points: Iterable[models.PointStruct]) -> None:
        """Upload points, in requests small enough for the server; renew the lease after each request."""
        for batch in batches(points):
            self._point.connection.upsert(collection, batch)
            self.renew()

    def renew(self) -> None:
        """Extend the lease once half of it has passed."""
        if time.monotonic() - self._renewed > self._seconds / 2:
            self.head = self._point.change(self.head, replace(self.head, until=time.time() + self._seconds))
            self._renewed = time.monotonic()

    def publish(self, head: Head) -> Head:
        """Make `head`, derived from the lease's head, the library's head; return the current head."""
        try:
            return self._point.change(self.head, head.publishing())
        except Moved as moved:
            # If this lease was published, the next writer has already taken another lease.
            lost = any(first <= self.first <= last for first, last, _ in moved.head.abandoned)
            if moved.head.identity != head.identity or moved.head.published < head.given or lost:
                raise
            return moved.head


class Writer:
    """Runs a store's writes, one at a time. Other writers may take over a lease not renewed for `seconds`."""

    def __init__(self, point: HeadPoint, seconds: float = LEASE) -> None:
        self._point = point
        self._seconds = seconds
        self._token = secrets.token_hex(8)
        self._erased: tuple[int, ...] = ()
        self._lock = threading.Lock()

    def write(self, work: Callable[[Lease], Head | None], versions: int = 1, numbers: int = 0) -> bool:
        """Take the lease, call `work`, and publish the head it returns; return whether `work` changed the library.

        `work` returns None for no change, and is called again if the lease was lost. Raise LibraryBusy and
        LibraryReadOnly.
        """
        with self._lock:
            for _ in range(_ATTEMPTS):
                lease = self._take(versions, numbers)
                try:
                    if lease.head.abandoned or lease.head.hidden != self._erased:
                        self._erase(lease.head)
                    lease.head = replace(lease.head, hidden=())
                    made = work(lease)
                    published = lease.publish(made or lease.head)
                except Moved:
                    continue
                except BaseException as error:
                    if self._is_lost(lease, error):
                        continue
                    raise
                self._erase(published)
                return made is not None
        raise LibraryBusy(
            f"A write to {self._point.connection.address.shown} lost its lease {_ATTEMPTS} times, because more than "
            f"{self._seconds:g} seconds passed between two requests. Check that the clocks of all machines that write "
            "there agree, then try again."
        )

    def tidy(self) -> None:
        """Erase hidden and abandoned points, and end an expired lease."""
        head = self._point.read()
        # A short list of versions that this writer has erased may stay until the next write.
        is_erased = head.hidden == self._erased and len(head.hidden) <= _FEW
        if not head.is_leased and (head.is_untidy or not is_erased):
            self.write(lambda lease: None)
        elif head.abandoned:
            self._erase(head)

    def _take(self, versions: int, numbers: int) -> Lease:
        deadline, head = time.monotonic() + _PATIENCE, self._point.known()
        for attempt in itertools.count():
            if time.monotonic() > deadline:
                break
            # A lease with this writer's token is left from a write that failed to end it.
            if not head.is_leased or head.writer == self._token:
                try:
                    taken = self._point.change(head, head.leased(self._token, self._seconds, versions, numbers))
                    return Lease(self._point, taken, self._seconds, numbers)
                except Moved as moved:
                    head = moved.head
            pause(attempt)
            head = self._point.read()
        raise LibraryBusy(
            f"Another process has been writing to {self._point.connection.address.shown} for {_PATIENCE:.0f} seconds. "
            "Try again when it is done."
        )

    def _is_lost(self, lease: Lease, error: BaseException) -> bool:
        """Whether a write failed because another writer took its lease; if it still has the lease, try to end it."""
        with suppress(LibraryError, Moved):
            now = self._point.read()
            if (now.identity, now.writer, now.given) != (lease.head.identity, self._token, lease.head.given):
                return isinstance(error, CollectionGone)
            self._erase(self._point.change(now, now.ended()))
        return False

    def _erase(self, head: Head) -> None:
        """Erase hidden and abandoned points."""
        for collection in (head.collection, head.chunk_collection) if head.garbage else ():
            # A library without an embedder has no chunks yet; a replaced library has no collections any more.
            with suppress(CollectionGone):
                self._point.connection.delete(collection, models.Filter(should=head.garbage))
        self._erased = head.hidden


def batches(points: Iterable[models.PointStruct]) -> Iterable[list[models.PointStruct]]:
    """Yield the points in lists that each fit into a request."""
    batch: list[models.PointStruct] = []
    characters = 0
    for point in points:
        size = len(point.model_dump_json())
        if batch and characters + size > _CHARACTERS_AT_ONCE:
            yield batch
            batch, characters = [], 0
        batch.append(point)
        characters += size
    if batch:
        yield batch
