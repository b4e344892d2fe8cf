"""The libraries of a server, by name. Each library has its own store and reader."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path

from answerable.errors import LibraryNotFound, SettingsError
from answerable.library import Library
from answerable.protocols import Reader
from answerable.settings import Settings
from answerable.wiring.build import build_library, build_reader

_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


class UnknownLibrary(LibraryNotFound):
    """The error for a name that no library of the server has."""


Build = Callable[[Settings, Path], Library]
"""Opens the library that the settings describe; sources of files under the path are relative to it."""


def open_library(settings: Settings, root: Path) -> Library:
    """Open the library that the settings describe, or create it."""
    return build_library(settings, root=root)


class Libraries:
    """Named libraries, opened on first use; the first is the default. Thread-safe.

    Each library has a folder under `uploads`; sources of uploaded files are relative to it. Raise SettingsError for a
    name that would need escaping in a URL.
    """

    def __init__(self, settings: Mapping[str, Settings], uploads: Path, build: Build = open_library) -> None:
        for name in settings:
            if not _NAME.fullmatch(name):
                raise SettingsError(
                    f"{name!r} is not a name for a library: use at most 63 lowercase letters, digits, - and _."
                )
        if not settings:
            raise SettingsError("No library to serve: name one with --library.")
        self._settings = dict(settings)
        self._uploads = uploads.absolute()
        self._build = build
        self._locks = {name: threading.Lock() for name in settings}
        self._opened: dict[str, Library] = {}

    @property
    def default(self) -> str:
        """The name of the library used when a request names none."""
        return next(iter(self._settings))

    def names(self) -> list[str]:
        """Return the names of the libraries."""
        return list(self._settings)

    def get(self, name: str) -> Library:
        """Return the library, opening it if needed. Raise UnknownLibrary, and any error of opening."""
        with self._locks[self._known(name)]:
            if name not in self._opened:
                self._opened[name] = self._build(self._settings[name], self.uploads(name))
            return self._opened[name]

    def opened(self, name: str) -> Library | None:
        """Return the library of this name if it is open, otherwise None."""
        return self._opened.get(name)

    def settings(self, name: str) -> Settings:
        """Return the settings of a library. Raise UnknownLibrary."""
        return self._settings[self._known(name)]

    def identity(self, name: str) -> str:
        """Return a hash of the library's address, independent of its name. Raise UnknownLibrary."""
        address = self.settings(name).library_address
        place = address if "://" in address else os.path.abspath(os.path.expanduser(address))
        return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def uploads(self, name: str) -> Path:
        """Return the folder of a library's uploads, which may not exist yet. Raise UnknownLibrary."""
        return self._uploads / self.identity(name)

    def votes(self, name: str) -> Path:
        """Return the file of the votes on a library's answers: in its folder, or beside the uploads if it has none."""
        address = self.settings(name).library_address
        if "://" in address:
            return self._uploads.parent / "votes" / f"{self.identity(name)}.jsonl"
        return Path(address).expanduser() / "votes.jsonl"

    def reader(self, name: str) -> Reader:
        """Return a new reader of the library's sources, which the caller must close. Raise UnknownLibrary."""
        return build_reader(self.settings(name), self.uploads(name))

    def close(self) -> None:
        """Close the open libraries. Idempotent."""
        for name, lock in self._locks.items():
            with lock:
                if library := self._opened.pop(name, None):
                    library.close()

    def _known(self, name: str) -> str:
        if name not in self._settings:
            raise UnknownLibrary("There is no library of that name. GET /api/v1/libraries lists those you may use.")
        return name
