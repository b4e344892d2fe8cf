"""The head of a library on a Qdrant server: the one point that decides which of the others count.

Qdrant has no transactions, but it changes one point in one step, and on request only if that point is still the one
that was read (`update_filter`). The whole protocol rests on this one operation:

- **Versions.** Each document and each sync record is written under a version, a number that is never given twice;
  the chunks of a document carry its version too. Points are never changed, only added and erased.
- **The head** says which versions count: those up to `published` that are neither `hidden` (replaced or removed)
  nor `abandoned` (of a write that never finished). Every search, count and read filters by that.
- **One writer.** A write takes the lease: one conditional change of the head that notes a token and an expiry and
  hands out new versions and chunk numbers. It uploads under versions that don't count yet, then publishes: one
  conditional change that moves `published` up, hides what was replaced, updates the counts and ends the lease. A
  document becomes visible, and its predecessor invisible, in that one step. Then the writer erases what it hid.
- **A lost lease.** Other writers wait for the lease until it expires; whoever takes an expired lease abandons the
  versions that were given with it. Its former holder can't publish, since the head isn't the one it read any more: it
  starts over. Clocks only decide when a lease may be taken over, never what counts.
- **Readers** need no lease. They work with the last head they know, then read it again; when something was hidden in
  between, which may have been erased under the search, they do the work again.
- **Garbage.** A killed writer leaves points that don't count. The next writer, or whoever opens or refreshes the
  library, erases them. Abandoned versions stay listed for a day: a request of a dead writer may arrive late.

Why lists in the head, and not bounds (`since`, `until`) in each point: to end a document's life would be a second write
to all of its points, to be undone after a crash, and one that arrives late would hide a document that counts.

This holds on one server that keeps what it acknowledged, and on a cluster as long as the head is read from a replica
that has its last change.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryFormatError
from answerable.protocols import Fingerprint
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.records import to_json

FORMAT = 2
HEAD_ID = "00000000-0000-0000-0000-000000000001"
# The name in payloads is older than the one in the code.
VERSION = "generation"
_KIND = "answerable"
_ATTEMPTS = 60
_LONGEST_PAUSE = 0.5
_LISTED_FOR = 24 * 3600.0

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Head:
    """A library at one moment. `revision` counts the changes of the head, `changed` is the time of the last one.

    `identity` is new when the library is rebuilt; `number` and `given` are the last chunk number and version handed
    out. `last_drop` is the version published when something was last hidden. `abandoned` are spans of versions with
    the time. While `given` is above `published`, `writer` has the lease until the time `until`. `vectors` is the suffix
    of the chunks' collection, `next_vectors` of the one in which vectors of `next_fingerprint` are gathered.
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
        """The collection of the chunks."""
        return chunk_collection(self.collection, self.vectors)

    @property
    def garbage(self) -> list[models.Condition]:
        """Conditions for what doesn't count and may be erased."""
        spans = [models.Range(gte=first, lte=last) for first, last, _ in self.abandoned]
        lost: list[models.Condition] = [models.FieldCondition(key=VERSION, range=span) for span in spans]
        return [*lost, matches(VERSION, *self.hidden)] if self.hidden else lost

    @property
    def is_leased(self) -> bool:
        """Whether a writer holds a lease that hasn't expired."""
        return self.given > self.published and self.until > time.time()

    @property
    def is_untidy(self) -> bool:
        """Whether it lists a lease or abandoned versions that a write would take off."""
        outdated = any(when < time.time() - _LISTED_FOR for _, _, when in self.abandoned)
        return outdated or self.given > self.published

    def switched(self) -> Head:
        """The head with the gathered vectors in place of the current ones."""
        return replace(
            self,
            vectors=self.next_vectors,
            fingerprint=self.next_fingerprint,
            next_vectors="",
            next_fingerprint=None,
        )

    def counts(self, version: int) -> bool:
        """Whether what was written under a version counts."""
        lost = any(first <= version <= last for first, last, _ in self.abandoned)
        return version <= self.published and version not in self.hidden and not lost

    def counting(self, *conditions: models.Condition) -> models.Filter:
        """A filter for what counts and meets the conditions."""
        published = models.FieldCondition(key=VERSION, range=models.Range(lte=self.published))
        return models.Filter(must=[published, *conditions], must_not=self.garbage or None)

    def without(self, versions: Iterable[int]) -> Head:
        """The head when what was written under some versions counts no more."""
        lost = tuple(versions)
        return replace(self, hidden=(*self.hidden, *lost), last_drop=self.given) if lost else self

    def leased(self, writer: str, seconds: float, versions: int, numbers: int) -> Head:
        """The head when a writer takes the lease, with new versions and chunk numbers."""
        return replace(
            self.ended(),
            writer=writer,
            until=time.time() + seconds,
            given=self.given + versions,
            number=self.number + numbers,
        )

    def ended(self) -> Head:
        """The head without the lease that is there, whose versions are abandoned."""
        first, before = self.published + 1, self.abandoned
        if first > self.given:
            return self
        if before and before[-1][1] == self.published:
            first, before = before[-1][0], before[:-1]
        abandoned = (*before, (first, self.given, time.time()))
        return replace(self, writer="", until=0, published=self.given, abandoned=abandoned)

    def publishing(self) -> Head:
        """The head when the versions given with the lease count."""
        recent = tuple(entry for entry in self.abandoned if entry[2] >= time.time() - _LISTED_FOR)
        return replace(self, writer="", until=0, published=self.given, abandoned=recent)


