"""The head of a library on a Qdrant server: the one point that decides which other points are visible.

Qdrant has no transactions, but it can replace one point atomically on the condition that nobody has changed it since it
was read (`update_filter`). The whole protocol rests on this conditional change:

- **Versions.** Each document and each sync record is written under a version, a number that is never reused; the
  chunks of a document carry its version too. Points are only added and erased, never changed.
- **Visibility.** The head says which versions are visible: those up to `published` that are neither `hidden` (replaced
  or removed) nor `abandoned` (from a write that never finished). Every search, count and read filters by version.
- **One writer at a time.** A writer first takes the lease: a conditional change of the head that records the writer's
  token and an expiry time, and reserves new versions and chunk numbers. It uploads points under these versions, which
  aren't visible yet. Then it publishes: a second conditional change that raises `published`, hides the replaced
  versions, updates the counts and ends the lease. The new document becomes visible, and the old one invisible, in that
  one step. Finally the writer erases the points that it hid.
- **A lost lease.** Other writers wait until the lease ends or expires. A writer that takes over an expired lease marks
  the versions reserved with it as abandoned. The former holder can't publish any more, since the head has changed; it
  starts over. Clocks decide only when a lease may be taken over, never which versions are visible.
- **Readers** need no lease. A reader works with the last head it knows, then reads the head again. If a version was
  hidden in between, its points may have been erased during the search, so the reader repeats its work.
- **Garbage.** A killed writer leaves invisible points. The next writer, or the next process that opens or refreshes the
  library, erases them. Abandoned versions stay listed for a day, since a request of a killed writer may arrive late.

Why the head lists hidden versions, instead of each point storing when it was hidden: hiding a document would then be a
second write to all of its points. A crash would leave it half done, and a late request could hide a visible document.

The protocol is correct on one server that doesn't lose acknowledged writes, and on a cluster as long as the head is
read from a replica that has its last change.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryFormatError, LibraryReadOnly
from answerable.protocols import Fingerprint
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.records import to_json

# Since format 2, a writer takes a lease.
FORMAT = 2
HEAD_ID = "00000000-0000-0000-0000-000000000001"
# The payload key of a version, which is older than the code's word for it.
VERSION = "generation"
_KIND = "answerable"
# With pauses of up to `_LONGEST_PAUSE`, enough for half a minute of changes by other processes: a round number.
_ATTEMPTS = 60
# Seconds: far shorter than a person notices in a write; a guess, not measured.
_LONGEST_PAUSE = 0.5
# Seconds that abandoned versions stay listed: no request arrives a day late.
_LISTED_FOR = 24 * 3600.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Head:
    """The state of a library. `revision` counts the changes of the head, `changed` is the time of the last change.

    `identity` changes when the library is rebuilt. `number` is the last chunk number assigned, `given` the last version
    reserved, `last_drop` the value of `given` when a version was last hidden. Each entry of `abandoned` is the first
    and last version of a range and the time it was abandoned. While `given` is above `published`, `writer` holds the
    lease until the time `until`. `vectors` is the suffix of the name of the chunks' collection; `next_vectors` is that
    of the collection for new vectors, made by the embedder `next_fingerprint`.
    """

    identity: str
    collection: str
    revision: int = 0
    changed: float = 0
    fingerprint: Fingerprint | None = None
    documents: int = 0
    chunks: int = 0
    number: int = 0
    given: int = 0
    published: int = 0
    last_drop: int = 0
    hidden: tuple[int, ...] = ()
    abandoned: tuple[tuple[int, int, float], ...] = ()
    writer: str = ""
    until: float = 0
    vectors: str = ""
    next_vectors: str = ""
    next_fingerprint: Fingerprint | None = None

    @property
    def chunk_collection(self) -> str:
        """The name of the chunks' collection."""
        return chunk_collection(self.collection, self.vectors)

    @property
    def garbage(self) -> list[models.Condition]:
        """Conditions that match hidden and abandoned points, which may be erased."""
        spans = [models.Range(gte=first, lte=last) for first, last, _ in self.abandoned]
        lost: list[models.Condition] = [models.FieldCondition(key=VERSION, range=span) for span in spans]
        return [*lost, matches(VERSION, *self.hidden)] if self.hidden else lost

    @property
    def is_leased(self) -> bool:
        """Whether a writer holds a lease that hasn't expired."""
        return self.given > self.published and self.until > time.time()

    @property
    def is_untidy(self) -> bool:
        """Whether the head has an unfinished lease or abandoned versions older than a day: a write removes both."""
        outdated = any(when < time.time() - _LISTED_FOR for _, _, when in self.abandoned)
        return outdated or self.given > self.published

    def switched(self) -> Head:
        """Return the head after the switch to the collected vectors."""
        return replace(
            self,
            vectors=self.next_vectors,
            fingerprint=self.next_fingerprint,
            next_vectors="",
            next_fingerprint=None,
        )

    def counts(self, version: int) -> bool:
        """Whether points of this version are visible."""
        lost = any(first <= version <= last for first, last, _ in self.abandoned)
        return version <= self.published and version not in self.hidden and not lost

    def counting(self, *conditions: models.Condition) -> models.Filter:
        """Return a filter for the visible points that meet all conditions."""
        published = models.FieldCondition(key=VERSION, range=models.Range(lte=self.published))
        return models.Filter(must=[published, *conditions], must_not=self.garbage or None)

    def without(self, versions: Iterable[int]) -> Head:
        """Return the head with these versions hidden."""
        lost = tuple(versions)
        return replace(self, hidden=(*self.hidden, *lost), last_drop=self.given) if lost else self

    def leased(self, writer: str, seconds: float, versions: int, numbers: int) -> Head:
        """Return the head after a writer takes the lease and reserves this many versions and chunk numbers."""
        return replace(
            self.ended(),
            writer=writer,
            until=time.time() + seconds,
            given=self.given + versions,
            number=self.number + numbers,
        )

    def ended(self) -> Head:
        """Return the head without its current lease, whose versions become abandoned."""
        first, before = self.published + 1, self.abandoned
        if first > self.given:
            return self
        if before and before[-1][1] == self.published:
            first, before = before[-1][0], before[:-1]
        abandoned = (*before, (first, self.given, time.time()))
        return replace(self, writer="", until=0, published=self.given, abandoned=abandoned)

    def publishing(self) -> Head:
        """Return the head after publishing the versions reserved with the lease."""
        recent = tuple(entry for entry in self.abandoned if entry[2] >= time.time() - _LISTED_FOR)
        return replace(self, writer="", until=0, published=self.given, abandoned=recent)


