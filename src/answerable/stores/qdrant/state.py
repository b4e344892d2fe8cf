"""What a library on a Qdrant server is at a moment: one point, on which it depends which of the others count.

Qdrant has no transactions, but it changes one point in one step, and only if the point still is what the writer thinks
it is (`update_filter`). So a library is kept in versions, as databases do it: every document and every sync record is
written under a *generation*, a number that is never given again, and one point, the state, says which generations
count: all that were given but those being written and those dropped.

- Writing: take generations and chunk numbers (they are noted as being written), upload everything, then take them off
  that list and put those they replace on the list of what is to be erased, with the new counts, all in one change of
  the state. Then erase, and empty that list.
- Reading: search with a filter on the generations of a state, then get the state again. When something that counted
  was dropped meanwhile, do it again: it may have been erased under the search. What was added meanwhile isn't seen.
- Two writers: a change is made only to the version of the state that it was worked out for; who comes second works it
  out anew. None waits for a lock.
- A crash leaves a note of what was being written, which counts for nobody. Writers renew their notes; what nobody has
  renewed for a while is given up and erased by whoever opens or refreshes the library next. A writer that was only
  slow finds out when it wants to finish, and starts over. Generations that were given up never count, whenever a
  request that was under way arrives.

This holds on one server that keeps what it acknowledged, and on a cluster as long as the point of the state is read
from a replica that has its last change.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryFormatError
from answerable.protocols import Fingerprint
from answerable.stores.qdrant.connection import Connection, models
from answerable.stores.records import to_json

FORMAT = 1
STATE_ID = "00000000-0000-0000-0000-000000000001"
_KIND = "answerable"
_ATTEMPTS = 60
_LONGEST_PAUSE = 0.5

Span = tuple[int, int]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Writing:
    """A write under way: whose, its generations from first to last, the number before its chunks', and until when."""

    token: str
    first: int
    last: int
    after_number: int
    until: float


@dataclass(frozen=True, slots=True)
class State:
    """A library at a moment. `identity` is that of its collections; `dropped` counts generations that ceased to count.

    `number` and `generation` are the last ones given; `writing`, `erasing` and `abandoned` don't count. `changed` is
    when it was changed last, in seconds since 1970. `vectors` tells the collection of the chunks from those that were
    there before it, `next_vectors` names one in which those of the embedder `next_fingerprint` are gathered.
    """

    identity: str
    collection: str
    version: int = 0
    changed: float = 0
    fingerprint: Fingerprint | None = None
    documents: int = 0
    chunks: int = 0
    number: int = 0
    generation: int = 0
    dropped: int = 0
    writing: tuple[Writing, ...] = ()
    erasing: tuple[Span, ...] = ()
    abandoned: tuple[Span, ...] = ()
    vectors: str = ""
    next_vectors: str = ""
    next_fingerprint: Fingerprint | None = None

    @property
    def chunk_collection(self) -> str:
        """The collection of the chunks."""
        return chunk_collection(self.collection, self.vectors)

    def switched(self) -> State:
        """The state with what was gathered in the place of what was there."""
        return replace(
            self,
            vectors=self.next_vectors,
            fingerprint=self.next_fingerprint,
            next_vectors="",
            next_fingerprint=None,
        )

    def counts(self, generation: int) -> bool:
        """Whether what was written under a generation counts."""
        return generation <= self.generation and not any(first <= generation <= last for first, last in self._hidden())

    def counting(self, *conditions: models.Condition) -> models.Filter:
        """What counts and meets the conditions, as a filter."""
        given = models.FieldCondition(key="generation", range=models.Range(lte=self.generation))
        return models.Filter(must=[given, *conditions], must_not=within(self._hidden()) or None)

    def written_by(self, token: str) -> Writing | None:
        """The note of a write under way."""
        return next((writing for writing in self.writing if writing.token == token), None)

    def _hidden(self) -> list[Span]:
        return [*((writing.first, writing.last) for writing in self.writing), *self.erasing, *self.abandoned]


