"""The formats of recordings, by their first bytes."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import PurePath

from answerable.installation import install_command

SUFFIXES = ".opus .ogg .oga .m4a .mp3 .wav .mp4 .m4b .aac .flac .amr .3gp .webm"

# By demuxer of FFmpeg. Only the one that the bytes show is tried: others follow addresses that a file contains.
_CONTAINERS = (
    ("ogg", re.compile(rb"OggS\0")),
    # The container of pictures and photographs, too (HEIC, AVIF, CR3).
    ("mov", re.compile(rb"....ftyp(?!he[iv][cxms]|mif[12]|msf1|avi[fs]|crx )", re.DOTALL)),
    ("wav", re.compile(rb"(?:RIFF|RF64)....WAVE", re.DOTALL)),
    ("flac", re.compile(rb"fLaC")),
    ("matroska", re.compile(rb"\x1a\x45\xdf\xa3")),
    ("amr", re.compile(rb"#!AMR")),
    # The layer of AAC is 0, that of MP3 is not.
    ("aac", re.compile(rb"\xff[\xf0\xf1\xf8\xf9]")),
    ("mp3", re.compile(rb"ID3[\x02-\x04]\0|\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]")),
)
_MEDIA_TYPES = {
    "ogg": "audio/ogg",
    "mov": "audio/mp4",
    "wav": "audio/wav",
    "flac": "audio/flac",
    "matroska": "audio/webm",
    "amr": "audio/amr",
    "aac": "audio/aac",
    "mp3": "audio/mpeg",
}
# Two bytes are too few to tell a format by.
_WEAK = frozenset({"aac", "mp3"})


def container_of(head: bytes) -> str:
    """Return the name of the container that the first bytes show, or ""."""
    return next((name for name, mark in _CONTAINERS if mark.match(head)), "")


def media_type_of(head: bytes) -> str:
    """Return the media type that the first bytes show, or ""."""
    return _MEDIA_TYPES.get(container_of(head), "")


def is_recording(head: bytes, suffix: str) -> bool:
    """Whether these are the first bytes of a recording; `suffix` is that of its name, in lower case."""
    container = container_of(head)
    return bool(container) and (container not in _WEAK or head.startswith(b"ID3") or suffix in SUFFIXES.split())


def has_suffix(name: str) -> bool:
    """Whether a file is named like a recording."""
    return PurePath(name).suffix.lower() in SUFFIXES.split()


def not_heard() -> str:
    """Return the reason for leaving out recordings where nothing is installed that hears them."""
    return f"recording ({install_command('audio')})"


def is_heard() -> bool:
    """Whether the library that hears recordings is installed."""
    return find_spec("faster_whisper") is not None
