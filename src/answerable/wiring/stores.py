"""What keeps a library at an address, and how one gets from an address to another."""

from __future__ import annotations

import os
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.disk.private import make_file
from answerable.errors import LibraryDamaged, SettingsError
from answerable.protocols import Store
from answerable.settings import Settings

if TYPE_CHECKING:
    from answerable.indexing.ingest import AddReport, OnProgress
    from answerable.maintenance.copy import CopyReport, OnCopied

MEMORY = ":memory:"


def build_store(address: str, create: bool = True, qdrant_api_key: str = "") -> Store:
    """The store at an address. The key is for addresses of a Qdrant server, which hold none."""
    if address == MEMORY:
        from answerable.stores.memory.store import MemoryStore

        return MemoryStore()
    from answerable.stores.postgres.address import is_postgres

    if is_postgres(address):
        from answerable.stores.postgres.store import PostgresStore

        return PostgresStore(address, create)
    from answerable.stores.qdrant.address import is_qdrant

    if is_qdrant(address):
        from answerable.stores.qdrant.store import QdrantStore

        return QdrantStore(address, create, qdrant_api_key)
    if "://" in address:
        scheme, _, rest = address.partition("://")
        # What stands before an @ may hold a password.
        raise SettingsError(
            f"There is no store for {scheme}://{rest.rpartition('@')[2]}. A library is a folder, "
            f"postgresql://USER:PASSWORD@HOST/DATABASE, qdrant+http://HOST/NAME, or {MEMORY} for this process only."
        )
    from answerable.stores.embedded.store import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def _hide(folder: Path) -> None:
    """Keeps a library's own files from being taken for documents when a folder around it is added."""
    ignored = folder / ".answerableignore"
    with suppress(OSError):
        if not ignored.exists():
            make_file(ignored)
            ignored.write_text("/index/\n/index.*\n/library.db*\n")


def salvage_library(address: str) -> None:
    """Makes a library anew from what can be read of it, where that is a folder. Raises LibraryError."""
    if "://" in address:
        raise LibraryDamaged(
            f"Only a library in a folder can be made anew: restore {without_password(address)} from a backup."
        )
    from answerable.stores.embedded.database.salvage import salvage

    salvage(Path(os.path.expanduser(address)) / "library.db")


def without_password(address: str) -> str:
    """A library's address as it may be shown."""
    from answerable.stores.postgres.address import shown
    from answerable.stores.qdrant.address import is_qdrant, parse_address

    return parse_address(address).shown if is_qdrant(address) else shown(address)


def copy_library(source: str, target: str, on_progress: OnCopied | None = None, qdrant_api_key: str = "") -> CopyReport:
    """Copies a library to another address without embedding again; the same call again does what is missing.

    The key is for either address that is a Qdrant server's. Raises LibraryNotFound, EmbedderMismatch and LibraryError.
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
    """Adds a collection that LangChain's PGVector keeps, with its vectors: nothing is embedded.

    Its vectors are taken for those of OpenAI's text-embedding-3-small, or of the embedder that the settings name.
    Raises SourceError, and EmbedderMismatch where the library's vectors come from another model.
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