class Root:
    """The point of the state, in the collection or behind the alias `name`. Safe to share between threads."""

    def __init__(self, connection: Connection, name: str) -> None:
        self.name = name
        self.connection = connection
        self._known: State | None = None

    def read(self) -> State:
        """The state as it is now. Raises CollectionGone, LibraryFormatError and LibraryError."""
        found = self.connection.call(lambda client: client.retrieve(self.name, [STATE_ID]))
        if not found:
            raise self._foreign()
        self._known = self._parsed(found[0].payload or {})
        return self._known

    def known(self) -> State:
        """The state as it was when it was last read: a first guess for a change."""
        return self._known or self.read()

    def start(self, state: State) -> None:
        """Writes a first state, unless there is one."""
        self._write(replace(state, changed=time.time()), expected=-1)

    def may_write(self) -> None:
        """Asks for a change that is never made. Raises LibraryReadOnly where the key allows none."""
        self._write(self.known(), expected=-1)

    def change(self, changed: Callable[[State], State | None], guess: State | None = None) -> State:
        """Makes a change in one step; gives the state after it.

        `changed` gives the new state for the one that it is shown, None where nothing is to be done (any more). It is
        asked again whenever somebody else was faster, also when it isn't known whether the change was made. Raises
        LibraryBusy when others always are.
        """
        state = guess or self.read()
        for attempt in range(_ATTEMPTS):
            wanted = changed(state)
            if wanted is None:
                return state
            wanted = replace(wanted, version=state.version + 1, changed=time.time())
            self._write(wanted, expected=state.version)
            found = self.read()
            if found == wanted:
                return found
            if found == state:
                raise LibraryDamaged(
                    f"{self.connection.address.shown} takes no changes, or not at once. Check that the server is "
                    "Qdrant 1.16 or later and, in a cluster, that all of its nodes are up."
                )
            state = found
            _pause(attempt)
        raise self._busy()

    def consistent(self, work: Callable[[State], Result]) -> Result:
        """What `work` finds in a state of which nothing was dropped meanwhile, and which was there during this call."""
        # The last known one is mostly still the current one, which spares a request.
        state, is_recent = self.known(), False
        for attempt in range(_ATTEMPTS):
            failed: LibraryError | None = None
            try:
                found = work(state)
            except LibraryError as error:
                # In a library that has been replaced nothing is where it was.
                failed = error
            now = self.read()
            is_same = (now.identity, now.dropped, now.vectors) == (state.identity, state.dropped, state.vectors)
            if is_same and (is_recent or now.version == state.version):
                if failed:
                    raise failed
                return found
            state, is_recent = now, True
            _pause(attempt)
        raise self._busy()

    def _write(self, state: State, expected: int) -> None:
        payload = {
            "kind": _KIND,
            "format": FORMAT,
            "identity": state.identity,
            "version": state.version,
            "state": to_json(asdict(state)),
        }
        only = models.Filter(must=[matches("identity", state.identity), matches("version", expected)])
        self.connection.upsert(self.name, [models.PointStruct(id=STATE_ID, vector={}, payload=payload)], only)

    def _parsed(self, payload: dict[str, Any]) -> State:
        if payload.get("kind") != _KIND:
            raise self._foreign()
        if payload.get("format") != FORMAT:
            raise LibraryFormatError(
                f"The library {self.connection.address.shown} has format {payload.get('format')}; this version of "
                f"answerable reads format {FORMAT}. Use the version that made it, or add your documents to a new "
                "library with --library."
            )
        raw = json.loads(payload["state"])
        for name in ("fingerprint", "next_fingerprint"):
            raw[name] = Fingerprint(**raw[name]) if raw.get(name) else None
        raw["writing"] = tuple(Writing(**writing) for writing in raw["writing"])
        for spans in ("erasing", "abandoned"):
            raw[spans] = tuple((first, last) for first, last in raw[spans])
        return State(**raw)

    def _foreign(self) -> LibraryError:
        return LibraryError(
            f"The server has a collection {self.name!r} that answerable didn't make. It is left as it is: take another "
            "name at the end of the library's address."
        )

    def _busy(self) -> LibraryBusy:
        return LibraryBusy(
            f"{self.connection.address.shown} is changed all the time by others. Try again when they are done."
        )


def chunk_collection(collection: str, vectors: str) -> str:
    """The collection of a library's chunks; there may be several beside each other, told apart by `vectors`."""
    return f"{collection}.chunks.{vectors}" if vectors else f"{collection}.chunks"


def matches(key: str, value: str | int) -> models.FieldCondition:
    """A condition that a value is this one."""
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def within(spans: Sequence[Span]) -> list[models.Condition]:
    """A condition for generations in each of the spans: for single ones a common one."""
    single = [first for first, last in spans if first == last]
    found: list[models.Condition] = [
        models.FieldCondition(key="generation", range=models.Range(gte=first, lte=last))
        for first, last in spans
        if first != last
    ]
    if single:
        found.append(models.FieldCondition(key="generation", match=models.MatchAny(any=single)))
    return found


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order, neighbours made one."""
    found: list[Span] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return tuple(found)


def _pause(attempt: int) -> None:
    time.sleep(random.uniform(0, min(0.005 * 1.5**attempt, _LONGEST_PAUSE)))
