"""What archives of all formats have in common: what is refused in them, and how members are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO, Any, Protocol

from answerable.datatypes import Document
from answerable.errors import DamagedSource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.formats.format import Format
from answerable.sources.context import Beside
from answerable.sources.formats import SAMPLE, UNPACKING

MAX_MEMBERS = 100_000  # files in an archive; a round number, not measured
# Unpacked bytes: repetitive text packs well, so a high ratio means a decompression bomb only above this size.
SMALL = 10_000_000
MAX_RATIO = 200  # unpacked bytes per packed byte; a round number, not measured
# Characters of a member's path: no system allows a longer path.
_LONGEST_NAME = 4_096

AGAIN = "download or export it again"
UNPACK = "unpack it and add the folder instead"
REPACK = "pack the files again with another program, or unpack it and add the folder if you trust it"

Wanted = Callable[[bytes, str], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path in the archive, and its packed size in bytes."""

    name: str
    packed: int
    open: Callable[[], IO[bytes]]


def is_hidden(name: str) -> bool:
    """Whether an archive member is a hidden file, or one that macOS adds (`__MACOSX`)."""
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
    """Reads members of an archive, and of archives within it; their unpacked bytes are at most `limit` in all."""

    def __init__(self, limit: int, source: str, advice: str = "") -> None:
        self._advice = advice
        self._limit = limit
        self._left = limit
        self._source = source
        self.is_exceeded = False

    def read(self, member: Member, wanted: Wanted | None = None) -> bytes | None:
        """Return a member's bytes, or None if `wanted` rejects its first bytes and name. Raise SourceError."""
        pieces = []
        size = 0
        try:
            with member.open() as stream:
                while piece := stream.read(1 << 20):
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
        except UNPACKING as error:
            raise DamagedSource(
                f"{self._source} is damaged at its member {member.name[:80]!r} ({str(error)[:200]}): "
                f"{self._advice or AGAIN}"
            ) from error
        self._left -= size
        return b"".join(pieces)

    def _check(self, member: Member, size: int) -> None:
        if is_bomb(size, member.packed):
            reason = f"its member {member.name[:80]!r} unpacks to {MAX_RATIO} times its size"
            raise refused(self._source, reason, self._advice)
        if size > self._left:
            self.is_exceeded = True
            raise SourceTooLarge(
                f"{self._source} unpacks to over {self._limit:,} bytes: "
                f"{self._advice or 'unpack it and add the folder'}, or raise the setting max_file_size"
            )


def is_bomb(size: int, packed: int) -> bool:
    """Whether a member is a decompression bomb, by its unpacked and its packed size in bytes."""
    return size > SMALL and size > packed * MAX_RATIO


class ReadMember(Protocol):
    """Reads one member of a file, given as its bytes or as the document that was already made of it."""

    def __call__(
        self,
        data: bytes | Document,
        source: str,
        *,
        known: Format | None = None,
        metadata: Mapping[str, Any] | None = None,
        beside: Beside | None = None,
    ) -> list[Document]:
        """Return the member's documents, with this metadata added. Raise SourceError.

        `known` is the member's format, if its name and first bytes don't show it. `beside` returns the bytes of a file
        next to a chat.
        """
