"""Several libraries as one store to search and read, which `Library` uses like any other store.

Scores of different libraries are comparable: document frequencies are summed over all libraries, a chunk's BM25 weights
don't depend on other chunks (see `text.terms`), and all vectors are of one embedder. So the best chunks of each library
are merged, and a question is embedded, read and answered once. A chunk's number here is its number in its library times
the count of libraries, plus the library's index.

The libraries are queried in parallel. A library that fails or is slow is left out until it answers again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from functools import partial
from heapq import merge
from itertools import chain, islice
from typing import Any, NoReturn, TypeAlias, TypeVar

from answerable.datatypes import Chunk, Document, FloatArray
from answerable.errors import (
    AnswerableError,
    LibraryError,
    LibraryNotFound,
    LibraryReadOnly,
    MissingPackage,
    SettingsError,
)
from answerable.filters import Filter
from answerable.protocols import (
    CountingStore,
    Fingerprint,
    IndexedChunk,
    JoinedStore,
    Store,
    StoredDocument,
    SyncRecord,
)
from answerable.stores.exact import Scored
from answerable.text.indexed_text import count_places
from answerable.text.terms import rarity
from answerable.threads import DaemonThreads

Each = TypeVar("Each")

Mistakes: TypeAlias = "tuple[type[AnswerableError], ...]"

PATIENCE = 10.0
"""Seconds that a library may take for a call: as long as a person waits for an answer. A round number."""
BUSY = 5
"""Factor by which `PATIENCE` grows if most of the libraries are slow. A round number."""
PAUSE = 60.0
"""Seconds until a library that failed is tried again; until then, questions are answered without it."""
MISTAKES: Mistakes = (LibraryNotFound, SettingsError, MissingPackage)
"""Errors that the caller causes with a wrong address or setting; other errors are failures of one library."""

Result = TypeVar("Result")
Call = Callable[[Store], Result]


@dataclass(slots=True)
class _Member:
    """A library, opened at the first call. `problem` says why it is left out, `until` when it is tried again."""

    name: str
    opening: Callable[[], Store]
    lock: threading.Lock
    store: Store | None = None
    problem: str = ""
    until: float = 0.0


class Members:
    """Libraries by name, each with a function that opens its store. Thread-safe.

    A library counts as failed if a call takes over `patience` seconds while others answer, and is tried again after
    `pause` seconds, in the background. With `closes`, `close` also closes the stores. Raise errors of the types
    `mistakes` while opening, and LibraryError if no library can be opened; a single library that can't be opened is
    left out. `reason` converts an error to the text that says why a library failed.
    """

    def __init__(
        self,
        opening: Mapping[str, Callable[[], Store]],
        patience: float = PATIENCE,
        pause: float = PAUSE,
        closes: bool = True,
        mistakes: Mistakes = MISTAKES,
        reason: Callable[[Exception], str] | None = None,
    ) -> None:
        self._members = [_Member(name, each, threading.Lock()) for name, each in opening.items()]
        self._patience = patience
        self._pause = pause
        self._closes = closes
        self._reason = reason or _reason
        self._threads = DaemonThreads()
        # The embedder of the first library that has one; libraries with another embedder are left out.
        self.fingerprint: Fingerprint | None = None
        try:
            made_by = self.ask(self.all(lambda store: store.fingerprint), mistakes)
        except BaseException:
            self.close()
            raise
        self.fingerprint = next((each for _, each in sorted(made_by.items()) if each), None)
        for number, fingerprint in made_by.items():
            self._compare(self._members[number], fingerprint)

    def __len__(self) -> int:
        return len(self._members)

    @property
    def unavailable(self) -> dict[str, str]:
        """The libraries that are left out at present, and why."""
        return {each.name: each.problem for each in self._members if each.problem}

    def name(self, number: int) -> str:
        """Return the name of a library."""
        return self._members[number].name

    def all(self, call: Call[Result]) -> dict[int, Call[Result]]:
        """Return a mapping with the same call for every library."""
        return dict.fromkeys(range(len(self._members)), call)

    def ask(self, calls: Mapping[int, Call[Result]], mistakes: Mistakes = ()) -> dict[int, Result]:
        """Make calls in parallel, given by library number; return the results in this order, without failed libraries.

        Raise errors of the types `mistakes`, and LibraryError if no library is left.
        """
        begun = time.monotonic()
        running: dict[int, Future[Result]] = {}
        for number, call in calls.items():
            member = self._members[number]
            if not member.problem:
                running[number] = self._threads.submit(partial(self._call, member, call))
            elif begun >= member.until:
                member.until = begun + self._pause
                self._threads.submit(partial(self._try_again, member))
        found: dict[int, Result] = {}
        late = self._late(running.values())
        for number, each in running.items():
            member = self._members[number]
            try:
                if each in late:
                    self._leave_out(member, f"it didn't answer within {self._patience:g} seconds")
                else:
                    found[number] = each.result()
            except mistakes:
                raise
            except Exception as error:
                self._leave_out(member, self._reason(error))
        if all(each.problem for each in self._members):
            reasons = "; ".join(f"{each.name}: {each.problem}" for each in self._members)
            raise LibraryError(f"None of the libraries can be asked. {reasons}")
        return found

    def close(self) -> None:
        """Close the stores. Idempotent."""
        self._threads.close()
        for member in self._members:
            store, member.store = member.store, None
            if store is not None and self._closes:
                store.close()

    def _late(self, running: Collection[Future[Result]]) -> set[Future[Result]]:
        """Wait for calls, and return those that take too long."""
        done, late = wait(running, self._patience)
        if len(done) < len(running) // 2:
            # Most are late, so the cause is a busy machine, or all libraries are being opened: wait longer.
            _, late = wait(running, self._patience * BUSY)
        return late

    def _call(self, member: _Member, call: Call[Result]) -> Result:
        with member.lock:
            if member.store is None:
                member.store = member.opening()
        return call(member.store)

    def _try_again(self, member: _Member) -> None:
        """Make a cheap call to a library that failed; if it succeeds, use the library again."""
        try:
            fingerprint = self._call(member, lambda store: store.fingerprint)
        except Exception as error:
            self._leave_out(member, self._reason(error))
            return
        if self._compare(member, fingerprint):
            member.problem = ""

    def _compare(self, member: _Member, fingerprint: Fingerprint | None) -> bool:
        """Return whether a library's vectors can be compared with those of other libraries; if not, leave it out."""
        if fingerprint in (None, self.fingerprint):
            return True
        self._leave_out(member, f"its vectors are {fingerprint}'s, those of the others {self.fingerprint}'s")
        return False

    def _leave_out(self, member: _Member, problem: str) -> None:
        member.until = time.monotonic() + self._pause
        member.problem = problem


