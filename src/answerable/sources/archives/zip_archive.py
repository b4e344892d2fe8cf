"""Zip archives. Declared sizes aren't trusted."""

from __future__ import annotations

import copy
import stat
import zipfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from io import BytesIO
from pathlib import Path

from answerable.errors import DamagedSource, EncryptedSource
from answerable.sources.archives import members
from answerable.sources.archives.members import AGAIN, Member, refuse_path, refused, too_many


class ZipArchive:
    """An open zip archive; its files are in the order of their names. See `members.Archive`.

    Raise DamagedSource, EncryptedSource and SourceTooLarge, with this advice, for one that is broken or hostile.
    """

    def __init__(self, archive: bytes | Path, source: str, advice: str = "") -> None:
        self.source = source
        try:
            self._zip = zipfile.ZipFile(BytesIO(archive) if isinstance(archive, bytes) else archive)
        except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OverflowError) as error:
            raise DamagedSource(f"{source} is not a valid zip file ({error}): {advice or AGAIN}") from error
        try:
            self._files = self._checked(advice)
        except BaseException:
            self._zip.close()
            raise

    def _checked(self, advice: str) -> dict[str, zipfile.ZipInfo]:
        """Return the files by name, after checking every entry."""
        if len(self._zip.infolist()) > members.MAX_MEMBERS:
            raise too_many(self.source, advice)
        for info in self._zip.infolist():
            _refuse_hostile(info, self.source, advice)
            _repair_name(info)
        # The last of two members with one name counts, as in every other program.
        return {info.filename: info for info in self._zip.infolist() if not info.is_dir()}

    @property
    def names(self) -> Sequence[str]:
        """The paths of the files, sorted."""
        return sorted(self._files)

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield these files, by name."""
        for name in sorted(names):
            info = self._files[name]
            yield Member(name, info.file_size, info.compress_size, partial(self._zip.open, _undeclared(info)))

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._zip.close()


def _refuse_hostile(info: zipfile.ZipInfo, source: str, advice: str) -> None:
    """Raise DamagedSource for a link, or a path that leaves the archive; EncryptedSource for an encrypted member."""
    # zipfile changes names: it cuts them at a NUL and, on Windows, replaces backslashes.
    name = info.orig_filename
    refuse_path(name, source, advice)
    shown = repr(name[:80])
    if stat.S_ISLNK(info.external_attr >> 16):
        raise refused(source, f"its member {shown} is a symbolic link", advice)
    if info.flag_bits & 0x1:
        with_password = "unpack it with its password and add the files instead"
        raise EncryptedSource(f"{source} is encrypted ({shown}): {advice or with_password}")


def _repair_name(info: zipfile.ZipInfo) -> None:
    """Decode a name as UTF-8, which phones write without setting the flag for it; zipfile assumes CP437."""
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            info.filename = info.filename.encode("cp437").decode("utf-8")


def _undeclared(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Return a copy of the entry without its declared size: zipfile would silently stop reading there."""
    unlimited = copy.copy(info)
    unlimited.file_size = 1 << 62
    return unlimited
