"""Archives → Documents: an exported chat, or any files. Also opens one member, and finds recordings next to a chat.

An archive with anything malicious in it is refused whole. Links and devices are skipped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from answerable.datatypes import Document
from answerable.errors import DamagedSource, EmptySource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.formats.built_in import IWORK, TAR, ZIP
from answerable.formats.format import Format
from answerable.formats.marks import is_named_recording, is_tar
from answerable.sources.archives.archives import PASSED_OVER, TarArchive, Unpacking, ZipArchive
from answerable.sources.archives.members import Budget, Member, ReadMember, Wanted, is_hidden
from answerable.sources.chats import slack as bundles
from answerable.sources.context import Beside, ReadContext
from answerable.sources.formats import APPLE, SAMPLE, UNPACKING, first_bytes, recognise, why_unread
from answerable.sources.html.page_parts import PAGE_PART, is_in_page_folder, is_page_part, page_scripts
from answerable.sources.text import decode
from answerable.sources.whatsapp.read import is_chat
from answerable.sources.whatsapp.voice_notes import is_chat_name

DEEPER = "archive within an archive within another"
_OFFICE = frozenset({"[Content_Types].xml", "mimetype", "META-INF/MANIFEST.MF", "AndroidManifest.xml"})
_PREVIEW = "QuickLook/Preview.pdf"
_TEXTS = frozenset({".txt", ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".csv", ".json"})


def read_archive(file: bytes | Path, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the chat if a phone exported this archive, otherwise the documents in it and in the archives in it.

    `max_file_size` limits the unpacked bytes of all together. What can't be read is added to `context.skipped`.
    """
    limit = context.limits.max_file_size
    budget, unpacking = Budget(limit, source), Unpacking(limit * PASSED_OVER, context.working)
    return _Reading(read_member, context, budget, unpacking, is_outermost=True).documents(file, source)


@dataclass(frozen=True, slots=True)
class _Reading:
    read_member: ReadMember
    context: ReadContext
    budget: Budget
    unpacking: Unpacking
    is_outermost: bool

    def documents(self, file: bytes | Path, source: str) -> list[Document]:
        kind = recognise(first_bytes(file, source), source)
        with opened_archive(file, source, kind, self.unpacking) as archive:
            if _OFFICE.intersection(archive.names) and kind is ZIP:
                raise UnsupportedSource(
                    f"{source} is an Office document, e-book or program: name it .docx or .epub if it is one, "
                    "otherwise save it as PDF, HTML or plain text, then add that file"
                )
            names = [name for name in archive.names if not is_hidden(name)]
            if kind is IWORK:
                names = [name for name in names if name == _PREVIEW]
                if not names:
                    raise UnsupportedSource(f"{source} is {APPLE.what} without a preview as PDF: {APPLE.advice}")
            chats = _chat_exports(archive, names, self.budget)
            if chats:
                beside = SiblingRecordings(archive, kind, names, self.context.limits.max_file_size)
                sources = ((data, f"{source}!/{name}") for name, data in chats)
                return [each for chat in sources for each in self.read_member(*chat, beside=beside)]
            return self._members(archive, names)

    def _members(self, archive: Archive, names: Collection[str]) -> list[Document]:
        skipped = self.context.skipped
        documents: list[Document] = []
        is_read = False
        everything = frozenset(names)
        parts = page_scripts(everything) | {
            name for name in names if is_page_part(PurePosixPath(name).name, is_in_page_folder(name, everything))
        }
        left_out = [(name, reason) for name, reason in archive.left_out if not is_hidden(name)]
        for name, reason in [*left_out, *((part, PAGE_PART) for part in sorted(parts))]:
            skipped.count(reason, f"{archive.source}!/{name}")
        for name, data in self._files(archive, everything - parts):
            try:
                if isinstance(data, SourceTooLarge):
                    raise data
                if not recognise(data[:SAMPLE], name).is_archive:
                    documents += self.read_member(data, name)
                    is_read = True
                elif self.is_outermost:
                    documents += replace(self, is_outermost=False).documents(data, name)
                    is_read = True
                else:
                    skipped.count(DEEPER, name)
            except EmptySource:
                skipped.count("empty", name)
            except SourceError as error:
                if self.budget.is_exceeded or self.unpacking.is_exceeded:
                    raise
                is_read = True
                skipped.errors.append(error)
        if not is_read:
            raise EmptySource(
                f"{archive.source} holds no document that can be read: add PDF, HTML, Markdown or text files, or a "
                "chat export"
            )
        return documents

    def _files(self, archive: Archive, names: frozenset[str]) -> Iterator[tuple[str, bytes | SourceTooLarge]]:
        """Yield each supported file's source, and its bytes or the error that it is too large; count skipped files."""
        # The files of one conversation, such as the days of a Slack channel, are one file with their folder's name.
        conversations = bundles.in_archive(names)
        bundled = {name for files in conversations.values() for name in files.values()}
        read = {member.name: self.budget.read(member) or b"" for member in archive.members(bundled)}
        for folder, files in sorted(conversations.items()):
            bundle = bundles.bundle({short: read[name] for short, name in files.items()})
            yield f"{archive.source}!/{folder or 'messages'}", bundle
        beside = [name for files in conversations.values() for short, name in files.items() if short.startswith("../")]
        folders = {name.rpartition("/")[0] for name in beside}
        apart = ((name, *name.rpartition("/")) for name in names)
        lists = {name for name, folder, _, short in apart if folder in folders and short in bundles.SLACK_LISTS}
        for name in sorted(lists):
            self.context.skipped.count(bundles.SLACK_LIST, f"{archive.source}!/{name}")
        for member in archive.members(names - bundled - lists):
            source, reason = f"{archive.source}!/{member.name}", ""

            def takes(head: bytes, name: str) -> bool:
                nonlocal reason
                reason = why_unread(head, name, self.context.ocr)
                return not reason

            data = self._bytes(archive, member, takes)
            if data is None:
                self.context.skipped.count(reason, source)
            else:
                yield source, data

    def _bytes(self, archive: Archive, member: Member, is_wanted: Wanted) -> bytes | SourceTooLarge | None:
        if not is_named_recording(member.name):
            return self.budget.read(member, is_wanted)
        try:
            # Recordings have a budget of their own, so that a long film doesn't keep other files from being read.
            return Budget(self.context.limits.max_file_size, archive.source).read(member, is_wanted)
        except SourceTooLarge as error:
            if self.unpacking.is_exceeded:
                raise
            return error


def _chat_exports(archive: Archive, names: Collection[str], budget: Budget) -> list[tuple[str, bytes]]:
    """Return the chats among the `.txt` files named like an export, or else in the archive's only document."""
    documents = [name for name in names if PurePosixPath(name).suffix.lower() in _TEXTS]
    texts = [name for name in documents if name.lower().endswith(".txt")]
    named = [name for name in texts if is_chat_name(name)]
    chats = []
    for member in archive.members(named or (texts if len(documents) == 1 else [])):
        data = budget.read(member, lambda head, name: not why_unread(head, name, None))
        with suppress(UnsupportedSource):
            if data is not None and is_chat(decode(data, member.name)):
                chats.append((member.name, data))
    return chats


_UNKNOWN = 1 << 62  # bytes, in place of a size that isn't known: no limit
# Suffixes of compressed tar archives: `notes.tar.gz`, `notes.tgz`.
_TARS = (".tar", ".tgz", ".tbz", ".tbz2", ".txz")


@contextmanager
def opened_archive(file: bytes | Path, source: str, kind: Format, unpacking: Unpacking) -> Iterator[Archive]:
    """Open an archive of this format, and check all its members. Raise SourceError."""
    if kind in (ZIP, IWORK):
        with closing(ZipArchive(file, source)) as archive:
            yield archive
    elif kind is TAR or _is_packed_tar(file, source, unpacking):
        yield TarArchive(file, source, unpacking)
    else:
        yield CompressedFile(file, source, unpacking)


def _is_packed_tar(file: bytes | Path, source: str, unpacking: Unpacking) -> bool:
    """Whether a compressed file is a tar archive, by its name or by its first unpacked bytes."""
    path = PurePosixPath(source.lower())
    if path.suffix in _TARS or PurePosixPath(path.stem).suffix in _TARS:
        return True
    try:
        with unpacking.opened(file, source) as (stream, _):
            return is_tar(stream.read(512))
    except (SourceError, *UNPACKING):
        # The data is damaged: reading the file raises the error.
        return False


class SiblingRecordings:
    """Finds a recording by its file name, in any folder of an archive. See `context.Beside`."""

    def __init__(self, archive: Archive, kind: Format, names: Collection[str], limit: int) -> None:
        self._archive = archive
        # Read all recordings in one pass: a compressed tar is unpacked from its beginning each time.
        self._in_one_pass = kind is not ZIP
        self._limit = limit
        self._named = {PurePosixPath(name).name: name for name in names if is_named_recording(name)}
        self._read: dict[str, bytes] = {}

    def __call__(self, name: str) -> bytes | None:
        """Return the bytes of a recording, or None. Raise SourceError."""
        if name not in self._named:
            return None
        member = self._named[name]
        if self._in_one_pass and not self._read:
            budget = Budget(self._limit, self._archive.source)
            for each in self._archive.members(self._named.values()):
                self._read[each.name] = budget.read(each) or b""
        # In a zip, each recording must be within the limit, but all together may exceed it.
        return self._read[member] if member in self._read else _bytes(self._archive, member, self._limit)


@contextmanager
def opened_member(
    file: bytes | Path, source: str, member: str, limit: int, unpacking: Unpacking
) -> Iterator[tuple[bytes, Beside]]:
    """Open an archive; yield a member's bytes, and a function that returns recordings next to it. Raise SourceError."""
    kind = recognise(first_bytes(file, source), source)
    if not kind.is_archive:
        raise UnsupportedSource(f"{source} is no longer an archive: add it again")
    with opened_archive(file, source, kind, unpacking) as archive:
        names = [name for name in archive.names if not is_hidden(name)]
        if member in names:
            yield _bytes(archive, member, limit), SiblingRecordings(archive, kind, names, limit)
            return
        # The path of a member of an archive in the archive is `inner.zip!/path`.
        inner = next((name for name in names if member.startswith(f"{name}!/")), None)
        if inner is None:
            raise DamagedSource(f"{member} is no longer in {source}: add it again")
        data, rest = _bytes(archive, inner, limit), member.removeprefix(f"{inner}!/")
        with opened_member(data, f"{source}!/{inner}", rest, limit, unpacking) as opened:
            yield opened


def _bytes(archive: Archive, name: str, limit: int) -> bytes:
    (data,) = [Budget(limit, archive.source).read(member) for member in archive.members([name])]
    return data or b""


class CompressedFile:
    """An open compressed file, as an archive with one member."""

    left_out: Sequence[tuple[str, str]] = ()

    def __init__(self, archive: bytes | Path, source: str, unpacking: Unpacking) -> None:
        self.source = source
        self._archive = archive
        self._unpacking = unpacking
        # The file's name without the suffix of its compression. A name stored in the file isn't trusted.
        self.names: Sequence[str] = [PurePosixPath(source.replace("\\", "/")).stem or "file"]

    def members(self, names: Collection[str]) -> Iterator[Member]:
        """Yield the file, unless no names are given; read it before asking for more."""
        for name in names:
            with self._unpacking.opened(self._archive, self.source) as (stream, _):
                # No size is needed: the stream itself refuses decompression bombs.
                yield Member(name, _UNKNOWN, lambda: stream)


Archive = ZipArchive | TarArchive | CompressedFile
"""An open archive whose members have all been checked.

`members` yields the files of the given names in the order of `names`; each can be read until the next is requested.
"""
