"""Tar archives, compressed or not. A compressed one is unpacked from its beginning each time its members are read."""

from __future__ import annotations

import tarfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from answerable.errors import DamagedSource, SourceError
from answerable.sources.archives import members
from answerable.sources.archives.members import AGAIN, Member, refuse_path, refused, too_many
from answerable.sources.archives.unpacking import Unpacking

# Headers of headers, which tarfile reads whole; real ones are some kilobytes.
_LONGEST_HEADER = 100_000
_HEADERS = frozenset(
    (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
)
_REFUSED = {
    tarfile.SYMTYPE: "symbolic link",
    tarfile.LNKTYPE: "link to another member",
    tarfile.CHRTYPE: "device",
    tarfile.BLKTYPE: "device",
    tarfile.FIFOTYPE: "pipe",
    tarfile.GNUTYPE_SPARSE: "sparse file",
}


class TarArchive:
    """An open tar archive; its files are in the order of the archive. See `members.Archive`.

    Raise DamagedSource and SourceTooLarge for one that is broken or hostile.
    """

    def __init__(self, archive: bytes | Path, source: str, unpacking: Unpacking) -> None:
        self.source = source
        self._archive = archive
        self._unpacking = unpacking
        # The last of several members with one name counts, as when they are unpacked.
        self._places = {name: place for place, (name, info) in enumerate(self._entries()) if info.isreg()}

    @property
    def names(self) -> Sequence[str]:
        """The paths of the files, in the order of the archive."""
        return sorted(self._places, key=self._places.__getitem__)

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield these files in the order of the archive, each to be read before the next."""
        left = {self._places[name] for name in names}
        if not left:
            return
        last = max(left)
        with self._opened() as tar:
            for place, (name, info) in enumerate(_walk(tar, self.source)):
                if place in left:
                    yield Member(name, info.size, info.size, lambda info=info: _stream(tar, info))  # type: ignore[misc]
                if place == last:
                    return

    def _entries(self) -> Iterator[tuple[str, tarfile.TarInfo]]:
        with self._opened() as tar:
            yield from _walk(tar, self.source)

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        """Open the archive; turn the errors of tarfile and of each compression method into ours."""
        kind = _checking(self.source)
        with self._unpacking.opened(self._archive, self.source) as (stream, can_seek):
            try:
                mode = "r:" if can_seek else "r|"
                with tarfile.open(  # type: ignore[call-overload]
                    fileobj=stream, mode=mode, tarinfo=kind, encoding="utf-8", errors="replace"
                ) as tar:
                    yield tar
            except (SourceError, MemoryError, GeneratorExit):
                raise
            except Exception as error:
                raise DamagedSource(f"{self.source} is a damaged tar file ({str(error)[:200]}): {AGAIN}") from error

    def close(self) -> None:
        """Do nothing: the file is open only while members are read."""


def _walk(tar: tarfile.TarFile, source: str) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Yield each entry with its plain name, checked. Raise DamagedSource and SourceTooLarge."""
    count = 0
    # Not `for info in tar`, which keeps all entries.
    while (info := tar.next()) is not None:
        tar.members.clear()  # type: ignore[attr-defined]
        count += 1
        if count > members.MAX_MEMBERS:
            raise too_many(source)
        name = info.name.removeprefix("./")
        if info.size < 0:
            raise refused(source, f"its member {name[:80]!r} has a negative size")
        if info.issparse():
            raise refused(source, f"its member {name[:80]!r} is a sparse file")
        if not info.isdir() or name not in ("", "."):
            refuse_path(name, source)
        yield name, info


def _stream(tar: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    return cast("IO[bytes]", tar.extractfile(info))


def _checking(source: str) -> type[tarfile.TarInfo]:
    """Return a class of entries that are refused before tarfile reads what belongs to them."""

    class Entry(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> tarfile.TarInfo:  # type: ignore[override]
            try:
                info = super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError as error:
                # tarfile takes a broken header for the end. Only zeros, or nothing, are that.
                if any(buf):
                    raise DamagedSource(f"{source} is a damaged tar file ({error}): {AGAIN}") from error
                raise
            shown = repr(info.name[:80])
            if kind := _REFUSED.get(info.type):
                raise refused(source, f"its member {shown} is a {kind}")
            if info.type in _HEADERS and not 0 <= info.size <= _LONGEST_HEADER:
                raise refused(source, f"the header of its member {shown} is over {_LONGEST_HEADER:,} bytes")
            return info

    return Entry