class Moved(Exception):
    """Raised when another process has changed the head; `head` is the new one."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head


class HeadPoint:
    """Reads and changes the head's point, in the collection or alias `name`. Safe to share between threads."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self.connection = connection
        self._known: Head | None = None

    def read(self) -> Head:
        """Return the current head. Raise CollectionGone, LibraryFormatError and LibraryError."""
        found = list(self.connection.retrieve(self.name, [HEAD_ID]))
        if not found:
            raise self._foreign()
        self._known = self._parsed(found[0].payload or {})
        return self._known

    def known(self) -> Head:
        """Return the head last read, which may be out of date."""
        return self._known or self.read()

    def start(self, head: Head) -> None:
        """Write a new library's head, unless it has one."""
        self._write(replace(head, changed=time.time()), expected=-1)

    def is_writable(self) -> bool:
        """Whether the API key allows writes, by a request for a change that is never applied."""
        try:
            self._write(self.known(), expected=-1)
        except LibraryReadOnly:
            return False
        return True

    def change(self, head: Head, wanted: Head) -> Head:
        """Replace `head` by `wanted` in one step, and return the new head. Raise Moved if the head has changed."""
        wanted = replace(wanted, revision=head.revision + 1, changed=time.time())
        self._write(wanted, expected=head.revision)
        found = self.read()
        if found == wanted:
            return found
        if (found.identity, found.revision) == (head.identity, head.revision):
            raise LibraryDamaged(
                f"{self.connection.address.shown} accepts no changes, or applies them late. Check that the server is "
                "Qdrant 1.16 or later and, in a cluster, that all of its nodes are up."
            )
        raise Moved(found)

    def consistent(self, work: Callable[[Head], Result]) -> Result:
        """Call `work` with a head and return its result; repeat if points visible in that head may have been erased."""
        # The last known head is usually still current; trying it first saves a request.
        head, is_recent = self.known(), False
        for attempt in range(_ATTEMPTS):
            failed: LibraryError | None = None
            try:
                found = work(head)
            except LibraryError as error:
                # If the library has been replaced meanwhile, the new library may not have this error: try again.
                failed = error
            now = self.read()
            is_whole = (now.identity, now.vectors) == (head.identity, head.vectors) and now.last_drop <= head.published
            if (now.identity, now.revision) == (head.identity, head.revision) or (is_recent and is_whole):
                if failed:
                    raise failed
                return found
            head, is_recent = now, True
            pause(attempt)
        raise LibraryBusy(f"Others keep changing {self.connection.address.shown}. Try again when they are done.")

    def _write(self, head: Head, expected: int) -> None:
        payload = {
            "kind": _KIND,
            "format": FORMAT,
            "identity": head.identity,
            "version": head.revision,
            "state": to_json(asdict(head)),
        }
        only = models.Filter(must=[matches("identity", head.identity), matches("version", expected)])
        self.connection.upsert(self.name, [models.PointStruct(id=HEAD_ID, vector={}, payload=payload)], only)

    def _parsed(self, payload: dict[str, Any]) -> Head:
        if payload.get("kind") != _KIND:
            raise self._foreign()
        if payload.get("format") not in (1, FORMAT):
            raise LibraryFormatError(
                f"The library {self.connection.address.shown} has format {payload.get('format')}; this version of "
                f"answerable reads formats 1 and {FORMAT}. Use the version that made it, or add your documents to a "
                "new library with --library."
            )
        raw = json.loads(payload["state"])
        if payload["format"] == 1:
            raw = _upgraded(raw)
        for name in ("fingerprint", "next_fingerprint"):
            raw[name] = Fingerprint(**raw[name]) if raw.get(name) else None
        raw["hidden"] = tuple(raw["hidden"])
        raw["abandoned"] = tuple((first, last, when) for first, last, when in raw["abandoned"])
        return Head(**raw)

    def _foreign(self) -> LibraryError:
        return LibraryError(
            f"The server has a collection {self.name!r} that answerable didn't make. It is left as it is: use another "
            "name at the end of the library's address."
        )


