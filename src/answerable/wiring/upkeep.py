"""What is done to a library as a whole, by its address: exported to a file, imported, given another embedder."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.protocols import Fingerprint, Store
from answerable.settings import Settings
from answerable.wiring.build import build_embedder, build_store

if TYPE_CHECKING:
    from answerable.maintenance.backup.exporting import ExportReport, OnExported
    from answerable.maintenance.copy import CopyReport, OnCopied
    from answerable.maintenance.reindex import OnReindexed, ReindexReport


def export_library(
    settings: Settings, path: Path, overwrite: bool = False, on_progress: OnExported | None = None
) -> ExportReport:
    """Writes the library to a file. Raises LibraryNotFound and LibraryError; see `backup.exporting`."""
    from answerable.maintenance.backup.exporting import export_store

    with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
        return export_store(store, path, overwrite, on_progress)


def import_library(settings: Settings, path: Path, on_progress: OnCopied | None = None) -> CopyReport:
    """Puts what a file holds into the library, which is made where there is none. Raises LibraryError.

    See `backup.importing`.
    """
    from answerable.maintenance.backup.importing import import_store

    def make() -> Store:
        return build_store(settings.library_address, True, settings.qdrant_api_key)

    return import_store(path, make, on_progress)


def reindex_library(settings: Settings, dry_run: bool = False, on_progress: OnReindexed | None = None) -> ReindexReport:
    """Makes all vectors of the library anew with the embedder of the settings; `dry_run` only tells what it takes.

    Raises LibraryNotFound, LibraryError, EmbedderMismatch, SettingsError and ProviderError; see `reindexing`.
    """
    from answerable.maintenance.reindex import estimate, reindex

    with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
        # Of two embedders, the one that has begun goes on.
        embedder = build_embedder(settings, store.next_vectors().fingerprint)
        return estimate(store, embedder) if dry_run else reindex(store, embedder, on_progress)


def abandon_reindex(settings: Settings) -> Fingerprint | None:
    """Drops what an unfinished reindex has made; gives its embedder, None where there was none. Raises LibraryError."""
    with closing(build_store(settings.library_address, False, settings.qdrant_api_key)) as store:
        gathered = store.next_vectors()
        begun = gathered.fingerprint
        gathered.drop()
        return begun
