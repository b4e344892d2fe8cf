"""Addresses and names → a library. The only place that knows which adapters there are, with its parts in `building/`.

Each is imported where it is built: importing the package, and `answerable --help`, load none of them.
"""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document
from answerable.errors import MissingPackage
from answerable.indexing.workers.steps import Tools, Workers
from answerable.library import Library
from answerable.protocols import Embedder, Fingerprint
from answerable.retrieval.retriever import Steps
from answerable.settings import Settings, load_settings
from answerable.wiring.answering import (
    EXTRACTIVE,
    build_answerer,
    build_chat_model,
    build_gate,
    build_reranker,
    gate_path,
)
from answerable.wiring.passages import build_embedder, build_local_embedder, build_splitter
from answerable.wiring.sources import build_reader, is_site
from answerable.wiring.stores import (
    MEMORY,
    build_store,
    copy_library,
    import_collection,
    salvage_library,
    without_password,
)

if TYPE_CHECKING:
    from answerable.indexing.workers.worker_pool import WorkerPool

__all__ = [
    "EXTRACTIVE",
    "MEMORY",
    "build_answerer",
    "build_chat_model",
    "build_embedder",
    "build_gate",
    "build_library",
    "build_local_embedder",
    "build_reader",
    "build_reranker",
    "build_splitter",
    "build_store",
    "build_tools",
    "build_worker_pool",
    "copy_library",
    "gate_path",
    "import_collection",
    "open",
    "read",
    "salvage_library",
    "without_password",
]


def open(address: str | os.PathLike[str] | None = None, create: bool = True, **settings: Any) -> Library:
    """The library at an address: a folder, or `:memory:`; by default the user's own.

    It is made where there is none, unless `create` is false: then LibraryNotFound is raised. `settings` are those of
    `Settings`; environment and `answerable.toml` give the rest. Raises SettingsError and LibraryError.
    """
    if address is not None:
        settings["library"] = os.fspath(address)
    return build_library(load_settings(settings), create)


def read(path: str | os.PathLike[str], **settings: Any) -> list[Document]:
    """The documents at a path, a file, a folder or a site, without adding them anywhere. Raises SourceError.

    Of a site, pages that can't be read are left out.
    """
    source = os.fspath(path)
    with closing(build_reader(load_settings(settings))) as reader:
        if not is_site(source):
            return [document for item in reader.listing(source).items for document in item.read()]
        with closing(reader.visit(source)) as visit, closing(visit.items({})) as pages:
            return [document for page in pages for document in page.documents]


def build_library(settings: Settings, create: bool = True, root: Path | None = None) -> Library:
    """The library that the settings describe. Files under `root` have their names in there as sources."""
    store = build_store(settings.library_address, create, settings.qdrant_api_key)
    try:
        embedder = build_embedder(settings, store.fingerprint)
        worker_pool = build_worker_pool(settings, embedder)
        return Library(
            store=store,
            embedder=embedder,
            splitter=build_splitter(settings),
            reader=build_reader(settings, root, worker_pool),
            answerer=build_answerer(settings, embedder.fingerprint),
            narrows=settings.narrow,
            steps=Steps(build_reranker(settings, embedder)),
            worker_pool=worker_pool,
        )
    except BaseException:
        store.close()
        raise


def build_worker_pool(settings: Settings, embedder: Embedder) -> WorkerPool | None:
    """The workers that the settings ask for, whose vectors are this embedder's; None where this process does all."""
    if settings.workers == 1 and not settings.ray:
        return None
    from answerable.indexing.workers.worker_pool import WorkerPool

    return WorkerPool(partial(_hire, settings, embedder))


def _hire(settings: Settings, embedder: Embedder) -> Workers:
    # Where the embedder is one of two, the workers must use the one that was chosen here.
    bound = embedder.fingerprint
    if settings.ray:
        try:
            from answerable.indexing.workers.ray_cluster import ray_cluster
        except ImportError as error:
            raise MissingPackage("A Ray cluster needs the package ray", "ray") from error
        count = settings.workers if settings.workers > 1 else 0
        make_tools = partial(build_tools, _of_worker(settings, settings.threads or 1), bound)
        return ray_cluster(settings.ray, count, make_tools)
    from answerable.indexing.workers.processes import processes

    threads = settings.threads or max((os.cpu_count() or 1) // settings.workers, 1)
    return processes(settings.workers, partial(build_tools, _of_worker(settings, threads), bound))


def _of_worker(settings: Settings, threads: int) -> Settings:
    """What a worker needs: nothing that opens the library."""
    return replace(settings, library=MEMORY, qdrant_api_key="", workers=1, ray="", threads=threads)


def build_tools(settings: Settings, bound: Fingerprint | None = None) -> Tools:
    """What a worker reads, splits and embeds with; `bound` is what made the vectors that are there already."""
    return Tools(build_reader(settings), build_splitter(settings), build_embedder(settings, bound))
