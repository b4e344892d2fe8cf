"""Writing, dropping and erasing on a Qdrant server, in the steps that `qdrant_state` describes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from answerable.errors import LibraryBusy, LibraryError
from answerable.stores.binding import Binding
from answerable.stores.qdrant.connection import CollectionGone, models
from answerable.stores.qdrant.state import Root, Span, State, Writing, joined, within

LEASE = 60.0
_DONE_AGAIN = 3


@dataclass(frozen=True, slots=True)
class Dropped:
    """What ceases to count: generations, each by itself, and how many documents and chunks that makes."""

    generations: tuple[int, ...] = ()
    documents: int = 0
    chunks: int = 0


@dataclass(frozen=True, slots=True)
class Upload:
    """What is written in one step: how many generations and chunk numbers it takes, and how much it adds to the counts.

    `send` is given the state that notes the write, the note, and what is to be called between requests.
    """

    send: Callable[[State, Writing, Callable[[], None]], None]
    generations: int
    numbers: int = 0
    documents: int = 0


class _GivenUp(Exception):
    """Somebody took this write for abandoned, or the library was replaced meanwhile."""


class Writer:
    """Changes a library. A write that isn't renewed within `lease` seconds is given up by others."""

    def __init__(self, root: Root, lease: float = LEASE) -> None:
        self._root = root
        self._lease = lease

    def write(self, upload: Upload, replaced: Callable[[State], Dropped]) -> None:
        """Uploads something and makes it count, in one step with dropping what it replaces."""
        for _ in range(_DONE_AGAIN):
            token = secrets.token_hex(8)
            state = self._begin(token, upload)
            try:
                self._send(upload, state, token)
                state = self._finish(upload, state, token, replaced)
            except _GivenUp:
                continue
            except Exception:
                # What can't be noted now is given up later, when it isn't renewed.
                with suppress(LibraryError):
                    self._root.change(lambda state: _given_up(state, lambda writing: writing.token == token))  # noqa: B023
                    self.tidy()
                raise
            if state.erasing:
                self.tidy()
            return
        raise LibraryBusy(
            f"A write to {self._root.connection.address.shown} was given up {_DONE_AGAIN} times because it took more "
            f"than {self._lease:g} seconds between two requests. Check that the clocks of all machines that write "
            "there agree, then try again."
        )

    def drop(self, dropped: Callable[[State], Dropped]) -> bool:
        """Makes something count no more, and erases it; False when there is nothing."""
        found: list[Dropped] = []

        def without(state: State) -> State | None:
            lost = dropped(state)
            if not lost.generations:
                return None
            found.append(lost)
            return _without(state, lost)

        self._root.change(without)
        if found:
            self.tidy()
        return bool(found)

    def tidy(self, thoroughly: bool = False) -> None:
        """Gives up writes that nobody renews and erases what doesn't count.

        `thoroughly` looks again for what was given up: a request that was under way may have arrived since.
        """
        now = time.time()
        state = self._root.change(lambda state: _given_up(state, lambda writing: writing.until < now))
        erased = joined([*state.erasing, *(state.abandoned if thoroughly else ())])
        if not erased:
            return
        # What is gathered to take the place of the chunks has those that were dropped meanwhile too.
        gathered = (state.switched().chunk_collection,) if state.next_vectors else ()
        for collection in (state.collection, state.chunk_collection, *gathered):
            # Without an embedder there are no chunks yet; when the library was replaced its collections are gone.
            with suppress(CollectionGone):
                self._root.connection.delete(collection, models.Filter(should=within(erased)))
        if state.erasing:
            self._root.change(lambda state: _without_erased(state, state.identity, erased), state)

    def _begin(self, token: str, upload: Upload) -> State:
        def begun(state: State) -> State | None:
            if state.written_by(token):
                return None
            last = state.generation + upload.generations
            until = time.time() + self._lease
            note = Writing(token, state.generation + 1, last, state.number, until)
            number = state.number + upload.numbers
            return replace(state, writing=(*state.writing, note), generation=last, number=number)

        return self._root.change(begun, self._root.known())

    def _send(self, upload: Upload, state: State, token: str) -> None:
        note = state.written_by(token)
        assert note is not None
        renewed = time.time()

        def renew() -> None:
            nonlocal renewed
            if time.time() - renewed > self._lease / 2:
                self._root.change(lambda now: _renewed(now, state.identity, token, self._lease))
                renewed = time.time()

        try:
            upload.send(state, note, renew)
        except CollectionGone:
            now = self._root.read()
            if now.identity != state.identity:
                raise _GivenUp from None
            Binding(state.fingerprint).check(now.fingerprint)
            raise

    def _finish(self, upload: Upload, begun: State, token: str, replaced: Callable[[State], Dropped]) -> State:
        note = begun.written_by(token)
        assert note is not None

        def finished(state: State) -> State | None:
            if state.identity != begun.identity or any(first <= note.first <= last for first, last in state.abandoned):
                raise _GivenUp
            if state.written_by(token) is None:
                # Done by an attempt whose answer was lost.
                return None
            if upload.numbers:
                # Its chunks lie where nobody looks any more.
                Binding(begun.fingerprint).check(state.fingerprint)
            counted = _without(state, replaced(state))
            return replace(
                counted,
                writing=tuple(writing for writing in counted.writing if writing.token != token),
                documents=counted.documents + upload.documents,
                chunks=counted.chunks + upload.numbers,
            )

        return self._root.change(finished, begun)


def _without(state: State, lost: Dropped) -> State:
    spans: list[Span] = [(generation, generation) for generation in lost.generations]
    return replace(
        state,
        erasing=joined([*state.erasing, *spans]),
        dropped=state.dropped + len(lost.generations),
        documents=state.documents - lost.documents,
        chunks=state.chunks - lost.chunks,
    )


def _given_up(state: State, is_given_up: Callable[[Writing], bool]) -> State | None:
    lost: Iterable[Span] = [(writing.first, writing.last) for writing in state.writing if is_given_up(writing)]
    if not lost:
        return None
    return replace(
        state,
        writing=tuple(writing for writing in state.writing if not is_given_up(writing)),
        erasing=joined([*state.erasing, *lost]),
        abandoned=joined([*state.abandoned, *lost]),
    )


def _renewed(state: State, identity: str, token: str, lease: float) -> State:
    if state.identity != identity or state.written_by(token) is None:
        raise _GivenUp
    until = time.time() + lease
    notes = (replace(note, until=until) if note.token == token else note for note in state.writing)
    return replace(state, writing=tuple(notes))


def _without_erased(state: State, identity: str, erased: Iterable[Span]) -> State | None:
    if state.identity != identity:
        return None
    spans = list(erased)
    left = (span for span in state.erasing if not any(first <= span[0] and span[1] <= last for first, last in spans))
    return replace(state, erasing=tuple(left))
