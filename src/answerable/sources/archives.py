"""Zip archives → Documents: a chat exported from a phone, or any files.

An archive with anything malicious in it is refused whole. Nothing is unpacked to disk, and declared sizes aren't
trusted.
"""

from __future__ import annotations

import copy
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import BytesIO
from pathlib import Path, PurePosixPath

from answerable.datatypes import Document
from answerable.errors import (
    DamagedSource,
    EmptySource,
    EncryptedSource,
    SourceError,
    SourceTooLarge,
    UnsupportedSource,
)
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import SAMPLE, is_supported, why_unread
from answerable.sources.html.page_parts import PAGE_PART, is_in_page_folder, is_page_part
from answerable.sources.recordings import formats as recordings
from answerable.sources.text import decode
from answerable.sources.whatsapp.read import is_chat
from answerable.sources.whatsapp.voice_notes import is_chat_name

MAX_MEMBERS = 100_000
# No system allows a longer path.
_LONGEST_NAME = 4_096
# Repetitive text packs well; a high ratio means a bomb only from this size on.
_SMALL = 10_000_000
_MAX_RATIO = 200
_CHUNK = 1 << 20
_OFFICE = frozenset({"[Content_Types].xml", "mimetype", "META-INF/MANIFEST.MF", "AndroidManifest.xml"})
_TEXTS = frozenset({".txt", ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".csv", ".json"})

Wanted = Callable[[bytes, str], bool]
ReadMember = Callable[[bytes, str, "Beside | None"], list[Document]]


def read_zip(archive: bytes | Path, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the chat in an archive that a phone exported, or every supported document in any other archive.

    `max_file_size` limits the unpacked bytes. A member that can't be read is added to `context.skipped`.
    """
    skipped = context.skipped
    with open_zip(archive, source) as zipped:
        members = _members(zipped, source)
        if _OFFICE.intersection(zipped.namelist()):
            raise UnsupportedSource(
                f"{source} is an Office document, e-book or program: name it .docx or .epub if it is one, "
                "otherwise save it as PDF, HTML or plain text, then add that file"
            )
        budget = Budget(context.limits.max_file_size, source)
        chats = _chat_exports(zipped, members, budget)
        if chats:
            named = {PurePosixPath(info.filename).name: info for info in members}
            beside = partial(_beside, zipped, named, context.limits.max_file_size, source)
            return [found for name, data in chats for found in read_member(data, f"{source}!/{name}", beside)]
        names = frozenset(info.filename for info in members)
        documents: list[Document] = []
        for info in members:
            name = f"{source}!/{info.filename}"
            if is_page_part(PurePosixPath(info.filename).name, is_in_page_folder(info.filename, names)):
                skipped.count(PAGE_PART, name)
                continue
            reasons: list[str] = []
            is_heard = PurePosixPath(info.filename).suffix.lower() in recordings.SUFFIXES.split()
            try:
                # A long film doesn't keep the rest from being read.
                own = Budget(context.limits.max_file_size, source) if is_heard else budget
                data = own.read(zipped, info, partial(_is_wanted, reasons))
            except SourceTooLarge as error:
                if not is_heard:
                    raise
                skipped.errors.append(error)
                continue
            try:
                if data is None:
                    skipped.count(reasons[-1], name)
                else:
                    documents += read_member(data, name, None)
            except EmptySource:
                skipped.count("empty", name)
            except SourceError as error:
                skipped.errors.append(error)
    if not documents and not skipped.errors:
        raise EmptySource(
            f"{source} holds no document that can be read: add PDF, HTML, Markdown or text files, or a chat export"
        )
    return documents


@contextmanager
def opened_member(archive: Path, source: str, limit: int) -> Iterator[tuple[bytes, Beside]]:
    """Open an archive; yield the bytes of the member that a source names, and what finds the files beside it.

    Raise SourceError.
    """
    name = source.rpartition("!/")[2]
    with open_zip(archive, source) as zipped:
        members = _members(zipped, source)
        info = next((info for info in members if info.filename == name), None)
        if info is None:
            raise DamagedSource(f"{source} is no longer in the archive: add it again")
        named = {PurePosixPath(each.filename).name: each for each in members}
        yield Budget(limit, source).read(zipped, info) or b"", partial(_beside, zipped, named, limit, source)


def _is_wanted(reasons: list[str], head: bytes, name: str) -> bool:
    """Whether a reader takes a member; if not, add why to `reasons`."""
    reason = why_unread(head, name)
    if reason:
        reasons.append(reason)
    return not reason


def _beside(
    zipped: zipfile.ZipFile, named: dict[str, zipfile.ZipInfo], limit: int, source: str, name: str
) -> bytes | None:
    """Return the bytes of the member of this name in any folder, or None. Raise SourceError."""
    info = named.get(name)
    # Media may be larger than the limit together, one at a time may not.
    return Budget(limit, source).read(zipped, info) if info else None


_AGAIN = "download or export it again"
_UNPACK = "unpack it and add the folder instead"
_REPACK = "pack the files again with another program, or unpack it and add the folder if you trust it"


def open_zip(archive: bytes | Path, source: str, advice: str = "") -> zipfile.ZipFile:
    """Open an archive without checking its members. Raise DamagedSource or SourceTooLarge with this advice."""
    try:
        zipped = zipfile.ZipFile(BytesIO(archive) if isinstance(archive, bytes) else archive)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, EOFError, OverflowError) as error:
        raise DamagedSource(f"{source} is not a valid zip file ({error}): {advice or _AGAIN}") from error
    if len(zipped.infolist()) > MAX_MEMBERS:
        zipped.close()
        raise SourceTooLarge(f"{source} holds over {MAX_MEMBERS:,} files: {advice or _UNPACK}")
    return zipped


def _members(zipped: zipfile.ZipFile, source: str) -> list[zipfile.ZipInfo]:
    """Return the archive's files sorted by name, after checking every entry."""
    members = []
    for info in zipped.infolist():
        refuse_hostile(info, source)
        _repair_name(info)
        parts = PurePosixPath(info.filename).parts
        hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
        if not (info.is_dir() or hidden or info.filename.lower().endswith(".zip")):
            members.append(info)
    return sorted(members, key=lambda info: info.filename)


def refuse_hostile(info: zipfile.ZipInfo, source: str, advice: str = "") -> None:
    """Raise DamagedSource for a link, or a path that leaves the archive; EncryptedSource for an encrypted member."""
    # zipfile changes names: it cuts them at a NUL and, on Windows, replaces backslashes.
    name = info.orig_filename
    shown = repr(name[:80])
    reason = ""
    if not name:
        reason = "a member has no name"
    elif len(name) > _LONGEST_NAME:
        reason = f"a member has a name of over {_LONGEST_NAME:,} characters"
    elif name.startswith("/") or ".." in name.split("/") or re.match(r"[A-Za-z]:", name) or {"\\", "\0"} & set(name):
        reason = f"its member {shown} points outside the archive"
    elif stat.S_ISLNK(info.external_attr >> 16):
        reason = f"its member {shown} is a symbolic link"
    if reason:
        raise DamagedSource(f"{source} is refused, {reason}: {advice or _REPACK}")
    if info.flag_bits & 0x1:
        with_password = "unpack it with its password and add the files instead"
        raise EncryptedSource(f"{source} is encrypted ({shown}): {advice or with_password}")


def _repair_name(info: zipfile.ZipInfo) -> None:
    """Decode a name as UTF-8, which phones write without setting the flag for it; zipfile assumes CP437."""
    if not info.flag_bits & 0x800:
        with suppress(UnicodeError):
            info.filename = info.filename.encode("cp437").decode("utf-8")


class Budget:
    """Reads members of an archive, and counts their unpacked bytes: at most `limit` in all."""

    def __init__(self, limit: int, source: str, advice: str = "") -> None:
        self._advice = advice
        self._limit = limit
        self._left = limit
        self._source = source

    def read(self, zipped: zipfile.ZipFile, info: zipfile.ZipInfo, wanted: Wanted | None = None) -> bytes | None:
        """Return a member's bytes, or None if `wanted` rejects its first bytes and name.

        Raise SourceError if it is too large, larger than declared, or damaged.
        """
        pieces = []
        size = 0
        try:
            with zipped.open(_undeclared(info)) as member:
                while piece := member.read(_CHUNK):
                    if not size and wanted and not wanted(piece[:SAMPLE], info.filename):
                        return None
                    size += len(piece)
                    pieces.append(piece)
                    self._check(info, size)
        except SourceError:
            raise
        except (NotImplementedError, RuntimeError) as error:
            raise UnsupportedSource(
                f"{self._source} uses an unknown compression method ({error}): {self._advice or _REPACK}"
            ) from error
        except Exception as error:
            # Each compression method raises its own errors.
            raise DamagedSource(
                f"{self._source} is damaged at its member {info.filename[:80]!r} ({str(error)[:200]}): "
                f"{self._advice or _AGAIN}"
            ) from error
        self._left -= size
        return b"".join(pieces)

    def _check(self, info: zipfile.ZipInfo, size: int) -> None:
        name, advice = f"its member {info.filename[:80]!r}", self._advice or _REPACK
        if size > info.file_size:
            raise DamagedSource(f"{self._source} is refused, {name} is larger than it declares: {advice}")
        if size > _SMALL and size > info.compress_size * _MAX_RATIO:
            raise DamagedSource(f"{self._source} is refused, {name} unpacks to {_MAX_RATIO} times its size: {advice}")
        if size > self._left:
            raise SourceTooLarge(
                f"{self._source} unpacks to over {self._limit:,} bytes: "
                f"{self._advice or 'unpack it and add the folder'}, or raise the setting max_file_size"
            )


def _undeclared(info: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Return a copy of the entry without its declared size: zipfile would silently stop reading there."""
    unlimited = copy.copy(info)
    unlimited.file_size = 1 << 62
    return unlimited


def _chat_exports(zipped: zipfile.ZipFile, members: list[zipfile.ZipInfo], budget: Budget) -> list[tuple[str, bytes]]:
    """Return the chats among the `.txt` files named like an export, or else in the archive's only document."""
    documents = [info for info in members if PurePosixPath(info.filename).suffix.lower() in _TEXTS]
    texts = [info for info in documents if info.filename.lower().endswith(".txt")]
    named = [info for info in texts if is_chat_name(info.filename)]
    chats = []
    for info in named or (texts if len(documents) == 1 else []):
        data = budget.read(zipped, info, is_supported)
        with suppress(UnsupportedSource):
            if data is not None and is_chat(decode(data, info.filename)):
                chats.append((info.filename, data))
    return chats
