"""The properties in a file of Outlook ([MS-OXMSG]), read from its streams."""

from __future__ import annotations

import codecs
import struct
from contextlib import suppress
from datetime import datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from answerable.errors import DamagedSource
from answerable.sources.mail.charsets import decoded

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]

Path = tuple[str, ...]

_PROPERTIES = "__properties_version1.0"
_ENTRY = struct.Struct("<HHIQ")
# Before the properties of a whole file, of a message in it, and of its people and attachments.
_HEADERS = {"": 32, "message": 24, "other": 8}
_TIME, _NUMBER = 0x0040, 0x0003
_CODEPAGES = (0x3FFD, 0x3FDE)
_UTF_8 = 65001
# Streams may share their bytes, which would grow without end.
_MOST_READ = 4
_SPARE = 1_000_000
_MOST_INSIDE = 1_000


class OutlookFile:
    """An open file of Outlook. Raise DamagedSource if it can't be opened, or grows too much while it is read."""

    def __init__(self, data: bytes, source: str) -> None:
        import olefile

        self._source = source
        self._left = _MOST_READ * len(data) + _SPARE
        try:
            self._file: OleFileIO = olefile.OleFileIO(BytesIO(data))
            self._names = [tuple(each) for each in self._file.listdir(streams=True, storages=True)]
        except (Exception, RecursionError) as error:
            # It raises whatever a damaged structure leads to.
            raise self.damaged(str(error)[:200]) from error
        self._known = set(self._names)

    def damaged(self, reason: str) -> DamagedSource:
        """Return the error for a file that is damaged."""
        return DamagedSource(
            f"{self._source} is not a readable message of Outlook ({reason}): save it again from Outlook, or as .eml"
        )

    def inside(self, path: Path, prefix: str) -> list[Path]:
        """Return the storages in this one whose names begin so: its people, or its attachments."""
        found = (each for each in self._names if len(each) == len(path) + 1 and each[:-1] == path)
        return sorted(each for each in found if each[-1].startswith(prefix))[:_MOST_INSIDE]

    def has(self, path: Path) -> bool:
        """Whether there is a stream or storage of this name."""
        return path in self._known

    def stream(self, path: Path) -> bytes:
        """Return the bytes of a stream, or b"" if it can't be read."""
        if path not in self._known:
            return b""
        data = b""
        with suppress(Exception), self._file.openstream(list(path)) as stream:
            data = stream.read(self._left + 1)
        self._left -= len(data)
        if self._left < 0:
            raise self.damaged("its parts are larger than the file")
        return bytes(data)

    def fixed(self, path: Path) -> dict[int, int]:
        """Return the numbers and times of a storage by property."""
        kind = "" if not path else "message" if path[-1].endswith("000D") else "other"
        data = self.stream((*path, _PROPERTIES))[_HEADERS[kind] :]
        whole = data[: len(data) // _ENTRY.size * _ENTRY.size]
        entries = _ENTRY.iter_unpack(whole)
        return {name: value for form, name, _, value in entries if form in (_TIME, _NUMBER)}

    def text(self, path: Path, *names: int, codec: str = "") -> str:
        """Return the text of the first of these properties that has one."""
        for name in names:
            wide = self.stream((*path, f"__substg1.0_{name:04X}001F"))
            if text := wide.decode("utf-16-le", "replace") or decoded(self._narrow(path, name), codec):
                return decoded(text.encode("utf-8", "replace"), "utf-8").rstrip("\0")
        return ""

    def _narrow(self, path: Path, name: int) -> bytes:
        return self.stream((*path, f"__substg1.0_{name:04X}001E"))

    def binary(self, path: Path, name: int) -> bytes:
        """Return the bytes of a property."""
        return self.stream((*path, f"__substg1.0_{name:04X}0102"))


def codec_of(numbers: dict[int, int]) -> str:
    """Return Python's name for the code page of a message's texts."""
    page = next((numbers[name] & 0xFFFF for name in _CODEPAGES if name in numbers), 0)
    name = "utf-8" if page == _UTF_8 else f"cp{page}"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return ""


def time_from(ticks: int) -> datetime | None:
    """Return a time in UTC from ticks of 100 ns since 1601."""
    try:
        return datetime(1601, 1, 1) + timedelta(seconds=ticks // 10_000_000) if ticks else None
    except OverflowError:
        return None
