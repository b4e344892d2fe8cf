"""Operations on a whole library by its address: export, import, copy, reindex, salvage."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.errors import LibraryDamaged
from answerable.protocols import Fingerprint, Store
from answerable.settings import Settings
from answerable.wiring.passages import build_embedder
from answerable.wiring.stores import MEMORY, build_store, without_password

if TYPE_CHECKING:
    from answerable.indexing.reports import AddReport, OnProgress
    from answerable.maintenance.backup.exporting import ExportReport, OnExported
    from answerable.maintenance.copy import CopyReport, OnCopied
    from answerable.maintenance.reindex import OnReindexed, ReindexReport


def _open_store(settings: Settings, create: bool = False) -> Store:
    return build_store(settings.library_address, create, settings.qdrant_api_key)


def export_library(
    settings: Settings, path: Path, overwrite: bool = False, on_progress: OnExported | None = None
) -> ExportReport:
    """Write the library to a file. Raise LibraryNotFound and LibraryError; see `backup.exporting`."""
    from answerable.maintenance.backup.exporting import export_store

    with closing(_open_store(settings)) as store:
        return export_store(store, path, overwrite, on_progress)


def import_library(settings: Settings, path: Path, on_progress: OnCopied | None = None) -> CopyReport:
    """Add the contents of an exported file to the library; create the library if needed. Raise LibraryError.

    See `backup.importing`.
    """
    from answerable.maintenance.backup.importing import import_store

    return import_store(path, lambda: _open_store(settings, create=True), on_progress)


def reindex_library(settings: Settings, dry_run: bool = False, on_progress: OnReindexed | None = None) -> ReindexReport:
    """Rebuild all vectors with the embedder of the settings; `dry_run` only estimates the cost.

    Raise LibraryNotFound, LibraryError, EmbedderMismatch, SettingsError and ProviderError; see `maintenance.reindex`.
    """
    from answerable.maintenance.reindex import estimate, reindex

    with closing(_open_store(settings)) as store:
        # With two embedders, continue with the one that started.
        embedder = build_embedder(settings, store.next_vectors().fingerprint)
        return estimate(store, embedder) if dry_run else reindex(store, embedder, on_progress)


def abandon_reindex(settings: Settings) -> Fingerprint | None:
    """Drop an unfinished reindex. Return its embedder, or None if there was none. Raise LibraryError."""
    with closing(_open_store(settings)) as store:
        next_vectors = store.next_vectors()
        embedder = next_vectors.fingerprint
        next_vectors.drop()
        return embedder


def salvage_library(address: str) -> None:
    """Rebuild a damaged library in a folder from what can still be read. Raise LibraryError."""
    if "://" in address:
        raise LibraryDamaged(
            f"Only a library in a folder can be rebuilt: restore {without_password(address)} from a backup."
        )
    from answerable.stores.embedded.database.salvage import salvage

    salvage(Path(os.path.expanduser(address)) / "library.db")


def copy_library(source: str, target: str, on_progress: OnCopied | None = None, qdrant_api_key: str = "") -> CopyReport:
    """Copy a library to another address without embedding again. A second call resumes an interrupted copy.

    The key is for a Qdrant server at either address. Raise LibraryNotFound, EmbedderMismatch and LibraryError.
    """
    from answerable.maintenance.copy import copy_store

    with (
        closing(build_store(source, False, qdrant_api_key)) as copied,
        closing(build_store(target, True, qdrant_api_key)) as made,
    ):
        return copy_store(copied, made, on_progress)


def import_collection(
    address: str, settings: Settings, on_progress: OnProgress | None = None, dry_run: bool = False
) -> AddReport:
    """Add the documents and vectors of a collection of LangChain's PGVector; nothing is embedded.

    The vectors are assumed to come from the embedder of the settings or, without one, from OpenAI's
    text-embedding-3-small. Raise SourceError, and EmbedderMismatch if the library's vectors come from another model.
    """
    from answerable.indexing.ingest import Ingestion
    from answerable.sources.langchain.collection import LangChainCollection

    provider, _, model = settings.embedder.partition(":")
    made_by = (provider, model) if model else ("openai", settings.openai_embedding_model)
    library = MEMORY if dry_run else settings.library_address
    with (
        closing(LangChainCollection(address, *made_by)) as found,
        closing(build_store(library, True, settings.qdrant_api_key)) as store,
    ):
        return Ingestion(store, found, found, len(found.sources), on_progress, dry_run).run(found.documents())
