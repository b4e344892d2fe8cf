"""Open an archive of any kind."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from answerable.sources.archives.members import Archive
from answerable.sources.archives.unpacking import Unpacking
from answerable.sources.formats import Format, is_tar

# `notes.tar.gz`, `notes.tgz`.
_TARS = (".tar", ".tgz", ".tbz", ".tbz2", ".txz")


def open_archive(file: bytes | Path, source: str, kind: Format, unpacking: Unpacking) -> Archive:
    """Open an archive of this format, and check all its members. Raise SourceError."""
    if kind is Format.ZIP:
        from answerable.sources.archives.zip_archive import ZipArchive

        return ZipArchive(file, source)
    if kind is Format.TAR or _is_packed_tar(file, source, unpacking):
        from answerable.sources.archives.tar_archive import TarArchive

        return TarArchive(file, source, unpacking)
    from answerable.sources.archives.compressed_file import CompressedFile

    return CompressedFile(file, source, unpacking)


def _is_packed_tar(file: bytes | Path, source: str, unpacking: Unpacking) -> bool:
    """Whether a compressed file is a tar archive, by its first bytes unpacked or, if these are damaged, its name."""
    path = PurePosixPath(source.lower())
    if path.suffix in _TARS or PurePosixPath(path.stem).suffix in _TARS:
        return True
    try:
        with unpacking.opened(file, source) as (stream, _):
            return is_tar(stream.read(512))
    except Exception:
        # Each compression method raises its own errors, as the one that reads it reports.
        return False
