"""Addresses and names → a library. The only place that knows which adapters there are.

Each is imported where it is built: importing the package, and `answerable --help`, load none of them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.datatypes import Document
from answerable.errors import SettingsError
from answerable.library import Library
from answerable.protocols import Answerer, Embedder, Reader, Store, TextSplitter
from answerable.settings import Settings, load_settings

if TYPE_CHECKING:
    from answerable.embedding.local import LocalEmbedder

MEMORY = ":memory:"


def open(address: str | os.PathLike[str] | None = None, create: bool = True, **settings: Any) -> Library:
    """The library at an address: a folder, or `:memory:`; by default the user's own.

    It is made where there is none, unless `create` is false: then LibraryNotFound is raised. `settings` are those of
    `Settings`; environment and `answerable.toml` give the rest. Raises SettingsError and LibraryError.
    """
    if address is not None:
        settings["library"] = os.fspath(address)
    return build_library(load_settings(settings), create)


def read(path: str | os.PathLike[str], **settings: Any) -> list[Document]:
    """The documents at a path, a file or a folder, without adding them anywhere. Raises SourceError."""
    reader = build_reader(load_settings(settings))
    try:
        return [document for item in reader.listing(os.fspath(path)).items for document in item.read()]
    finally:
        reader.close()


def build_library(settings: Settings, create: bool = True) -> Library:
    """The library that the settings describe."""
    store = build_store(settings.library_address, create)
    try:
        return Library(
            store=store,
            embedder=build_embedder(settings),
            splitter=build_splitter(settings),
            reader=build_reader(settings),
            answerer=build_answerer(settings),
        )
    except BaseException:
        store.close()
        raise


def build_store(address: str, create: bool = True) -> Store:
    """The store at an address."""
    if address == MEMORY:
        from answerable.stores.memory import MemoryStore

        return MemoryStore()
    if "://" in address:
        raise SettingsError(
            f"There is no store for {address!r}. A library is a folder, or {MEMORY} for this process only."
        )
    from answerable.stores.embedded import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def build_embedder(settings: Settings) -> Embedder:
    """The embedder with its cache."""
    from answerable.embedding.cache import CachedEmbedder
    from answerable.embedding.local import MODEL

    if settings.embedder not in ("local", f"local:{MODEL}"):
        raise SettingsError(f"There is no embedder {settings.embedder!r}. Use local.")
    return CachedEmbedder(build_local_embedder(settings), settings.cache_path / "embeddings.db", settings.cache_size)


def build_local_embedder(settings: Settings) -> LocalEmbedder:
    """The embedder that runs on this machine, without a cache."""
    from answerable.embedding.local import LocalEmbedder

    return LocalEmbedder(settings.threads, settings.cache_path / "models", settings.local_runtime)


def build_reader(settings: Settings) -> Reader:
    """The reader of files and folders."""
    from answerable.sources.limits import ReadLimits
    from answerable.sources.reader import FileReader

    limits = ReadLimits(settings.max_file_size, settings.max_pdf_seconds, settings.max_pdf_memory)
    return FileReader(limits, settings.pdf_password or None)


def build_splitter(settings: Settings) -> TextSplitter:
    """What cuts documents into passages."""
    from answerable.splitting.by_type import SplitterByType

    return SplitterByType(settings.chunk_size, settings.chunk_overlap)


def build_answerer(settings: Settings) -> Answerer:
    """What turns evidence into an answer."""
    if settings.model != "extractive":
        raise SettingsError(f"There is no model {settings.model!r}. Use extractive.")
    from answerable.answering.extractive import ExtractiveAnswerer
    from answerable.answering.gate import E5_SMALL

    return ExtractiveAnswerer(E5_SMALL if settings.refuse else None, settings.quotes)


def _hide(folder: Path) -> None:
    """Keeps a library's own files from being taken for documents when a folder around it is added."""
    with suppress(OSError), (folder / ".answerableignore").open("x") as file:
        file.write("/index/\n/index.*\n/library.db*\n")
