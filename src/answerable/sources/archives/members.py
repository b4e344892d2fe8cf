"""What archives of every kind have in common: members by name, what is refused, and the limit on unpacked bytes."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from answerable.errors import DamagedSource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.sources.formats import SAMPLE

MAX_MEMBERS = 100_000
# Repetitive text packs well; a high ratio means a bomb only from this size on.
SMALL = 10_000_000
MAX_RATIO = 200
# No system allows a longer path.
_LONGEST_NAME = 4_096
_CHUNK = 1 << 20

AGAIN = "download or export it again"
UNPACK = "unpack it and add the folder instead"
REPACK = "pack the files again with another program, or unpack it and add the folder if you trust it"

Wanted = Callable[[bytes, str], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path there, its declared size unpacked, and the bytes it takes packed."""

    name: str
    size: int
    packed: int
    open: Callable[[], IO[bytes]]


class Archive(Protocol):
    """An open archive whose members have all been checked."""

    @property
    def source(self) -> str:
        """The archive's source."""

    @property
    def names(self) -> Sequence[str]:
        """The paths of its files, each once, in the order in which `members` yields them."""

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield these files; each can be read until the next is asked for. Raise SourceError."""

    def close(self) -> None:
        """Close the file. Idempotent."""


def head_of(file: bytes | Path) -> bytes:
    """Return the first bytes of a file, which tell its format."""
    if isinstance(file, bytes):
        return file[:SAMPLE]
    with file.open("rb") as opened:
        return opened.read(SAMPLE)


def is_hidden(name: str) -> bool:
    """Whether a member is hidden, or of macOS."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts)


def refuse_path(name: str, source: str, advice: str = "") -> None:
    """Raise DamagedSource for a member's path that leaves the archive, is empty, or longer than any system allows."""
    if not name:
        raise refused(source, "a member has no name", advice)
    if len(name) > _LONGEST_NAME:
        raise refused(source, f"a member has a name of over {_LONGEST_NAME:,} characters", advice)
    if name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) or {"\\", "\0"} & set(name):
        raise refused(source, f"its member {name[:80]!r} points outside the archive", advice)


def refused(source: str, reason: str, advice: str = "") -> DamagedSource:
    """Return the error for an archive that is refused whole."""
    return DamagedSource(f"{source} is refused, {reason}: {advice or REPACK}")


def too_many(source: str, advice: str = "") -> SourceTooLarge:
    """Return the error for an archive with more than `MAX_MEMBERS` members."""
    return SourceTooLarge(f"{source} holds over {MAX_MEMBERS:,} files: {advice or UNPACK}")


class Budget:
    """Reads members of an archive, and counts their unpacked bytes: at most `limit` in all.

    An archive within the archive shares its budget.
    """

    def __init__(self, limit: int, source: str, advice: str = "") -> None:
        self._advice = advice
        self._limit = limit
        self._left = limit
        self._source = source
        self.is_exceeded = False

    def read(self, member: Member, wanted: Wanted | None = None) -> bytes | None:
        """Return a member's bytes, or None if `wanted` rejects its first bytes and name.

        Raise SourceError if it is too large, larger than declared, or damaged.
        """
        pieces = []
        size = 0
        try:
            with member.open() as stream:
                while piece := stream.read(_CHUNK):
                    if not size and wanted and not wanted(piece[:SAMPLE], member.name):
                        return None
                    size += len(piece)
                    pieces.append(piece)
                    self._check(member, size)
        except SourceError:
            raise
        except (NotImplementedError, RuntimeError) as error:
            raise UnsupportedSource(
                f"{self._source} uses an unknown compression method ({error}): {self._advice or REPACK}"
            ) from error
        except Exception as error:
            # Each compression method raises its own errors.
            raise DamagedSource(
                f"{self._source} is damaged at its member {member.name[:80]!r} ({str(error)[:200]}): "
                f"{self._advice or AGAIN}"
            ) from error
        self._left -= size
        return b"".join(pieces)

    def _check(self, member: Member, size: int) -> None:
        name = f"its member {member.name[:80]!r}"
        if size > member.size:
            raise refused(self._source, f"{name} is larger than it declares", self._advice)
        if is_bomb(size, member.packed):
            raise refused(self._source, f"{name} unpacks to {MAX_RATIO} times its size", self._advice)
        if size > self._left:
            self.is_exceeded = True
            raise SourceTooLarge(
                f"{self._source} unpacks to over {self._limit:,} bytes: "
                f"{self._advice or 'unpack it and add the folder'}, or raise the setting max_file_size"
            )


def is_bomb(size: int, packed: int) -> bool:
    """Whether a member is a decompression bomb, by its size unpacked and packed."""
    return size > SMALL and size > packed * MAX_RATIO
