"""Open zip and tar archives, and compressed files → streams of their unpacked bytes, within a limit.

A compressed tar is unpacked from its beginning each time its members are read.
"""

from __future__ import annotations

import io
import stat
import tarfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

from answerable.errors import DamagedSource, EncryptedSource, SourceTooLarge
from answerable.sources.archives import members
from answerable.sources.archives.members import (
    AGAIN,
    MAX_RATIO,
    UNPACK,
    Member,
    is_bomb,
    refuse_path,
    refused,
    too_many,
)
from answerable.sources.formats import UNPACKING

PASSED_OVER = 20
"""Limit on unpacked bytes, in multiples of `max_file_size`: reading a compressed tar unpacks it several times."""
GZIP, BZIP2, XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00"
# Bytes of memory for unpacking xz: a file packed by `xz -9` takes 65 MB.
_MOST_XZ_MEMORY = 256_000_000
_CHUNK = 1 << 18  # bytes that are read or unpacked at a time
# How many bytes are unpacked between two heartbeats.
_BEAT = 1 << 26


class Unpacking:
    """Unpacks compressed files: at most `most` bytes in all, with a heartbeat every 64 MB."""

    def __init__(self, most: int, working: Callable[[], None]) -> None:
        self.is_exceeded = False
        self._most = most
        self._working = working
        self._size = self._beats = 0

    @contextmanager
    def opened(self, archive: bytes | Path, source: str) -> Iterator[tuple[IO[bytes], bool]]:
        """Open a file; yield the stream of its unpacked bytes, and whether the stream can seek."""
        with io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb") as file:
            unpacked = _unpacked(file)
            if unpacked is None:
                yield file, True
                return
            packed = file.seek(0, io.SEEK_END)
            file.seek(0)
            yield io.BufferedReader(_Limited(unpacked, packed, source, self), _CHUNK), False

    def count(self, size: int, source: str) -> None:
        """Count unpacked bytes. Raise SourceTooLarge if there are too many."""
        self._size += size
        if self._size > self._most:
            self.is_exceeded = True
            raise SourceTooLarge(
                f"{source} takes unpacking over {self._most:,} bytes: {UNPACK}, or raise the setting max_file_size"
            )
        if self._size // _BEAT > self._beats:
            self._beats = self._size // _BEAT
            self._working()


def _unpacked(file: IO[bytes]) -> Iterator[bytes] | None:
    """Return the unpacked pieces of a compressed file, by its first bytes; None if it isn't compressed."""
    head = file.read(6)
    file.seek(0)
    if head.startswith(GZIP):
        import gzip

        return iter(partial(gzip.GzipFile(fileobj=file).read, _CHUNK), b"")
    if head.startswith(BZIP2):
        import bz2

        return iter(partial(bz2.BZ2File(file).read, _CHUNK), b"")
    return _xz_pieces(file) if head.startswith(XZ) else None


def _xz_pieces(file: IO[bytes]) -> Iterator[bytes]:
    """Yield the unpacked pieces of an xz file, with a limit on memory, which `lzma.open` can't set."""
    import lzma

    packed = file.read(_CHUNK)
    while packed:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_XZ_MEMORY)
        while not stream.eof:
            if stream.needs_input and not packed and not (packed := file.read(_CHUNK)):
                raise EOFError("the file ends before the end of its stream")
            if piece := stream.decompress(packed, _CHUNK):
                yield piece
            packed = b""
        # Another xz stream may follow, after padding with zeros.
        packed = (stream.unused_data or file.read(_CHUNK)).lstrip(b"\0")


class _Limited(io.RawIOBase):
    """Counts unpacked bytes. Raise DamagedSource for a decompression bomb, SourceTooLarge over `unpacking`'s limit."""

    def __init__(self, pieces: Iterator[bytes], packed: int, source: str, unpacking: Unpacking) -> None:
        self._pieces = pieces
        self._packed = packed
        self._source = source
        self._unpacking = unpacking
        self._piece = b""
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._piece or next(self._pieces, b"")
        given, self._piece = piece[: len(buffer)], piece[len(buffer) :]
        buffer[: len(given)] = given
        self._size += len(given)
        if is_bomb(self._size, self._packed):
            raise refused(self._source, f"it unpacks to {MAX_RATIO} times its size")
        self._unpacking.count(len(given), self._source)
        return len(given)


