"""The recordings beside a chat in an archive, and a single member of an archive by its source."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path, PurePosixPath

from answerable.errors import DamagedSource, UnsupportedSource
from answerable.sources.archives.members import Archive, Budget, head_of, is_hidden
from answerable.sources.archives.open import open_archive
from answerable.sources.archives.unpacking import Unpacking
from answerable.sources.context import Beside
from answerable.sources.formats import ARCHIVES, Format, recognise
from answerable.sources.recordings.formats import has_suffix


class RecordingsBeside:
    """Returns the recording of a name, in any folder of an archive. See `context.Beside`."""

    def __init__(self, archive: Archive, kind: Format, names: Collection[str], limit: int) -> None:
        self._archive = archive
        # A compressed tar is unpacked from its beginning each time.
        self._in_one_pass = kind is not Format.ZIP
        self._limit = limit
        self._named = {PurePosixPath(name).name: name for name in names if has_suffix(name)}
        self._read: dict[str, bytes] = {}

    def __call__(self, name: str) -> bytes | None:
        """Return the bytes of a recording, or None. Raise SourceError."""
        if name not in self._named:
            return None
        member = self._named[name]
        if self._in_one_pass and not self._read:
            budget = Budget(self._limit, self._archive.source)
            for each in self._archive.members(self._named.values()):
                self._read[each.name] = budget.read(each) or b""
        # Media in a zip may be larger than the limit together, one at a time may not.
        return self._read[member] if member in self._read else _bytes(self._archive, member, self._limit)


@contextmanager
def opened_member(
    file: bytes | Path, source: str, member: str, limit: int, unpacking: Unpacking
) -> Iterator[tuple[bytes, Beside]]:
    """Open an archive of this source; yield the bytes of a member, and what finds the recordings beside it.

    `member` is its path, for one in an archive within this `inner.zip!/path`. Raise SourceError.
    """
    kind = recognise(head_of(file), source)
    if kind not in ARCHIVES:
        raise UnsupportedSource(f"{source} is no longer an archive: add it again")
    with closing(open_archive(file, source, kind, unpacking)) as archive:
        names = [name for name in archive.names if not is_hidden(name)]
        if member in names:
            yield _bytes(archive, member, limit), RecordingsBeside(archive, kind, names, limit)
            return
        inner = next((name for name in names if member.startswith(f"{name}!/")), None)
        if inner is None:
            raise DamagedSource(f"{member} is no longer in {source}: add it again")
        data, rest = _bytes(archive, inner, limit), member.removeprefix(f"{inner}!/")
        with opened_member(data, f"{source}!/{inner}", rest, limit, unpacking) as opened:
            yield opened


def _bytes(archive: Archive, name: str, limit: int) -> bytes:
    (data,) = [Budget(limit, archive.source).read(member) for member in archive.members([name])]
    return data or b""