class Moved(Exception):
    """Somebody else has changed the head; `head` is the new one."""

    def __init__(self, head: Head) -> None:
        super().__init__()
        self.head = head


class HeadPoint:
    """The point of the head, in the collection or behind the alias `name`. Safe to share between threads."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self.connection = connection
        self._known: Head | None = None

    def read(self) -> Head:
        """Return the current head. Raises CollectionGone, LibraryFormatError and LibraryError."""
        found = list(self.connection.retrieve(self.name, [HEAD_ID]))
        if not found:
            raise self._foreign()
        self._known = self._parsed(found[0].payload or {})
        return self._known

    def known(self) -> Head:
        """Return the head as it was last read."""
        return self._known or self.read()

    def start(self, head: Head) -> None:
        """Write the first head, unless there is one."""
        self._write(replace(head, changed=time.time()), expected=-1)

    def may_write(self) -> None:
        """Request a change that never applies. Raises LibraryReadOnly where the key allows none."""
        self._write(self.known(), expected=-1)

    def change(self, head: Head, wanted: Head) -> Head:
        """Replace `head` by `wanted` in one step; return it. Raises Moved where the head is another one by now."""
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
        """Return what `work` finds at a head that was current during this call and lost nothing meanwhile."""
        # The last known head is mostly still current, which saves a request.
        head, is_recent = self.known(), False
        for attempt in range(_ATTEMPTS):
            failed: LibraryError | None = None
            try:
                found = work(head)
            except LibraryError as error:
                # In a library that has been replaced nothing is where it was.
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
    """The state in format 1, which had no lease, as a head. The first write ends its unfinished writes."""
    unfinished = [(note["first"], note["last"]) for note in raw.pop("writing")]
    given = raw.pop("generation")
    return {
        **{name: value for name, value in raw.items() if name not in ("version", "dropped", "erasing")},
        "revision": raw["version"],
        "given": given,
        "published": given,
        # What processes of that version drop isn't noted here: readers need a head that hasn't changed at all.
        "last_drop": given + 1,
        # Unfinished ones too, so that they are erased under a lease, when their writers can't finish them any more.
        "hidden": [version for first, last in (*raw["erasing"], *unfinished) for version in range(first, last + 1)],
        "abandoned": [(first, last, raw["changed"]) for first, last in (*raw["abandoned"], *unfinished)],
    }


def chunk_collection(collection: str, vectors: str) -> str:
    """The collection of a library's chunks; `vectors` tells apart several beside each other."""
    return f"{collection}.chunks.{vectors}" if vectors else f"{collection}.chunks"


def matches(key: str, *values: str | int) -> models.FieldCondition:
    """A condition that a value is one of these."""
    if len(values) == 1:
        return models.FieldCondition(key=key, match=models.MatchValue(value=values[0]))
    return models.FieldCondition(key=key, match=models.MatchAny(any=list(values)))  # type: ignore[arg-type]


def pause(attempt: int) -> None:
    """Wait for a random time that grows with the attempts."""
    time.sleep(random.uniform(0, min(0.005 * 1.5**attempt, _LONGEST_PAUSE)))
