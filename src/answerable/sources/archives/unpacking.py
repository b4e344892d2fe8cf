"""Compressed files (gzip, bzip2, xz) → streams of their unpacked bytes, within a limit."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from answerable.errors import SourceTooLarge
from answerable.sources.archives.members import MAX_RATIO, UNPACK, is_bomb, refused

PASSED_OVER = 20
"""How many times `max_file_size` may be unpacked: a compressed tar is from its beginning, several times."""
GZIP, BZIP2, XZ = b"\x1f\x8b\x08", b"BZh", b"\xfd7zXZ\x00"
# `xz -9` takes 65 MB to unpack.
_MOST_XZ_MEMORY = 256_000_000
_CHUNK = 1 << 18
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
        """Open a file; give the stream of its unpacked bytes, and whether it can be read from anywhere."""
        with io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb") as file:
            unpacked = _unpacked(file)
            if unpacked is None:
                yield file, True
                return
            packed = file.seek(0, io.SEEK_END)
            file.seek(0)
            with unpacked:
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


def _unpacked(file: IO[bytes]) -> IO[bytes] | None:
    """Return the unpacked stream of a compressed file, by its first bytes; None if it isn't compressed."""
    head = file.read(6)
    file.seek(0)
    if head.startswith(GZIP):
        import gzip

        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if head.startswith(BZIP2):
        import bz2

        return bz2.BZ2File(file)
    return io.BufferedReader(_Xz(file), _CHUNK) if head.startswith(XZ) else None


class _Limited(io.RawIOBase):
    """Counts what is unpacked. Raise DamagedSource for a bomb, SourceTooLarge over the limit of all together."""

    def __init__(self, stream: IO[bytes], packed: int, source: str, unpacking: Unpacking) -> None:
        self._stream = stream
        self._packed = packed
        self._source = source
        self._unpacking = unpacking
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._stream.read(len(buffer))
        buffer[: len(piece)] = piece
        self._size += len(piece)
        if is_bomb(self._size, self._packed):
            raise refused(self._source, f"it unpacks to {MAX_RATIO} times its size")
        self._unpacking.count(len(piece), self._source)
        return len(piece)


class _Xz(io.RawIOBase):
    """Unpacks xz with a limit on its memory, which `lzma.LZMAFile` can't set."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._decompressor = self._fresh()
        self._rest = b""

    def _fresh(self) -> Any:
        import lzma

        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST_XZ_MEMORY)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while True:
            if self._decompressor.eof:
                # Another stream may follow, after padding with zeros.
                rest = (self._decompressor.unused_data or self._file.read(_CHUNK)).lstrip(b"\0")
                if not rest:
                    return 0
                self._decompressor, self._rest = self._fresh(), rest
            elif self._decompressor.needs_input and not self._rest:
                self._rest = self._file.read(_CHUNK)
                if not self._rest:
                    raise EOFError("the file ends before the end of its stream")
            piece = self._decompressor.decompress(self._rest, len(buffer))
            self._rest = b""
            if piece:
                buffer[: len(piece)] = piece
                return len(piece)
