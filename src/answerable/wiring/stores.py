"""Build the store at a library's address; and work on whole libraries: export, import, copy, reindex, salvage."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.disk.files import make_file
from answerable.errors import LibraryDamaged, SettingsError
from answerable.protocols import Fingerprint, Store
from answerable.settings import SECRETS, Settings
from answerable.stores.completed import completed
from answerable.wiring.passages import build_embedder
from answerable.wiring.plugins import plugin_store

if TYPE_CHECKING:
    from answerable.maintenance.copy import CopyReport, OnCopied
    from answerable.maintenance.exporting import ExportReport, OnExported
    from answerable.maintenance.reindex import OnReindexed, ReindexReport
    from answerable.stores.federated import FederatedStore

MEMORY = ":memory:"
# Settings with an address, which may contain a user name and a password.
_ADDRESSES = (
    *("library", "openai_base_url", "cohere_base_url", "github_base_url", "ollama_base_url"),
    *("site_public_url", "ray"),
)


def build_store(address: str, create: bool = True, qdrant_api_key: str = "") -> Store:
    """Return the store at an address. The key is for a Qdrant server."""
    if "\0" in address:
        raise SettingsError("The library's address has a NUL character, which nothing can be called. Correct it.")
    if address == MEMORY:
        from answerable.stores.memory import MemoryStore

        return MemoryStore()
    from answerable.stores.addresses import is_postgres, is_qdrant

    if is_postgres(address):
        from answerable.stores.postgres.store import PostgresStore

        return PostgresStore(address, create)
    if is_qdrant(address):
        from answerable.stores.qdrant.store import QdrantStore

        return QdrantStore(address, create, qdrant_api_key)
    if "://" in address:
        if (made := plugin_store(address, create)) is not None:
            return completed(made)
        scheme, _, rest = address.partition("://")
        # The part before an @ may contain a password.
        raise SettingsError(
            f"There is no store for {scheme}://{rest.rpartition('@')[2]}. A library is a folder, "
            "postgresql://USER:PASSWORD@HOST/DATABASE, qdrant+http://HOST/NAME, "
            f"{MEMORY} for this process only, or an address of a plug-in (`answerable plugins`)."
        )
    from answerable.stores.embedded.store import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def build_federation(addresses: Sequence[str], qdrant_api_key: str, patience: float) -> Store:
    """Return several existing libraries as one store to search. `patience` is the time-out of a call in seconds.

    Each library is named by the last part of its address, or by the whole address if others end alike. Raise
    SettingsError for a repeated address, and for fewer than two.
    """
    from answerable.stores.federated import FederatedStore, Members

    shown = [without_password(address) for address in addresses]
    if len(set(shown)) < len(shown):
        raise SettingsError(f"A library is named twice: {', '.join(shown)}. Name each once.")
    last = [re.split(r"[/\\]", each.rstrip("/\\"))[-1] for each in shown]
    names = [name if last.count(name) == 1 and name else each for name, each in zip(last, shown, strict=True)]
    opening = {
        name: partial(build_store, address, False, qdrant_api_key)
        for name, address in zip(names, addresses, strict=True)
    }
    return FederatedStore(Members(opening, patience))


def join(
    opening: Mapping[str, Callable[[], Store]], patience: float, reason: Callable[[Exception], str]
) -> FederatedStore:
    """Return stores as one store to search; `opening` maps library names to functions that return open stores.

    A library that can't be opened, for whatever reason, is left out, and `reason` says why. Closing the joined store
    leaves its stores open.
    """
    from answerable.stores.federated import FederatedStore, Members

    return FederatedStore(Members(opening, patience, closes=False, mistakes=(), reason=reason))


def _hide(folder: Path) -> None:
    """Write a file that excludes the library's own files when someone adds a folder around the library."""
    ignored = folder / ".answerableignore"
    with suppress(OSError):
        if not ignored.exists():
            make_file(ignored)
            ignored.write_text("/index/\n/index.*\n/library.db*\n")


def without_password(address: str) -> str:
    """Return a library's address without its password."""
    from answerable.stores.addresses import is_postgres, is_qdrant, parse_qdrant, shown

    if is_qdrant(address):
        return parse_qdrant(address).shown
    plain = shown(address)
    if plain != address or is_postgres(address):
        return plain
    # In the address of a plug-in's store, the part before an @ may contain a password.
    scheme, sign, rest = address.partition("://")
    return f"{scheme}{sign}{rest.rpartition('@')[2]}" if sign else address


def changed_settings(settings: Settings) -> dict[str, str | None]:
    """Return the settings that differ from their defaults, as text; addresses lack passwords, secrets are None."""
    given = ((each, getattr(settings, each.name)) for each in fields(settings))
    changed = {each.name: str(value) for each, value in given if value != each.default}
    shown = {name: without_password(value) if name in _ADDRESSES else value for name, value in changed.items()}
    return {name: None if name in SECRETS else value for name, value in shown.items()}


def _open_store(settings: Settings, create: bool = False) -> Store:
    return build_store(settings.library_address, create, settings.qdrant_api_key)


def export_library(
    settings: Settings, path: Path, overwrite: bool = False, on_progress: OnExported | None = None
) -> ExportReport:
    """Write the library to a file. Raise LibraryNotFound and LibraryError; see `maintenance.exporting`."""
    from answerable.maintenance.exporting import export_store

    with closing(_open_store(settings)) as store:
        return export_store(store, path, overwrite, on_progress)


def import_library(settings: Settings, path: Path, on_progress: OnCopied | None = None) -> CopyReport:
    """Add the contents of an exported file to the library; create the library if needed. Raise LibraryError.

    See `maintenance.importing`.
    """
    from answerable.maintenance.importing import import_store

    return import_store(path, lambda: _open_store(settings, create=True), on_progress)


def reindex_library(settings: Settings, dry_run: bool = False, on_progress: OnReindexed | None = None) -> ReindexReport:
    """Rebuild all vectors with the embedder of the settings; `dry_run` only estimates the cost.

    Raise LibraryNotFound, LibraryError, EmbedderMismatch, SettingsError and ProviderError; see `maintenance.reindex`.
    """
    from answerable.maintenance.reindex import estimate, reindex

    with closing(_open_store(settings)) as store:
        # If the settings name two embedders, continue an unfinished reindex with the embedder that began it.
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
    """Rebuild a damaged library in a folder from its readable data. Raise LibraryError."""
    if "://" in address:
        raise LibraryDamaged(
            f"Only a library in a folder can be rebuilt: restore {without_password(address)} from a backup."
        )
    from answerable.stores.embedded.mending import salvage

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
