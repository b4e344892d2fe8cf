"""Build the store at a library's address."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from answerable.disk.private import make_file
from answerable.errors import SettingsError
from answerable.protocols import Store
from answerable.stores.completed import completed
from answerable.wiring.plugins import plugin_store

if TYPE_CHECKING:
    from answerable.stores.federated.store import FederatedStore

MEMORY = ":memory:"


def build_store(address: str, create: bool = True, qdrant_api_key: str = "") -> Store:
    """Return the store at an address. The key is for a Qdrant server."""
    if "\0" in address:
        raise SettingsError("The library's address has a NUL character, which nothing can be called. Correct it.")
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
            "postgresql://USER:PASSWORD@HOST/DATABASE, qdrant+http://HOST/NAME, "
            f"{MEMORY} for this process only, or an address of a plug-in (`answerable plugins`)."
        )
    from answerable.stores.embedded.store import EmbeddedStore

    folder = Path(os.path.expanduser(address))
    store = EmbeddedStore(folder, create)
    _hide(folder)
    return store


def build_federation(addresses: Sequence[str], qdrant_api_key: str, patience: float) -> Store:
    """Return several libraries as one store to ask, none of which is created. `patience` is in seconds, for a call.

    Each is named by the last part of its address, or by all of it where others end alike. Raise SettingsError for a
    library that is named twice, and for fewer than two.
    """
    from answerable.stores.federated.members import Members
    from answerable.stores.federated.store import FederatedStore

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
    """Return stores as one store to ask, by the names of their libraries, each with what opens it or has it open.

    One that can't be opened, for whatever reason, is left out and named with what `reason` says. Closing leaves them
    open.
    """
    from answerable.stores.federated.members import Members
    from answerable.stores.federated.store import FederatedStore

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
