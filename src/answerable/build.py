"""Addresses and names → a library. The only place that knows which adapters there are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from answerable.answering.extractive import ExtractiveAnswerer
from answerable.answering.gate import E5_SMALL
from answerable.datatypes import Document
from answerable.embedding.cache import CachedEmbedder
from answerable.embedding.local import MODEL, LocalEmbedder
from answerable.errors import SettingsError
from answerable.library import Library
from answerable.protocols import Answerer, Embedder, Store
from answerable.settings import Settings, load_settings
from answerable.sources.limits import ReadLimits
from answerable.sources.reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded import EmbeddedStore
from answerable.stores.memory import MemoryStore

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
            splitter=SplitterByType(settings.chunk_size, settings.chunk_overlap),
            reader=build_reader(settings),
            answerer=build_answerer(settings),
        )
    except BaseException:
        store.close()
        raise


def build_store(address: str, create: bool = True) -> Store:
    """The store at an address."""
    if address == MEMORY:
        return MemoryStore()
    if "://" in address:
        raise SettingsError(
            f"There is no store for {address!r}. A library is a folder, or {MEMORY} for this process only."
        )
    return EmbeddedStore(Path(address).expanduser(), create)


def build_embedder(settings: Settings) -> Embedder:
    """The embedder with its cache."""
    if settings.embedder not in ("local", f"local:{MODEL}"):
        raise SettingsError(f"There is no embedder {settings.embedder!r}. Use local.")
    return CachedEmbedder(build_local_embedder(settings), settings.cache_path / "embeddings.db", settings.cache_size)


def build_local_embedder(settings: Settings) -> LocalEmbedder:
    """The embedder that runs on this machine, without a cache."""
    return LocalEmbedder(settings.threads, settings.cache_path / "models", settings.local_runtime)


def build_reader(settings: Settings) -> FileReader:
    """The reader of files and folders."""
    limits = ReadLimits(settings.max_file_size, settings.max_pdf_seconds, settings.max_pdf_memory)
    return FileReader(limits, settings.pdf_password or None)


def build_answerer(settings: Settings) -> Answerer:
    """What turns evidence into an answer."""
    if settings.model != "extractive":
        raise SettingsError(f"There is no model {settings.model!r}. Use extractive.")
    return ExtractiveAnswerer(E5_SMALL if settings.refuse else None, settings.quotes)
