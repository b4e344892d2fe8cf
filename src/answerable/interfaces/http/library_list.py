"""What the server remembers of its libraries: those made on the page, and the title, schedule and model of each.

Served libraries are known by the identity of their address, since another start of the server may give another address
the same name. Names of removed libraries are never given again, because keys may be limited to them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from answerable.disk.private import make_folder
from answerable.errors import SettingsError
from answerable.interfaces.http.server_files import read_json, write_json

LONGEST_NAME = 63
_UNUSABLE = re.compile(r"[^a-z0-9]+")
# Paths of the API.
_TAKEN = frozenset({"libraries", "all"})


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen for a library: its title, seconds between syncs (0: never), its model (empty: as configured)."""

    title: str = ""
    every: int = 0
    model: str = ""


@dataclass(slots=True)
class LibraryList:
    """The names of libraries `made` on the page and of those `removed`, and the `choices` by identity."""

    made: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    choices: dict[str, Choices] = field(default_factory=dict)

    def name_for(self, title: str, names: Collection[str]) -> str:
        """Return a new name for a title, fit for URLs."""
        letters = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        base = _UNUSABLE.sub("-", letters).strip("-")[: LONGEST_NAME - 6].rstrip("-") or "library"
        taken = {*names, *self.made, *self.removed, *_TAKEN}
        numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
        return next(each for each in (base, *numbered) if each not in taken)


class ListFile:
    """The file of the list. Raise SettingsError if it can't be read or written."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> LibraryList:
        """Return the list."""
        found: dict[str, Any] = read_json(self._path)
        try:
            chosen = {identity: Choices(**each) for identity, each in found.get("choices", {}).items()}
            return LibraryList(list(found.get("made", [])), list(found.get("removed", [])), chosen)
        except (TypeError, ValueError, AttributeError) as error:
            raise SettingsError(f"{self._path} isn't a list of libraries ({error}). Move it away.") from error

    @contextmanager
    def changing(self) -> Iterator[LibraryList]:
        """Yield the list and write it at the end; other processes wait."""
        make_folder(self._path.parent)
        with FileLock(f"{self._path}.lock", mode=0o600):
            found = self.read()
            yield found
            write_json(self._path, {"format": 1, **asdict(found)})
