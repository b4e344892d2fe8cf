"""`answerable sync --watch`: sync files as soon as they change, and everything from time to time."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing

from watchfiles import watch

from answerable.errors import AnswerableError
from answerable.interfaces.cli.printing import counted, print_error, print_text
from answerable.interfaces.cli.reports import print_synced
from answerable.library import Library

# Seconds between two checks of single files, and of whether a folder has appeared or disappeared.
_TICK = 1
# Milliseconds without a change to wait for, since editors and copies write in steps; and the longest wait.
_QUIET, _LONGEST = 300, 5000
# Seconds to wait after an error of the library or a provider.
_RETRY = 60
_RULES = frozenset({".gitignore", ".answerableignore"})

_Version = tuple[int, int, int]


class Watch:
    """A watcher that syncs origins until Ctrl-C.

    Changes to the library's own files, at `address`, are ignored.
    """

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
        self._is_syncing = self._is_greeted = False
        self._count = 0

    def run(self) -> None:
        """Sync everything once, then every change. Ctrl-C ends the loop; during a sync it raises KeyboardInterrupt."""
        try:
            while True:
                self._read_origins()
                folders = self._folders()
                with closing(_changes(folders)) as rounds:
                    # Start watching: from here on no change is missed, not even during a sync.
                    next(rounds)
                    self._sync_all()
                    self._greet()
                    self._follow(rounds, folders)
        except KeyboardInterrupt:
            if self._is_syncing:
                raise

    def _greet(self) -> None:
        if not self._is_greeted and not self._as_json:
            print_text(f"Watching {counted(self._count, 'place')} (Ctrl-C stops it).")
            sys.stdout.flush()
        self._is_greeted = True

    def _follow(self, rounds: Iterator[Collection[str]], folders: Collection[str]) -> None:
        """Sync every change until a followed folder appears or disappears."""
        for changes in rounds:
            if self._folders() != folders:
                return
            if time.monotonic() >= self._due:
                self._sync_all()
            changed = [folder for folder in folders if any(self._counts(folder, path) for path in changes)]
            for path, version in self._file_versions().items():
                if version != self._versions.get(path):
                    self._versions[path] = version
                    changed.append(path)
            if changed:
                self._sync(changed)

    def _sync_all(self) -> None:
        self._due = time.monotonic() + self._every
        self._versions = self._file_versions()
        self._sync(self._names)
        self._read_origins()

    def _sync(self, names: Sequence[str]) -> None:
        self._is_syncing = True
        try:
            report = self._library.sync(names, checksum=self._checksum)
        except AnswerableError as error:
            print_error(str(error))
            self._due = min(self._due, time.monotonic() + _RETRY)
        else:
            total = report.total
            if any((total.added, total.changed, total.moved, total.removed, total.failures, total.partly)):
                print_synced(report, False, self._as_json)
        self._is_syncing = False

    def _read_origins(self) -> None:
        """Read again which origins the library follows, since other processes may change this."""
        origins = self._library.origins()
        chosen = [origin for origin in origins if not self._names or any(map(origin.is_called, self._names))]
        self._count = len(chosen)
        self._paths = [origin.name for origin in chosen if os.path.isabs(origin.name)]

    def _file_versions(self) -> dict[str, _Version | None]:
        """Return the version of each single file that the library follows."""
        return {path: _version(path) for path in self._paths if not os.path.isdir(path)}

    def _folders(self) -> list[str]:
        return [path for path in self._paths if os.path.isdir(path)]

    def _counts(self, folder: str, path: str) -> bool:
        """Return whether a changed path should be synced: not if it is hidden or in the library's own folder."""
        real = os.path.realpath(path)
        if real == self._own or real.startswith(f"{self._own}{os.sep}"):
            return False
        inside = os.path.relpath(real, os.path.realpath(folder))
        names = inside.split(os.sep) if inside != os.curdir else []
        return names[:1] != [os.pardir] and not any(name[0] == "." and name not in _RULES for name in names)


def _changes(folders: Sequence[str]) -> Generator[Collection[str], None, None]:
    """Yield the paths changed since the previous yield; an empty collection if nothing changed for a while."""
    if not folders:
        while True:
            time.sleep(_TICK)
            yield ()
    for changes in watch(
        *folders, watch_filter=None, debounce=_LONGEST, step=_QUIET, rust_timeout=1000 * _TICK, yield_on_timeout=True
    ):
        yield [path for _, path in changes]


def _version(path: str) -> _Version | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino
