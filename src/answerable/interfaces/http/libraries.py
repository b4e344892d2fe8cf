"""The libraries of a server, by name: those that it was started with, and those made on the web page.

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

from answerable.answering.decide import Answering
from answerable.errors import AnswerableError, SettingsError
from answerable.interfaces.http.library_records import LONGEST_NAME, Choices, ListFile
from answerable.interfaces.http.problems import UnknownLibrary
from answerable.library import Library, over
from answerable.protocols import Reader, Store
from answerable.settings import Settings
from answerable.text import printable_line
from answerable.wiring.answering import build_answerer
from answerable.wiring.build import build_library
from answerable.wiring.providers import EXTRACTIVE
from answerable.wiring.sources import build_reader
from answerable.wiring.stores import join

ALL = "all"
"""The name for all libraries together, which answer as one."""
_NAME = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{LONGEST_NAME - 1}}}")
_log = logging.getLogger("answerable")


Build = Callable[[Settings, Path], Library]
"""A function that opens the library that the settings describe; sources of files under the path are relative to it."""


def open_library(settings: Settings, root: Path) -> Library:
    """Open the library that the settings describe, or create it."""
    return build_library(settings, root=root)


class Libraries:
    """Named libraries, opened on first use; the first is the default. Thread-safe.

    Each library has a folder under `uploads` of the data folder; sources of uploaded files are relative to it. A
    library made later has the settings of the default library, except for its folder. Raise SettingsError for a name
    that would need escaping in a URL.
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
        # By library and settings. A replaced model stays, since it may still answer questions and may be chosen again.
        self._answerers: dict[tuple[str, Settings], Answering] = {}
        self._used: dict[str, Settings] = {}
        self._joining = threading.Lock()
        self._joined: tuple[tuple[Settings | str, ...], Library] | None = None

    @property
    def default(self) -> str:
        """The name of the library used when a request names none."""
        return next(iter(self._started))

    def names(self) -> list[str]:
        """Return the names of the libraries."""
        return [*self._started, *(name for name in self._list.made if name not in self._started)]

    def seen(self, sees: Callable[[str], bool]) -> list[str]:
        """Return the names of the libraries that a caller may use and, if there are several, `ALL`."""
        names = [name for name in self.names() if sees(name)]
        return [*names, ALL] if len(names) > 1 and self.is_together(ALL) else names

    def is_made(self, name: str) -> bool:
        """Return whether a library was made on the page, so that it can be removed there."""
        return name not in self._started and name in self._list.made

    def is_together(self, name: str) -> bool:
        """Return whether a name means all libraries."""
        return name == ALL

    def choices(self, name: str) -> Choices:
        """Return the title, schedule and model chosen for a library. Raise UnknownLibrary."""
        # All libraries together use the model of the default library.
        chosen = self.default if self.is_together(name) else name
        return self._list.choices.get(self.identity(chosen), Choices())

    def get(self, name: str) -> Library:
        """Return the library, opening it if needed. Raise UnknownLibrary, and any error of opening."""
        if self.is_together(name):
            return self._together()
        with self._locks[self._known(name)]:
            if name not in self._opened:
                # `_known` raises UnknownLibrary if the library has been removed meanwhile.
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
        """Return the settings of a library, without the choices made on the page. Raise UnknownLibrary."""
        if self.is_together(self._known(name)):
            # All libraries together use the settings of the default library.
            return self._started[self.default]
        if name in self._started:
            return self._started[name]
        return replace(self._started[self.default], library=str(self._folder / name))

    def identity(self, name: str) -> str:
        """Return a hash of the library's address, independent of its name. Raise UnknownLibrary.

        The hash of a library made on the page stays the same if the data folder is moved.
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
        """Return the file of the votes on a library's answers: in its folder or, if it has none, in the data folder."""
        address = self.settings(name).library_address
        if self.is_together(name) or "://" in address:
            return self._uploads.parent / "votes" / f"{self.identity(name)}.jsonl"
        return Path(address).expanduser() / "votes.jsonl"

    def reader(self, name: str, password: str = "") -> Reader:
        """Return a new reader of the library's sources, which the caller must close. Raise UnknownLibrary.

        `password` replaces the PDF password of the settings.
        """
        settings = self.settings(name)
        return build_reader(replace(settings, pdf_password=password or settings.pdf_password), self.uploads(name))

    def create(self, title: str) -> str:
        """Make a library and return its name. Raise SettingsError."""
        with self._changing, self._file.changing() as found:
            name = found.name_for(title, [*self.names(), *(left.name for left in self._folder.glob("*"))])
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
        """Return the model that answers: the chosen model, unless it couldn't be used. Raise UnknownLibrary."""
        return (self._used.get(name) or self.settings(name)).model

    def choose_model(self, name: str, model: str) -> None:
        """Let a model write the answers of a library from the next question on.

        Raise UnknownLibrary, SettingsError, MissingPackage and ProviderError; after an error the model is unchanged.
        """
        self._use(name, model, lasting=True)

    def set_up(self, values: Mapping[str, str]) -> None:
        """Let all libraries answer with these settings of providers from the next question on.

        A library whose model can't be used any more, for example without its key, answers by the model that it was
        started with, otherwise without one.
        """
        self._started = {name: replace(each, **values) for name, each in self._started.items()}  # type: ignore[arg-type]
        for name in list(self._opened):
            for model in (self.settings(name).model, self.started_with(name).model, EXTRACTIVE):
                try:
                    self._use(name, model)
                    break
                except AnswerableError as error:
                    _log.warning("%s", printable_line(f"The model of the library {name} can't be used: {error}"))

    def _use(self, name: str, model: str, lasting: bool = False) -> None:
        library, settings = self.get(name), self.started_with(name)
        wanted = replace(settings, model=model)
        with self._locks[name]:
            used = self._used[name]
            answerer = self._answerers.get((name, wanted))
            if answerer is None and wanted != used:
                answerer = build_answerer(wanted, library.embedder.fingerprint)
            if lasting:
                self._record(name, {"model": "" if model == settings.model else model})
            if answerer is not None:
                self._answerers[name, wanted] = answerer
                self._answerers[name, used] = library.use_answerer(answerer)
                self._used[name] = wanted

    def remove(self, name: str) -> None:
        """Close a library that was made on the page and delete its folder and uploads. Raise SettingsError.

        Its name is unknown from now on. Its jobs must have ended.
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
        self._used[name] = self.settings(name)
        try:
            return self._build(self._used[name], self.uploads(name))
        except AnswerableError as error:
            if not self.choices(name).model:
                raise
            # If the chosen model can't be used any more, open the library with the default model.
            self._used[name] = self.started_with(name)
            library = self._build(self._used[name], self.uploads(name))
            _log.warning("%s", printable_line(f"The model chosen for the library {name} can't be used: {error}"))
            return library

    def _together(self) -> Library:
        """Return all libraries as one; join them again if some were made or removed, or the default model changed."""
        with self._joining:
            state = self._state()
            if self._joined is None or self._joined[0] != state:
                self._part()
                opening = {name: partial(self._store, name) for name in self.names()}
                joined = join(opening, self.settings(self.default).library_timeout, _logged)
                # Use the model of the default library, unless this library can't be opened.
                leading = next(name for name in self.names() if name not in joined.unavailable)
                self._joined = state, over(self.get(leading), joined)
            return self._joined[1]

    def _state(self) -> tuple[Settings | str, ...]:
        return self._used.get(self.default) or self.settings(self.default), *self.names()

    def _store(self, name: str) -> Store:
        return self.get(name).store

    def _part(self) -> None:
        if self._joined is not None:
            # Close only the joined store: all other parts belong to the default library.
            self._joined[1].store.close()
            self._joined = None

    def _close(self, name: str) -> None:
        if library := self._opened.pop(name, None):
            library.close()
        for key in [key for key in self._answerers if key[0] == name]:
            self._answerers.pop(key).close()
        self._used.pop(name, None)

    def _record(self, name: str, given: Mapping[str, str | int]) -> None:
        identity = self.identity(name)
        with self._changing, self._file.changing() as found:
            found.choices[identity] = replace(found.choices.get(identity, Choices()), **given)  # type: ignore[arg-type]
            self._list = found

    def _known(self, name: str) -> str:
        if self.is_together(name) and len(self.names()) > 1:
            return name
        if name not in self._started and name not in self._list.made:
            raise UnknownLibrary("There is no library of that name. GET /api/v1/libraries lists those you may use.")
        return name


def _logged(error: Exception) -> str:
    """Log an error, which may name folders and addresses of the server; return a reason for people who may ask."""
    _log.error("%s", printable_line(str(error)))
    return "the reason is in the server's log"


def _hashed(place: str) -> str:
    return sha256(place.encode("utf-8", "surrogateescape")).hexdigest()[:32]
