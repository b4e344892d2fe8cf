"""Build the store at a library's address."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from answerable.disk.private import make_file
from answerable.errors import SettingsError
from answerable.protocols import Store
from answerable.stores.completed import completed
from answerable.wiring.plugins import plugin_store

MEMORY = ":memory:"


def build_store(address: str, create: bool = True, qdrant_api_key: str = "") -> Store:
    """Return the store at an address. The API key is for a Qdrant server."""
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
        if (made := plugin_store(address, create)) is not None:
            return completed(made)
        scheme, _, rest = address.partition("://")
        # The part before an @ may contain a password.
        raise SettingsError(
            f"There is no store for {scheme}://{rest.rpartition('@')[2]}. A library is a folder, "
            f"postgresql://USER:PASSWORD@HOST/DATABASE, qdrant+http://HOST/NAME, {MEMORY} for this process only, or "
            "an address of a plug-in (`answerable plugins`)."
        )
    from answerable.stores.embedded.store import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def _hide(folder: Path) -> None:
    """Write a file that excludes the library's own files when someone adds a folder around the library."""
    ignored = folder / ".answerableignore"
    with suppress(OSError):
        if not ignored.exists():
            make_file(ignored)
            ignored.write_text("/index/\n/index.*\n/library.db*\n")


def without_password(address: str) -> str:
    """Return a library's address without its password."""
    from answerable.stores.postgres.address import is_postgres, shown
    from answerable.stores.qdrant.address import is_qdrant, parse_address

    if is_qdrant(address):
        return parse_address(address).shown
    plain = shown(address)
    if plain != address or is_postgres(address):
        return plain
    # In the address of a plug-in's store, what is before an @ may contain a password.
    scheme, sign, rest = address.partition("://")
    return f"{scheme}{sign}{rest.rpartition('@')[2]}" if sign else address