class ZipArchive:
    """An open zip archive: the sorted `names` of its files, and what is `left_out`. Raise SourceError with `advice`."""

    def __init__(self, archive: bytes | Path, source: str, advice: str = "") -> None:
        self.source = source
        try:
            self._zip = zipfile.ZipFile(BytesIO(archive) if isinstance(archive, bytes) else archive)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OverflowError) as error:
            raise DamagedSource(f"{source} is not a valid zip file ({error}): {advice or AGAIN}") from error
        try:
            if len(self._zip.infolist()) > members.MAX_MEMBERS:
                raise too_many(source, advice)
            for info in self._zip.infolist():
                info.filename = _safe_name(info, source, advice)
        except BaseException:
            self._zip.close()
            raise
        # Of two members with the same name, the last counts, as in every other program.
        self._files = {info.filename: info for info in self._zip.infolist() if not info.is_dir() and not _is_link(info)}
        self.names: Sequence[str] = sorted(self._files)
        self.left_out = [(info.filename, "link") for info in self._zip.infolist() if _is_link(info)]

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield the files of these names, sorted by name."""
        for name in sorted(names):
            info = self._files[name]
            yield Member(name, info.compress_size, partial(self._zip.open, info))

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._zip.close()


def _safe_name(info: zipfile.ZipInfo, source: str, advice: str) -> str:
    """Return a member's path. Raise DamagedSource if it leaves the archive, EncryptedSource if it is encrypted."""
    # Unlike `filename`, this name isn't cut at a NUL. Some programs write backslashes, or a slash at the beginning.
    name = info.orig_filename.replace("\\", "/").lstrip("/")
    refuse_path(name, source, advice)
    if info.flag_bits & 0x1:
        with_password = "unpack it with its password and add the files instead"
        raise EncryptedSource(f"{source} is encrypted ({name[:80]!r}): {advice or with_password}")
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            # Phones write UTF-8 without setting its flag, so zipfile assumes CP437.
            return name.encode("cp437").decode("utf-8")
    return name


def _is_link(info: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(info.external_attr >> 16)


# Bytes of an extension header, which tarfile reads whole; real extension headers have some kilobytes.
_LONGEST_HEADER = 100_000
_HEADERS = frozenset(
    (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
)


class TarArchive:
    """An open tar archive: the `names` of its files in its order, and what is `left_out`. Raise SourceError."""

    def __init__(self, archive: bytes | Path, source: str, unpacking: Unpacking) -> None:
        self.source = source
        self._archive = archive
        self._unpacking = unpacking
        self.left_out: list[tuple[str, str]] = []
        # Of several members with the same name, the last counts, as when tar unpacks them.
        self._places: dict[str, int] = {}
        with self._opened() as tar:
            for place, (name, info) in enumerate(_walk(tar, source)):
                if info.isreg():
                    self._places[name] = place
                elif info.issym() or info.islnk() or info.isdev():
                    self.left_out.append((name, "device" if info.isdev() else "link"))
        self.names: Sequence[str] = sorted(self._places, key=self._places.__getitem__)

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield the files of these names in the order of the archive; read each before asking for the next."""
        left = {self._places[name] for name in names}
        if not left:
            return
        last = max(left)
        with self._opened() as tar:
            for place, (name, info) in enumerate(_walk(tar, self.source)):
                if place in left:
                    yield Member(name, info.size, cast("Callable[[], IO[bytes]]", partial(tar.extractfile, info)))
                if place == last:
                    return

    @contextmanager
    def _opened(self) -> Iterator[tarfile.TarFile]:
        """Open the archive; turn the errors of tarfile and of each compression method into DamagedSource."""
        kind = _checking_entry(self.source)
        with self._unpacking.opened(self._archive, self.source) as (stream, can_seek):
            try:
                mode = "r:" if can_seek else "r|"
                with tarfile.open(  # type: ignore[call-overload]
                    fileobj=stream, mode=mode, tarinfo=kind, encoding="utf-8", errors="replace"
                ) as tar:
                    yield tar
            except (tarfile.TarError, *UNPACKING) as error:
                raise DamagedSource(f"{self.source} is a damaged tar file ({str(error)[:200]}): {AGAIN}") from error


def _walk(tar: tarfile.TarFile, source: str) -> Iterator[tuple[str, tarfile.TarInfo]]:
    """Check each entry, and yield it with its name without `./`. Raise DamagedSource or SourceTooLarge."""
    count = 0
    # `for info in tar` would keep all entries in memory.
    while (info := tar.next()) is not None:
        tar.members.clear()  # type: ignore[attr-defined]
        count += 1
        if count > members.MAX_MEMBERS:
            raise too_many(source)
        name = info.name.removeprefix("./").lstrip("/")
        if info.size < 0:
            raise refused(source, f"its member {name[:80]!r} has a negative size")
        if info.issparse():
            raise refused(source, f"its member {name[:80]!r} is a sparse file")
        if not info.isdir() or name not in ("", "."):
            refuse_path(name, source)
        yield name, info


def _checking_entry(source: str) -> type[tarfile.TarInfo]:
    """Return an entry class that refuses a hostile entry before tarfile reads the entry's data."""

    class Entry(tarfile.TarInfo):
        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> tarfile.TarInfo:  # type: ignore[override]
            try:
                info = super().frombuf(buf, encoding, errors)
            except tarfile.HeaderError as error:
                # tarfile takes a broken header for the archive's end. Only a block of zeros, or no block, is the end.
                if any(buf):
                    raise DamagedSource(f"{source} is a damaged tar file ({error}): {AGAIN}") from error
                raise
            shown = repr(info.name[:80])
            if info.type == tarfile.GNUTYPE_SPARSE:
                raise refused(source, f"its member {shown} is a sparse file")
            if info.type in _HEADERS and not 0 <= info.size <= _LONGEST_HEADER:
                raise refused(source, f"the header of its member {shown} is over {_LONGEST_HEADER:,} bytes")
            return info

    return Entry
