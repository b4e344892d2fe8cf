"""`answerable sync --watch`: visits what has changed as soon as it is written, and everything from time to time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing

from watchfiles import watch

from answerable.errors import AnswerableError
from answerable.interfaces.cli import render, reports
from answerable.library import Library

# How often single files are looked at, and whether a folder has gone or come back, in seconds.
_TICK = 1
# Editors and copies write in several steps: milliseconds without news to wait for, and at most.
_QUIET, _LONGEST = 300, 5000
# When an error of the library or of a provider ended a visit.
_RETRY = 60
_RULES = frozenset({".gitignore", ".answerableignore"})

_Version = tuple[int, int, int]


class Watch:
    """Keeps origins up to date until Ctrl-C. `address` is the library's own, whose files are not taken for changes."""

    def __init__(
        self, library: Library, names: Sequence[str], address: str, every: float, checksum: bool, as_json: bool
    ) -> None:
        self._library = library
        self._names = names
        self._own = os.path.realpath(os.path.expanduser(address))
        self._every = every
        self._checksum = checksum
        self._as_json = as_json
        self._paths: list[str] = []
        self._versions: dict[str, _Version | None] = {}
        self._due = 0.0
        self._is_visiting = self._is_greeted = False
        self._count = 0

    def run(self) -> None:
        """Visits everything, then what changes. Returns at Ctrl-C, unless a visit is under way: then that is raised."""
        try:
            while True:
                self._load()
                folders = self._folders()
                with closing(_changes(folders)) as rounds:
                    # From here on nothing is missed, not even while something else is visited.
                    next(rounds)
                    self._visit_all()
                    self._greet()
                    self._follow(rounds, folders)
        except KeyboardInterrupt:
            if self._is_visiting:
                raise

    def _greet(self) -> None:
        if not self._is_greeted and not self._as_json:
            places = "1 place" if self._count == 1 else f"{self._count} places"
            render.note(f"Watching {places} (Ctrl-C stops it).")
            sys.stdout.flush()
        self._is_greeted = True

    def _follow(self, rounds: Iterator[Collection[str]], folders: Collection[str]) -> None:
        """Visits what changes, until one of the folders has gone or another one has come."""
        for changes in rounds:
            if self._folders() != folders:
                return
            if time.monotonic() >= self._due:
                self._visit_all()
            met = [folder for folder in folders if any(self._is_met(folder, path) for path in changes)]
            for path, version in self._look().items():
                if version != self._versions.get(path):
                    self._versions[path] = version
                    met.append(path)
            if met:
                self._visit(met)

    def _visit_all(self) -> None:
        self._due = time.monotonic() + self._every
        self._versions = self._look()
        self._visit(self._names)
        self._load()

    def _visit(self, names: Sequence[str]) -> None:
        self._is_visiting = True
        try:
            report = self._library.sync(names, checksum=self._checksum)
        except AnswerableError as error:
            render.error(str(error))
            self._due = min(self._due, time.monotonic() + _RETRY)
        else:
            total = report.total
            if any((total.added, total.changed, total.moved, total.removed, total.failures)):
                reports.synced(report, False, self._as_json)
        self._is_visiting = False

    def _load(self) -> None:
        """Takes note of what is followed now, which other processes may change."""
        origins = self._library.origins()
        chosen = [origin for origin in origins if not self._names or any(map(origin.is_called, self._names))]
        self._count = len(chosen)
        self._paths = [origin.name for origin in chosen if os.path.isabs(origin.name)]

    def _look(self) -> dict[str, _Version | None]:
        """The files that are followed by themselves, each with what tells its versions apart."""
        return {path: _version(path) for path in self._paths if not os.path.isdir(path)}

    def _folders(self) -> list[str]:
        return [path for path in self._paths if os.path.isdir(path)]

    def _is_met(self, folder: str, path: str) -> bool:
        """Whether a change may concern a folder: it isn't hidden there, nor in the library's own folder."""
        real = os.path.realpath(path)
        if real == self._own or real.startswith(f"{self._own}{os.sep}"):
            return False
        inside = os.path.relpath(real, os.path.realpath(folder))
        names = inside.split(os.sep) if inside != os.curdir else []
        return names[:1] != [os.pardir] and not any(name[0] == "." and name not in _RULES for name in names)


def _changes(folders: Sequence[str]) -> Generator[Collection[str], None, None]:
    """The paths that have changed since the last time; none after every tick."""
    if not folders:
        while True:
            time.sleep(_TICK)
            yield ()
    for changes in watch(
        *folders,
        watch_filter=None,
        debounce=_LONGEST,
        step=_QUIET,
        rust_timeout=1000 * _TICK,
        yield_on_timeout=True,
    ):
        yield [path for _, path in changes]


def _version(path: str) -> _Version | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino
