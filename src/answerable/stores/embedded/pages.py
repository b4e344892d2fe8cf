"""Reads the rows of a damaged SQLite file page by page.

The file format is that of https://www.sqlite.org/fileformat2.html. Pages are read independently, except for the
overflow pages of long rows: a damaged page costs only its own rows. A row doesn't name its table, which is recognised
by the number and types of its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Union

Value = Union[int, str, bytes, None]

_USUAL_SIZE = 4096  # bytes of a page, by default; the file format defines all numbers here
_WAL_HEADER, _FRAME_HEADER = 32, 24  # bytes
_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR = 13, 10, 2  # kinds of pages with rows
_SIZES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # bytes of each kind of number


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its number (None in an index) and its values.

    If overflow pages are missing, `values` ends before the first incomplete value; `columns` counts all columns.
    """

    number: int | None
    values: list[Value]
    columns: int


class Pages:
    """The pages of a file; of a page in the write-ahead log, its newest version there. Raises OSError."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("rb")
        header = self._file.read(100)
        named = int.from_bytes(header[16:18], "big")
        self.size = 65_536 if named == 1 else named
        if header[:6] != b"SQLite" or self.size < 512 or self.size & (self.size - 1):
            self.size = _USUAL_SIZE
        self.count = -(-path.stat().st_size // self.size)
        self._newer: dict[int, bytes] = dict(_log(path.with_name(f"{path.name}-wal"), self.size))
        self.count = max([self.count, *self._newer])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def rows(self) -> Iterator[Row]:
        """Yield every row that can be read, page by page."""
        for number in range(1, self.count + 1):
            page = self._page(number)
            start = 100 if number == 1 else 0
            kind = page[start]
            if kind in (_TABLE_LEAF, _INDEX_LEAF, _INDEX_INTERIOR):
                yield from self._rows(page, start, kind)

    def _page(self, number: int) -> bytes:
        if number in self._newer:
            return self._newer[number]
        self._file.seek((number - 1) * self.size)
        return self._file.read(self.size).ljust(self.size, b"\0")

    def _rows(self, page: bytes, start: int, kind: int) -> Iterator[Row]:
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        places = start + (12 if kind == _INDEX_INTERIOR else 8)
        for place in range(places, min(places + 2 * cells, self.size - 1), 2):
            at = int.from_bytes(page[place : place + 2], "big")
            try:
                yield self._row(page, at, kind)
            except (IndexError, ValueError):
                # These bytes aren't a row.
                continue

    def _row(self, page: bytes, at: int, kind: int) -> Row:
        at += 4 if kind == _INDEX_INTERIOR else 0
        size, at = _varint(page, at)
        if size > self.size * self.count:
            raise ValueError("a row larger than the file")
        number: int | None = None
        if kind == _TABLE_LEAF:
            number, at = _varint(page, at)
        here = self._size_here(size, kind)
        payload = page[at : at + here]
        if size > here:
            payload += self._overflow(int.from_bytes(page[at + here : at + here + 4], "big"), size - here)
        return _record(number, payload)

    def _size_here(self, size: int, kind: int) -> int:
        """Return how many bytes of a row are on its own page, not on overflow pages."""
        most = self.size - 35 if kind == _TABLE_LEAF else (self.size - 12) * 64 // 255 - 23
        if size <= most:
            return size
        least = (self.size - 12) * 32 // 255 - 23
        fitting = least + (size - least) % (self.size - 4)
        return fitting if fitting <= most else least

    def _overflow(self, number: int, size: int) -> bytes:
        """Return the rest of a row, shorter if a page is missing."""
        found = bytearray()
        while len(found) < size and 0 < number <= self.count:
            page = self._page(number)
            number = int.from_bytes(page[:4], "big")
            found += page[4 : 4 + size - len(found)]
        return bytes(found)


def _log(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    """Yield the pages in a write-ahead log up to its last transaction; newer versions of a page follow older ones."""
    data = path.read_bytes() if path.exists() else b""
    salts = data[16:24]
    waiting: list[tuple[int, bytes]] = []
    for at in range(_WAL_HEADER, len(data) - _FRAME_HEADER - size + 1, _FRAME_HEADER + size):
        frame = data[at : at + _FRAME_HEADER]
        if frame[8:16] != salts:
            # The remaining frames are of an earlier log.
            return
        waiting.append((int.from_bytes(frame[:4], "big"), data[at + _FRAME_HEADER : at + _FRAME_HEADER + size]))
        if int.from_bytes(frame[4:8], "big"):
            yield from waiting
            waiting.clear()


def _record(number: int | None, payload: bytes) -> Row:
    """Decode a row. Raise ValueError or IndexError if the data isn't a row."""
    end, at = _varint(payload, 0)
    types = []
    while at < end:
        kind, at = _varint(payload, at)
        types.append(kind)
    if at != end or 10 in types or 11 in types:
        raise ValueError("not a record")
    values: list[Value] = []
    for kind in types:
        size = _SIZES[kind] if kind < 10 else (kind - 12) // 2
        if at + size > len(payload):
            break
        values.append(_value(kind, payload[at : at + size]))
        at += size
    return Row(number, values, len(types))


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind in (8, 9):
        return kind - 8
    if kind == 7:
        # No table of a library contains fractions, so these bytes aren't a row.
        raise ValueError("a number with a fraction")
    if kind < 7:
        return int.from_bytes(data, "big", signed=True)
    return data.decode("utf-8") if kind % 2 else data


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Decode a number of one to nine bytes at a position; return the number and its end. Raise IndexError."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
