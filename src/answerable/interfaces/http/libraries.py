"""The libraries of a server, by name: those it was started with, and those made on the page.

Each library has its own store and reader.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from answerable.errors import AnswerableError, LibraryNotFound, SettingsError
from answerable.interfaces.http.library_list import LONGEST_NAME, Choices, ListFile
from answerable.library import Library, over
from answerable.protocols import Answerer, Reader, Store
from answerable.settings import Settings
from answerable.text import printable_line
from answerable.wiring.build import build_answerer, build_library, build_reader, join

ALL = "all"
"""The name of all libraries together, to be asked as one."""
_NAME = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
_log = logging.getLogger("answerable")


class UnknownLibrary(LibraryNotFound):
    """The error for a name that no library of the server has."""


Build = Callable[[Settings, Path], Library]
"""Opens the library that the settings describe; sources of files under the path are relative to it."""


def open_library(settings: Settings, root: Path) -> Library:
    """Open the library that the settings describe, or create it."""
    return build_library(settings, root=root)


class Libraries:
    """Named libraries, opened on first use; the first is the default. Thread-safe.

    Each library has a folder under `uploads` of the data folder; sources of uploaded files are relative to it. A
    library made later has the settings of the default one, but for its folder. Raise SettingsError for a name that
    would need escaping in a URL.
    """

    def __init__(self, settings: Mapping[str, Settings], data: Path, build: Build = open_library) -> None:
        if ALL in settings:
            raise SettingsError(f"{ALL!r} names all libraries together. Give this one another name.")
        for name in settings:
            if not _NAME.fullmatch(name):
                raise SettingsError(
                    f"{name!r} is not a name for a library: use at most 63 lowercase letters, digits, - and _."
                )
        if not settings:
            raise SettingsError("No library to serve: name one with --library.")
        self._started = dict(settings)
        self._uploads = (data / "uploads").absolute()
        self._folder = (data / "libraries").absolute()
        self._build = build
        self._file = ListFile(data / "libraries.json")
        self._list = self._file.read()
        self._changing = threading.Lock()
        self._locks = {name: threading.Lock() for name in self.names()}
        self._opened: dict[str, Library] = {}
        # By library and model: questions may still be with one that was replaced, and it may be chosen again.
        self._answerers: dict[tuple[str, str], Answerer] = {}
        self._models: dict[str, str] = {}
        self._joining = threading.Lock()
        self._joined: tuple[tuple[str, ...], Library] | None = None

    @property
    def default(self) -> str:
        """The name of the library used when a request names none."""
        return next(iter(self._started))

    def names(self) -> list[str]:
        """Return the names of the libraries."""
        return [*self._started, *(name for name in self._list.made if name not in self._started)]

    def seen(self, sees: Callable[[str], bool]) -> list[str]:
        """Return the names of the libraries that a caller sees and, if they are several, that of all together."""
        names = [name for name in self.names() if sees(name)]
        return [*names, ALL] if len(names) > 1 and self.is_together(ALL) else names

    def is_made(self, name: str) -> bool:
        """Return whether a library was made on the page, so that it can be removed there."""
        return name not in self._started and name in self._list.made

    def is_together(self, name: str) -> bool:
        """Return whether a name means all libraries. An earlier version may have made one of this name."""
        return name == ALL and ALL not in self._list.made

    def choices(self, name: str) -> Choices:
        """Return what was chosen for a library. Raise UnknownLibrary."""
        # All of them are asked with the model of the default one.
        chosen = self.default if self.is_together(name) else name
        return self._list.choices.get(self.identity(chosen), Choices())

    def get(self, name: str) -> Library:
        """Return the library, opening it if needed. Raise UnknownLibrary, and any error of opening."""
        if self.is_together(name):
            return self._together()
        with self._locks[self._known(name)]:
            if name not in self._opened:
                # It may have been removed meanwhile.
                self._opened[name] = self._open(self._known(name))
            return self._opened[name]

    def opened(self, name: str) -> Library | None:
        """Return the library of this name if it is open, otherwise None."""
        joined = self._joined
        if self.is_together(name) and joined is not None and joined[0] == self._state():
            return joined[1]
        return self._opened.get(name)

    def settings(self, name: str) -> Settings:
        """Return the settings of a library, with the model chosen for it. Raise UnknownLibrary."""
        settings = self.started_with(name)
        return replace(settings, model=self.choices(name).model or settings.model)

    def started_with(self, name: str) -> Settings:
        """Return the settings of a library without what was chosen for it. Raise UnknownLibrary."""
        if self.is_together(self._known(name)):
            # All libraries are asked with the settings of the default one.
            return self._started[self.default]
        if name in self._started:
            return self._started[name]
        return replace(self._started[self.default], library=str(self._folder / name))

    def identity(self, name: str) -> str:
        """Return a hash of the library's address, independent of its name. Raise UnknownLibrary.

        A library made on the page keeps it where the data folder moves.
        """
        if self.is_together(name) or self.is_made(name):
            return _hashed(f"made here: {name}")
        address = self.started_with(name).library_address
        place = address if "://" in address else os.path.abspath(os.path.expanduser(address))
        return _hashed(place)

    def uploads(self, name: str) -> Path:
        """Return the folder of a library's uploads, which may not exist yet. Raise UnknownLibrary."""
        return self._uploads / self.identity(name)

    def votes(self, name: str) -> Path:
        """Return the file of the votes on a library's answers: in its folder, or beside the uploads if it has none."""
        address = self.settings(name).library_address
        if self.is_together(name) or "://" in address:
            return self._uploads.parent / "votes" / f"{self.identity(name)}.jsonl"
        return Path(address).expanduser() / "votes.jsonl"

    def reader(self, name: str, password: str = "") -> Reader:
        """Return a new reader of the library's sources, which the caller must close. Raise UnknownLibrary.

        `password` is for PDFs, instead of the one in the settings.
        """
        settings = self.settings(name)
        return build_reader(replace(settings, pdf_password=password or settings.pdf_password), self.uploads(name))

    def create(self, title: str) -> str:
        """Make a library and return its name. Raise SettingsError."""
        with self._changing, self._file.changing() as found:
            name = found.name_for(title, [*self.names(), *self._left_over()])
            found.made.append(name)
            self._locks[name] = threading.Lock()
            self._list = found
        self.choose(name, title=title)
        return name

    def choose(self, name: str, title: str | None = None, every: int | None = None) -> None:
        """Change a library's title, or the seconds between its syncs. Raise UnknownLibrary and SettingsError."""
        given = {key: value for key, value in (("title", title), ("every", every)) if value is not None}
        self._record(name, given)

    def model(self, name: str) -> str:
        """Return the model that answers, which is not the chosen one if that couldn't be used. Raise UnknownLibrary."""
        return self._models.get(name) or self.settings(name).model

    def choose_model(self, name: str, model: str) -> None:
        """Let a model write the answers of a library from the next question on.

        Raise UnknownLibrary, SettingsError, MissingPackage and ProviderError: then nothing has changed.
        """
        library, settings = self.get(name), self.started_with(name)
        with self._locks[name]:
            answerer = self._answerers.get((name, model))
            if answerer is None and model != self.model(name):
                answerer = build_answerer(replace(settings, model=model), library.embedder.fingerprint)
            self._record(name, {"model": "" if model == settings.model else model})
            if answerer is not None:
                self._answerers[name, model] = answerer
                self._answerers[name, self.model(name)] = library.use_answerer(answerer)
                self._models[name] = model

    def remove(self, name: str) -> None:
        """Close a library that was made on the page and delete its folder and uploads. Raise SettingsError.

        Its name leads nowhere from now on; jobs of it must have ended.
        """
        uploads, votes, identity = self.uploads(name), self.votes(name), self.identity(name)
        with self._changing, self._file.changing() as found:
            found.made = [each for each in found.made if each != name]
            found.choices.pop(identity, None)
            found.removed.append(name)
            self._list = found
        with self._locks[name]:
            self._close(name)
        for left in (self._folder / name, uploads):
            shutil.rmtree(left, ignore_errors=True)
        votes.unlink(missing_ok=True)

    def close(self) -> None:
        """Close the open libraries. Idempotent."""
        with self._joining:
            self._part()
        for name, lock in list(self._locks.items()):
            with lock:
                self._close(name)

    def _open(self, name: str) -> Library:
        try:
            return self._build(self.settings(name), self.uploads(name))
        except AnswerableError as error:
            if not self.choices(name).model:
                raise
            # A model that can't be used any more must not lock people out of their library.
            library = self._build(self.started_with(name), self.uploads(name))
            self._models[name] = self.started_with(name).model
            _log.warning("%s", printable_line(f"The model chosen for the library {name} can't be used: {error}"))
            return library

    def _together(self) -> Library:
        """Return all libraries as one, joined anew when some were made, removed or given another model."""
        with self._joining:
            state = self._state()
            if self._joined is None or self._joined[0] != state:
                self._part()
                opening = {name: partial(self._store, name) for name in self.names()}
                joined = join(opening, self.settings(self.default).library_timeout, _logged)
                # All are asked with the model of the default one, unless that can't be opened.
                leading = next(name for name in self.names() if name not in joined.unavailable)
                self._joined = state, over(self.get(leading), joined)
            return self._joined[1]

    def _state(self) -> tuple[str, ...]:
        return self.model(self.default), *self.names()

    def _store(self, name: str) -> Store:
        return self.get(name).store

    def _part(self) -> None:
        if self._joined is not None:
            # The rest of it is the default library's.
            self._joined[1].store.close()
            self._joined = None

    def _close(self, name: str) -> None:
        if library := self._opened.pop(name, None):
            library.close()
        for key in [key for key in self._answerers if key[0] == name]:
            self._answerers.pop(key).close()
        self._models.pop(name, None)

    def _record(self, name: str, given: Mapping[str, str | int]) -> None:
        identity = self.identity(name)
        with self._changing, self._file.changing() as found:
            found.choices[identity] = replace(found.choices.get(identity, Choices()), **given)  # type: ignore[arg-type]
            self._list = found

    def _left_over(self) -> list[str]:
        return [found.name for found in self._folder.glob("*")]

    def _known(self, name: str) -> str:
        if self.is_together(name) and len(self.names()) > 1:
            return name
        if name not in self._started and name not in self._list.made:
            raise UnknownLibrary("There is no library of that name. GET /api/v1/libraries lists those you may use.")
        return name


def _logged(error: Exception) -> str:
    """Return why a library fails, for people who may ask it: the error may name folders and addresses of the server."""
    _log.error("%s", printable_line(str(error)))
    return "the reason is in the server's log"


def _hashed(place: str) -> str:
    return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
