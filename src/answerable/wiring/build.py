"""Build a library, its parts and its workers from the settings.

Adapters are imported only when they are built, so importing the package or running `answerable --help` loads none.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from answerable.datatypes import Document
from answerable.errors import MissingPackage, SettingsError
from answerable.indexing.prepare import Pipeline
from answerable.library import PASSAGES_PER_ANSWER, Library
from answerable.protocols import Answerer, ChatModel, CoreStore, Embedder, Fingerprint, Reader, Store
from answerable.retrieval.retriever import Steps
from answerable.settings import Settings, load_settings
from answerable.sources.html.web_address import is_site
from answerable.stores.completed import completed
from answerable.wiring.answering import build_answer_reader as build_answer_reader
from answerable.wiring.answering import build_answerer as build_answerer
from answerable.wiring.answering import build_chat_model as build_chat_model
from answerable.wiring.answering import build_reranker as build_reranker
from answerable.wiring.answering import gate_path as gate_path
from answerable.wiring.answering import is_reading
from answerable.wiring.passages import build_embedder as build_embedder
from answerable.wiring.passages import build_local_embedder as build_local_embedder
from answerable.wiring.passages import build_splitter as build_splitter
from answerable.wiring.providers import EXTRACTIVE as EXTRACTIVE
from answerable.wiring.sources import build_reader as build_reader
from answerable.wiring.stores import MEMORY as MEMORY
from answerable.wiring.stores import build_federation
from answerable.wiring.stores import build_store as build_store
from answerable.wiring.stores import copy_library as copy_library
from answerable.wiring.stores import without_password as without_password

if TYPE_CHECKING:
    from answerable.answering.decide import Answering
    from answerable.indexing.worker_pool import JobQueue, WorkerPool

Address: TypeAlias = "str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None"
"""A library's address: a folder, a server's address, `:memory:`, or several of these; None for the user's own one."""


def open(
    address: Address = None,
    create: bool = True,
    store: CoreStore | None = None,
    source_reader: Reader | None = None,
    embedder: str | Embedder | None = None,
    model: str | ChatModel | Answerer | Answering | None = None,
    **settings: Any,
) -> Library:
    """Open the library at an address, such as a folder or `:memory:`; by default the user's own library.

    Several addresses open all their libraries as one, to search and ask: each must exist, and those that fail later
    are in `Answer.unavailable`. Create the library if it doesn't exist; with `create=False` raise LibraryNotFound.
    `embedder`, `model` and the other `settings` are fields of `Settings`; their defaults come from the environment and
    `answerable.toml`. Your own object as `store`, `source_reader`, `embedder` or `model` (a chat model or an answerer,
    whose text is checked) replaces the one that the settings name (see docs/python.md and docs/extending.md). Raise
    SettingsError and LibraryError.
    """
    several: Sequence[str] = ()
    if isinstance(address, (str, os.PathLike)):
        settings["library"] = os.fspath(address)
    elif address is not None:
        several = [os.fspath(each) for each in address]
        if len(several) == 1:
            settings["library"], several = several[0], ()
        elif not several or store is not None:
            raise SettingsError("Give the address of at least one library, and several only without a store.")
    named = {name: value for name, value in {"embedder": embedder, "model": model}.items() if isinstance(value, str)}
    own_embedder = None if isinstance(embedder, str) else embedder
    own_model = None if isinstance(model, str) else model
    read = load_settings({**settings, **named})
    whole = build_stores(read, several) if several else store
    return build_library(read, create, None, whole, source_reader, own_embedder, own_model)


def build_stores(settings: Settings, addresses: Sequence[str]) -> Store:
    """Return the stores at several addresses as one store, to search and read."""
    return build_federation(addresses, settings.qdrant_api_key, settings.library_timeout)


def read(path: str | os.PathLike[str], **settings: Any) -> list[Document]:
    """Return the documents of a file, folder or site without adding them to a library. Raise SourceError.

    Unreadable pages of a site are left out.
    """
    source = os.fspath(path)
    with closing(build_reader(load_settings(settings))) as reader:
        if not is_site(source):
            return [document for item in reader.listing(source) for document in item.read()]
        with closing(reader.visit(source)) as visit, closing(visit.items({})) as pages:
            return [document for page in pages for document in page.documents]


def build_library(
    settings: Settings,
    create: bool = True,
    root: Path | None = None,
    store: Store | CoreStore | None = None,
    source_reader: Reader | None = None,
    own_embedder: Embedder | None = None,
    own_model: ChatModel | Answerer | Answering | None = None,
) -> Library:
    """Build the library that the settings describe. Sources of files under `root` are paths relative to it.

    Vectors of an embedder that the caller passes aren't cached: different versions of it may have one fingerprint.
    """
    whole = (
        build_store(settings.library_address, create, settings.qdrant_api_key) if store is None else completed(store)
    )
    try:
        embedder = own_embedder or build_embedder(settings, whole.fingerprint)
        if own_embedder is not None and (settings.workers > 1 or settings.ray):
            raise SettingsError("Workers can't use an embedder of your own program. Leave workers on 1 and ray empty.")
        worker_pool = build_worker_pool(settings, embedder)
        return Library(
            store=whole,
            embedder=embedder,
            splitter=build_splitter(settings),
            reader=source_reader or build_reader(settings, root, worker_pool),
            answerer=build_answerer(settings, embedder.fingerprint, own_model),
            narrows=settings.narrow,
            steps=Steps(build_reranker(settings, embedder)),
            worker_pool=worker_pool,
            passages=passages_per_answer(settings),
        )
    except BaseException:
        whole.close()
        raise


def passages_per_answer(settings: Settings) -> int:
    """Return the number of passages in which to look for an answer."""
    if not is_reading(settings):
        return PASSAGES_PER_ANSWER
    from answerable.answering.reading import PASSAGES

    return PASSAGES


def build_worker_pool(settings: Settings, embedder: Embedder) -> WorkerPool | None:
    """Build the worker pool that the settings ask for; None if this process does all the work."""
    if settings.workers == 1 and not settings.ray:
        return None
    from answerable.indexing.worker_pool import WorkerPool

    return WorkerPool(partial(_start_workers, settings, embedder))


def _start_workers(settings: Settings, embedder: Embedder) -> JobQueue:
    # If the settings name a fallback embedder, workers must use the embedder chosen here.
    bound = embedder.fingerprint
    if settings.ray:
        try:
            from answerable.indexing.ray_cluster import start_ray_workers
        except ImportError as error:
            raise MissingPackage("A Ray cluster needs the package ray", "ray") from error
        count = settings.workers if settings.workers > 1 else 0
        make_pipeline = partial(build_tools, _of_worker(settings, settings.threads or 1), bound)
        return start_ray_workers(settings.ray, count, make_pipeline)
    from answerable.indexing.processes import start_processes

    threads = settings.threads or max((os.cpu_count() or 1) // settings.workers, 1)
    return start_processes(settings.workers, partial(build_tools, _of_worker(settings, threads), bound))


def _of_worker(settings: Settings, threads: int) -> Settings:
    """Return the settings for a worker, which has no access to the library."""
    return replace(settings, library=MEMORY, qdrant_api_key="", workers=1, ray="", threads=threads)


def build_tools(settings: Settings, bound: Fingerprint | None = None) -> Pipeline:
    """Build a worker's pipeline; `bound` identifies the embedder of the library's vectors."""
    return Pipeline(build_reader(settings), build_splitter(settings), build_embedder(settings, bound))
