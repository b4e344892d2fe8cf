"""The libraries that one server serves, by name. They share nothing: each has a store and a reader of its own."""

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
    """The server has no library of that name."""


Build = Callable[[Settings, Path], Library]
"""Opens the library of settings; files under the path have their names in there as sources."""


def open_library(settings: Settings, root: Path) -> Library:
    """The library of settings, made where there is none."""
    return build_library(settings, root=root)


class Libraries:
    """Named libraries, each opened once, when it is first asked for. The first one is the default. Thread-safe.

    What is uploaded to a library lies in a folder of its own under `uploads`, and its source is its name in there.
    Raises SettingsError for a name that an address of the web can't hold as it is.
    """

    def __init__(self, settings: Mapping[str, Settings], uploads: Path, build: Build = open_library) -> None:
        for name in settings:
            if not _NAME.fullmatch(name):
                raise SettingsError(
                    f"{name!r} can't name a library: use small letters, digits, - and _, at most 63 of them."
                )
        if not settings:
            raise SettingsError("There is no library to serve: name one with --library.")
        self._settings = dict(settings)
        self._uploads = uploads.absolute()
        self._build = build
        self._locks = {name: threading.Lock() for name in settings}
        self._opened: dict[str, Library] = {}

    @property
    def default(self) -> str:
        """The name of the first one."""
        return next(iter(self._settings))

    def names(self) -> list[str]:
        """All names, in the order that they were given."""
        return list(self._settings)

    def get(self, name: str) -> Library:
        """The library of that name. Raises UnknownLibrary, and what opening it raises."""
        with self._locks[self._known(name)]:
            if name not in self._opened:
                self._opened[name] = self._build(self._settings[name], self.uploads(name))
            return self._opened[name]

    def opened(self, name: str) -> Library | None:
        """The library of that name, if it is open."""
        return self._opened.get(name)

    def settings(self, name: str) -> Settings:
        """What a library was opened with. Raises UnknownLibrary."""
        return self._settings[self._known(name)]

    def identity(self, name: str) -> str:
        """What stays the same whichever name the library is served by: a hash of its address. Raises UnknownLibrary."""
        address = self.settings(name).library_address
        place = address if "://" in address else os.path.abspath(os.path.expanduser(address))
        return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]

    def uploads(self, name: str) -> Path:
        """The folder of what was uploaded to a library; it may not be there yet. Raises UnknownLibrary."""
        return self._uploads / self.identity(name)

    def reader(self, name: str) -> Reader:
        """A reader of what the library's documents came from, to be closed. Raises UnknownLibrary."""
        return build_reader(self.settings(name), self.uploads(name))

    def close(self) -> None:
        """Closes those that are open. Closing twice is fine."""
        for name, lock in self._locks.items():
            with lock:
                if library := self._opened.pop(name, None):
                    library.close()

    def _known(self, name: str) -> str:
        if name not in self._settings:
            raise UnknownLibrary(
                "There is no library of that name here. GET /api/v1/libraries lists those you may use."
            )
        return name
