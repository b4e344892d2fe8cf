"""A single compressed file (`notes.txt.gz`) as an archive with one member (`notes.txt`)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from typing import IO

from answerable.sources.archives.members import Member
from answerable.sources.archives.unpacking import Unpacking

_UNKNOWN = 1 << 62


class CompressedFile:
    """An open compressed file. See `members.Archive`."""

    def __init__(self, archive: bytes | Path, source: str, unpacking: Unpacking) -> None:
        self.source = source
        self._archive = archive
        self._unpacking = unpacking
        self._opened = ExitStack()

    @property
    def names(self) -> Sequence[str]:
        """The file's name without the suffix of its compression. A name stored in the file isn't trusted."""
        path = PurePosixPath(self.source.replace("\\", "/"))
        return [path.stem or "file"]

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield the file, unless no names are given."""
        # The stream that it is read from watches for bombs.
        yield from (Member(name, _UNKNOWN, _UNKNOWN, self._stream) for name in names)

    def _stream(self) -> IO[bytes]:
        self.close()
        return self._opened.enter_context(self._unpacking.opened(self._archive, self.source))[0]

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._opened.close()