def _upgraded(raw: dict[str, Any]) -> dict[str, Any]:
    """Convert a head's state from format 1, which had no lease. Versions of unfinished writes become abandoned."""
    unfinished = [(note["first"], note["last"]) for note in raw.pop("writing")]
    given = raw.pop("generation")
    return {
        **{name: value for name, value in raw.items() if name not in ("version", "dropped", "erasing")},
        "revision": raw["version"],
        "given": given,
        "published": given,
        # Processes with format 1 don't record here when they hide a version: readers repeat after any change.
        "last_drop": given + 1,
        # Unfinished writes are hidden, too: a lease-holder erases them, when their writers can't finish them any more.
        "hidden": [version for first, last in (*raw["erasing"], *unfinished) for version in range(first, last + 1)],
        "abandoned": [(first, last, raw["changed"]) for first, last in (*raw["abandoned"], *unfinished)],
    }


def chunk_collection(collection: str, vectors: str) -> str:
    """Return the name of a library's collection of chunks; each set of vectors has its own suffix `vectors`."""
    return f"{collection}.chunks.{vectors}" if vectors else f"{collection}.chunks"


def matches(key: str, *values: str | int) -> models.FieldCondition:
    """Return the condition that the payload key has one of these values."""
    if len(values) == 1:
        return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]))
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))  # type: ignore[arg-type]


def pause(attempt: int) -> None:
    """Wait for a random time whose upper limit grows with each attempt."""
    time.sleep(random.uniform(0, min(0.005 * 1.5**attempt, _LONGEST_PAUSE)))
