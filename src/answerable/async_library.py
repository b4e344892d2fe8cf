"""`AsyncLibrary`: a library for asyncio programs. Its methods run the methods of `Library` on threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Sequence
from contextlib import aclosing
from copy import copy
from functools import partial, wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, TypeVar

from answerable.answering.decide import Answering
from answerable.datatypes import Answer, AnswerEvent, Exchange
from answerable.errors import LibraryError
from answerable.indexing.ingest import OnProgress, Progress
from answerable.library import Library, Where
from answerable.protocols import Answerer, ChatModel, CoreStore, Embedder, Reader
from answerable.sharing import Work
from answerable.threads import Pool
from answerable.wiring.build import Address
from answerable.wiring.build import open as wiring_open

P = ParamSpec("P")
T = TypeVar("T")

# Calls that run at once; most of them compute and share the processors. A guess, not measured.
THREADS = 8


def _on_thread(
    method: Callable[Concatenate[Library, P], T],
) -> Callable[Concatenate[AsyncLibrary, P], Coroutine[Any, Any, T]]:
    @wraps(method)
    async def run(self: AsyncLibrary, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._pool().run(method, self.blocking, *args, **kwargs)

    return run


def _reporting(
    method: Callable[Concatenate[Library, P], T],
) -> Callable[Concatenate[AsyncLibrary, P], Coroutine[Any, Any, T]]:
    """Run a method with the parameter `on_progress` on a thread, until it is done or cancelled."""
    parameters = signature(method)

    @wraps(method)
    async def run(self: AsyncLibrary, /, *args: P.args, **kwargs: P.kwargs) -> T:
        given = parameters.bind(self.blocking, *args, **kwargs)
        reports = _Reports(given.arguments.get("on_progress"))
        given.arguments["on_progress"] = reports
        try:
            return await self._pool().run(lambda: method(*given.args, **given.kwargs))
        finally:
            reports.cancelled.set()

    return run


class _Reports:
    """Passes progress reports from a thread to the event loop; ends the thread's work once that is cancelled."""

    def __init__(self, on_progress: OnProgress | None) -> None:
        self._on_progress = on_progress
        self._loop = asyncio.get_running_loop()
        self.cancelled = threading.Event()

    def __call__(self, progress: Progress) -> None:
        if self.cancelled.is_set():
            raise asyncio.CancelledError
        if self._on_progress is not None:
            self._loop.call_soon_threadsafe(self._on_progress, progress)


class AsyncLibrary:
    """A `Library` with methods to await: each runs on one of a few threads, so the event loop never waits for it.

    Methods, arguments, results and errors are as in `Library`; `on_progress` is called in the event loop. `blocking` is
    the underlying Library. If `add`, `sync` or `add_documents` is cancelled, it stops after the current passages, and
    each document is stored whole or not at all. Cancelling `ask` or leaving `ask_stream` stops the chat model. Other
    methods run to their end on their thread. After `close`, every method raises LibraryError.
    """

    def __init__(self, library: Library, threads: int = THREADS) -> None:
        self.blocking = library
        self._threads = Pool(threads, waiting=None)
        self._closed = threading.Event()

    async def __aenter__(self) -> AsyncLibrary:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Wait for running calls, then release all resources. Idempotent."""
        self._closed.set()
        await asyncio.shield(asyncio.to_thread(self._close))

    def _close(self) -> None:
        self._threads.close(patience=None)
        self.blocking.close()

    @property
    def embedder(self) -> Embedder:
        """The embedder that makes the library's vectors."""
        return self.blocking.embedder

    def reading_with(self, reader: Reader) -> AsyncLibrary:
        """Return this library with another file reader, such as one with a password. The caller closes the reader."""
        other = copy(self)
        other.blocking = self.blocking.reading_with(reader)
        return other

    def use_answerer(self, answerer: Answering) -> Answering:
        """Use another answerer for the next questions; return the previous answerer, which may still be answering."""
        return self.blocking.use_answerer(answerer)

    async def ask(self, question: str, where: Where = None, history: Sequence[Exchange] = ()) -> Answer:
        """Answer with citations verified verbatim, or refuse. The question may refer to the exchanges of `history`."""
        async with aclosing(self.ask_stream(question, where, history)) as events:
            async for event in events:
                if event.answer is not None:
                    return event.answer
        raise AssertionError("events end with an answer")

    async def ask_stream(
        self,
        question: str,
        where: Where = None,
        history: Sequence[Exchange] = (),
        narrows: bool = True,
        work: Work | None = None,
    ) -> AsyncGenerator[AnswerEvent, None]:
        """Yield the events of `ask`; the last one has the answer. Closing the generator stops the chat model.

        Without `narrows`, a person or a time in the question isn't used as a filter. Leaving the stream stops `work`.
        """
        events = self._pool().stream(lambda own: self.blocking.ask_stream(question, where, history, narrows, own), work)
        async with aclosing(events):
            async for event in events:
                yield event

    def _pool(self) -> Pool:
        if self._closed.is_set():
            raise LibraryError("The library is closed. Open it again: async with answerable.aopen(…) as library")
        return self._threads

    add = _reporting(Library.add)
    add_documents = _reporting(Library.add_documents)
    sync = _reporting(Library.sync)
    make_vectors = _reporting(Library.make_vectors)
    waiting = _on_thread(Library.waiting)
    origins = _on_thread(Library.origins)
    unfollow = _on_thread(Library.unfollow)
    verify = _on_thread(Library.verify)
    search = _on_thread(Library.search)
    places = _on_thread(Library.places)
    narrowing = _on_thread(Library.narrowing)
    quote = _on_thread(Library.quote)
    evidence = _on_thread(Library.evidence)
    choices = _on_thread(Library.choices)
    remove = _on_thread(Library.remove)
    unerased = _on_thread(Library.unerased)
    resolve = _on_thread(Library.resolve)
    document = _on_thread(Library.document)
    file_hashes = _on_thread(Library.file_hashes)
    documents = _on_thread(Library.documents)
    summary = _on_thread(Library.summary)
    table = _on_thread(Library.table)
    chunks = _on_thread(Library.chunks)
    neighbours = _on_thread(Library.neighbours)
    count = _on_thread(Library.count)
    stats = _on_thread(Library.stats)


class Opening:
    """Opens a library when awaited or entered: `async with answerable.aopen(…) as library`."""

    def __init__(self, make: Callable[[], Library]) -> None:
        self._make = make
        self._opened: AsyncLibrary | None = None

    def __await__(self) -> Generator[Any, None, AsyncLibrary]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncLibrary:
        self._opened = await self._open()
        return self._opened

    async def __aexit__(self, *_: object) -> None:
        if self._opened is not None:
            await self._opened.close()

    async def _open(self) -> AsyncLibrary:
        left = threading.Event()

        def make() -> Library:
            library = self._make()
            if left.is_set():
                # The task that opened the library was cancelled meanwhile.
                library.close()
            return library

        try:
            return AsyncLibrary(await asyncio.to_thread(make))
        except asyncio.CancelledError:
            left.set()
            raise


def aopen(
    address: Address = None,
    create: bool = True,
    store: CoreStore | None = None,
    source_reader: Reader | None = None,
    embedder: str | Embedder | None = None,
    model: str | ChatModel | Answerer | None = None,
    **settings: Any,
) -> Opening:
    """Open an AsyncLibrary in an asyncio program: `async with answerable.aopen(address) as library`.

    You can also `await` the result of `aopen`, and close the library when you are done. Arguments and errors are as in
    `open`, which runs on a thread.
    """
    return Opening(partial(wiring_open, address, create, store, source_reader, embedder, model, **settings))
