"""The width and height that a picture file declares, read from its first bytes before anything is decoded."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

# Cameras of phones make up to 200 million; decoded they take 0.6 GB.
MOST_PIXELS = 200_000_000
MOST_PAGES = 2_000
PNG = b"\x89PNG\r\n\x1a\n"
JPEG = b"\xff\xd8\xff"
GIF = (b"GIF87a", b"GIF89a")
TIFF = (b"II*\x00", b"MM\x00*")
# In the container of MP4, told from sound by the first brand. "mif1" may hold either, so the other brands count.
_HEIF = re.compile(rb"....ftyp(?:he[iv][cxms]|mif[12]|msf1|avi[fs])", re.DOTALL)
_WITHOUT_SIZE = frozenset({0xC4, 0xC8, 0xCC})
_TIFF_NUMBERS = {3: "H", 4: "I"}
_WIDTH, _HEIGHT = 256, 257


def declared_sizes(data: bytes) -> list[tuple[int, int]]:
    """Return the width and height of each page of a TIFF file, of the only or first picture of others.

    [] if the bytes are damaged or in an unknown format.
    """
    try:
        if data.startswith(TIFF):
            return list(_tiff(data))
        found = _one(data)
    except (struct.error, IndexError):
        return []
    return [found] if found else []


def is_webp(head: bytes) -> bool:
    """Whether a file with these first bytes is a WebP picture."""
    return head.startswith(b"RIFF") and head[8:12] == b"WEBP"


def heif_name(head: bytes) -> str:
    """Return "HEIC" or "AVIF" for a picture of these formats, which phones make; "" for others."""
    if not _HEIF.match(head):
        return ""
    brands = head[8 : max(int.from_bytes(head[:4], "big"), 12)]
    return "AVIF" if b"avif" in brands or b"avis" in brands else "HEIC"


def _one(data: bytes) -> tuple[int, int] | None:
    if data.startswith(PNG):
        return struct.unpack_from(">II", data, 16)
    if data.startswith(GIF):
        return struct.unpack_from("<HH", data, 6)
    if data.startswith(b"BM"):
        width, height = struct.unpack_from("<ii", data, 18)
        return abs(width), abs(height)
    if data.startswith(JPEG):
        return _jpeg(data)
    return _webp(data) if is_webp(data) else None


def _jpeg(data: bytes) -> tuple[int, int] | None:
    place = 2
    while place < len(data):
        if data[place] != 0xFF:
            return None
        kind = data[place + 1]
        if kind == 0xFF:
            place += 1
        elif 0xC0 <= kind <= 0xCF and kind not in _WITHOUT_SIZE:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        else:
            place += 2 + max(struct.unpack_from(">H", data, place + 2)[0], 2)
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    match data[12:16]:
        case b"VP8X":
            return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
        case b"VP8L":
            bits = int.from_bytes(data[21:25], "little")
            return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return width & 0x3FFF, height & 0x3FFF
    return None


def _tiff(data: bytes) -> Iterator[tuple[int, int]]:
    order = "<" if data.startswith(b"II") else ">"
    (place,) = struct.unpack_from(f"{order}I", data, 4)
    seen: set[int] = set()
    while place and place not in seen and len(seen) < MOST_PAGES:
        seen.add(place)
        (count,) = struct.unpack_from(f"{order}H", data, place)
        values = {}
        for entry in range(place + 2, place + 2 + 12 * count, 12):
            tag, kind = struct.unpack_from(f"{order}HH", data, entry)
            if tag in (_WIDTH, _HEIGHT) and kind in _TIFF_NUMBERS:
                (values[tag],) = struct.unpack_from(f"{order}{_TIFF_NUMBERS[kind]}", data, entry + 8)
        yield values.get(_WIDTH, 0), values.get(_HEIGHT, 0)
        (place,) = struct.unpack_from(f"{order}I", data, place + 2 + 12 * count)