def _reason(error: Exception) -> str:
    """Return why a library failed. A plug-in's store may raise errors of any type."""
    return str(error) if isinstance(error, AnswerableError) else f"{type(error).__name__}: {error}"


KEPT = 2.0
"""Seconds to cache counts, since the searches of one question need the same counts several times. A round number."""


class FederatedStore(Store, CountingStore, JoinedStore):
    """A read-only store over several libraries. Thread-safe."""

    is_writable = False

    def __init__(self, members: Members) -> None:
        self._members = members
        self._kept: dict[str, tuple[float, Any, Any]] = {}

    @property
    def fingerprint(self) -> Fingerprint | None:
        return self._members.fingerprint

    @property
    def unavailable(self) -> dict[str, str]:
        return self._members.unavailable

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        return self._best(k, self._members.all(lambda store: store.search_vectors(vector, k, where)))

    def search_terms(
        self, terms: Sequence[str], k: int, where: Filter | None, rarities: Mapping[str, float] | None = None
    ) -> Scored:
        if rarities is None:
            chunks, counts = self.count()[1], self.document_frequency(terms)
            rarities = {term: rarity(chunks, count) for term, count in counts.items() if count}
        known = list(rarities)
        return self._best(k, self._members.all(lambda store: store.search_terms(known, k, where, rarities)))

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        return self._best(len(numbers), self._by_member(numbers, lambda store, own: store.cosines(vector, own)))

    def fetch(self, numbers: Sequence[int]) -> dict[int, tuple[IndexedChunk, Document]]:
        found = self._members.ask(self._by_member(numbers, lambda store, own: store.fetch(own)))
        named = {
            self._number(member, own): (indexed, replace(document, library=self._members.name(member)))
            for member, chunks in found.items()
            for own, (indexed, document) in chunks.items()
        }
        return {number: named[number] for number in dict.fromkeys(numbers) if number in named}

    def document_frequency(self, terms: Collection[str]) -> dict[str, int]:
        wanted = frozenset(terms)

        def counted() -> dict[str, int]:
            found = self._each(lambda store: store.document_frequency(wanted))
            return {term: sum(each[term] for each in found) for term in wanted}

        return dict(self._once("terms", wanted, counted))

    def count(self) -> tuple[int, int]:
        def counted() -> tuple[int, int]:
            counts = self._each(lambda store: store.count())
            return sum(documents for documents, _ in counts), sum(chunks for _, chunks in counts)

        return self._once("count", None, counted)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        found = self._each(lambda store: count_places(store, hashes, where))
        return {text: sum(each[text] for each in found) for text in hashes}

    def waiting(self) -> list[int]:
        found = self._members.ask(self._members.all(lambda store: store.waiting()))
        return [self._number(member, own) for member, numbers in found.items() for own in numbers]

    def languages(self) -> list[str]:
        def found() -> list[str]:
            return sorted(set(chain.from_iterable(self._each(lambda store: store.languages()))))

        return list(self._once("languages", None, found))

    def document(self, document_id: str) -> Document | None:
        """Return the whole document with its parts, from the first library that has it."""
        found = self._members.ask(self._members.all(lambda store: store.document(document_id)))
        named = (replace(each, library=self._members.name(member)) for member, each in found.items() if each)
        return next(named, None)

    def documents(self, type: str = "") -> Iterator[StoredDocument]:
        found = self._stored(lambda store: list(store.documents(type)))
        return merge(*found, key=lambda document: (document.source, document.id))

    def lookup(self, document_id: str, source: str) -> list[StoredDocument]:
        return list(chain.from_iterable(self._stored(lambda store: store.lookup(document_id, source))))

    def chunks(self, document_id: str) -> list[Chunk]:
        """Return a document's chunks in order, from the first library that has it."""
        return next(filter(None, self._each(lambda store: store.chunks(document_id))), [])

    def indexed_chunks(self, document_id: str) -> list[IndexedChunk]:
        """Return a document's chunks in order, with vectors, terms and fields, from the first library that has it."""
        return next(filter(None, self._each(lambda store: store.indexed_chunks(document_id))), [])

    def records(self, origin: str = "") -> list[SyncRecord]:
        found = chain.from_iterable(self._each(lambda store: store.records(origin)))
        return sorted(found, key=lambda record: (record.origin, record.source))

    def close(self) -> None:
        """Close the libraries. Idempotent."""
        self._members.close()

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        """Raise LibraryReadOnly: every method that would change a library is an alias of this one."""
        raise LibraryReadOnly("Several libraries are open, to be asked only. Open the one that you want to change.")

    bind_embedder = put = fill = remove = remember = forget = refresh = audit = repair = next_vectors = _refuse

    def _once(self, name: str, about: Any, count: Callable[[], Each]) -> Each:
        """Return the counts named `name` if they are cached for the same `about`; otherwise call `count`."""
        counted_at, was_about, found = self._kept.get(name, (0.0, None, None))
        if not counted_at or was_about != about or time.monotonic() - counted_at > KEPT:
            found = count()
            self._kept[name] = time.monotonic(), about, found
        known: Each = found
        return known

    def _each(self, call: Callable[[Store], Each]) -> list[Each]:
        return list(self._members.ask(self._members.all(call)).values())

    def _stored(self, call: Callable[[Store], list[StoredDocument]]) -> list[list[StoredDocument]]:
        found = self._members.ask(self._members.all(call))
        return [
            [replace(document, library=self._members.name(member)) for document in documents]
            for member, documents in found.items()
        ]

    def _best(self, k: int, calls: Mapping[int, Callable[[Store], Scored]]) -> Scored:
        ranked = (
            [(self._number(member, number), score) for number, score in scored]
            for member, scored in self._members.ask(calls).items()
        )
        return list(islice(merge(*ranked, key=lambda pair: (-pair[1], pair[0])), k))

    def _number(self, member: int, own: int) -> int:
        return own * len(self._members) + member

    def _by_member(
        self, numbers: Sequence[int], call: Callable[[Store, Sequence[int]], Each]
    ) -> dict[int, Callable[[Store], Each]]:
        """Return a call for each library that has some of these chunks, with the library's own chunk numbers."""
        by_member: dict[int, list[int]] = {}
        for number in dict.fromkeys(numbers):
            own, member = divmod(number, len(self._members))
            by_member.setdefault(member, []).append(own)
        return {member: lambda store, own=own: call(store, own) for member, own in by_member.items()}  # type: ignore[misc]
