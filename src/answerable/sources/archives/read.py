"""Archives → Documents: a chat exported from a phone, or any files.

An archive with anything malicious in it is refused whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from answerable.datatypes import Document
from answerable.errors import EmptySource, SourceError, SourceTooLarge, UnsupportedSource
from answerable.sources.archives.beside import RecordingsBeside
from answerable.sources.archives.members import Archive, Budget, Member, Wanted, head_of, is_hidden
from answerable.sources.archives.open import open_archive
from answerable.sources.archives.unpacking import PASSED_OVER, Unpacking
from answerable.sources.chats import bundles
from answerable.sources.context import ReadContext
from answerable.sources.formats import ARCHIVES, SAMPLE, Format, recognise
from answerable.sources.html.page_assets import LONGEST_PAGE, MOST_PAGES, PageAssets, is_page, may_be_asset
from answerable.sources.html.page_parts import PAGE_PART, is_in_page_folder, is_page_part
from answerable.sources.members import ReadMember
from answerable.sources.recordings.formats import has_suffix
from answerable.sources.text import decode
from answerable.sources.unread import LeftOut
from answerable.sources.whatsapp.read import is_chat
from answerable.sources.whatsapp.voice_notes import is_chat_name

DEEPER = "archive within an archive within another"
_OFFICE = frozenset({"[Content_Types].xml", "mimetype", "META-INF/MANIFEST.MF", "AndroidManifest.xml"})
_TEXTS = frozenset({".txt", ".md", ".markdown", ".mdx", ".html", ".htm", ".xhtml", ".rst", ".csv", ".json"})


def read_archive(file: bytes | Path, source: str, read_member: ReadMember, context: ReadContext) -> list[Document]:
    """Return the chat in an archive that a phone exported, or every supported document in any other archive.

    Archives in it are read too, archives in these aren't. `max_file_size` limits the unpacked bytes of all documents
    together. A member that can't be read is added to `context.skipped`.
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
        kind = recognise(head_of(file), source)
        with closing(open_archive(file, source, kind, self.unpacking)) as archive:
            if _OFFICE.intersection(archive.names) and kind is Format.ZIP:
                raise UnsupportedSource(
                    f"{source} is an Office document, e-book or program: name it .docx or .epub if it is one, "
                    "otherwise save it as PDF, HTML or plain text, then add that file"
                )
            names = [name for name in archive.names if not is_hidden(name)]
            chats = _chat_exports(archive, names, self.budget)
            if chats:
                beside = RecordingsBeside(archive, kind, names, self.context.limits.max_file_size)
                sources = ((data, f"{source}!/{name}") for name, data in chats)
                return [each for chat in sources for each in self.read_member(*chat, beside=beside)]
            return self._members(archive, names)

    def _members(self, archive: Archive, names: Collection[str]) -> list[Document]:
        skipped = self.context.skipped
        documents: list[Document] = []
        is_read = False
        everything = frozenset(names)
        assets = self._assets(archive, names)
        parts = {
            name
            for name in names
            if is_page_part(PurePosixPath(name).name, is_in_page_folder(name, everything)) or name in assets
        }
        for name in sorted(parts):
            skipped.count(PAGE_PART, f"{archive.source}!/{name}")
        for name, data in self._files(archive, everything - parts):
            try:
                if isinstance(data, SourceTooLarge):
                    raise data
                if recognise(data[:SAMPLE], name) not in ARCHIVES:
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
        """Yield the source of each file that a reader takes, with its bytes or why it is too large; count the others.

        The files of one conversation, such as the days of a Slack channel, are one, named as their folder.
        """
        conversations = bundles.in_archive(names)
        bundled = {name for files in conversations.values() for name in files.values()}
        read = {member.name: self.budget.read(member) or b"" for member in archive.members(bundled)}
        for folder, files in sorted(conversations.items()):
            bundle = bundles.bundle({short: read[name] for short, name in files.items()})
            yield f"{archive.source}!/{folder or 'messages'}", bundle
        beside = [name for files in conversations.values() for short, name in files.items() if short.startswith("../")]
        folders = {name.rpartition("/")[0] for name in beside}
        apart = ((name, *name.rpartition("/")) for name in names)
        lists = {name for name, folder, _, short in apart if folder in folders and bundles.is_slack_list(short)}
        for name in sorted(lists):
            self.context.skipped.count(bundles.SLACK_LIST, f"{archive.source}!/{name}")
        for member in archive.members(names - bundled - lists):
            source, left_out = f"{archive.source}!/{member.name}", LeftOut(self.context.ocr)
            data = self._bytes(archive, member, left_out.takes)
            if data is None:
                self.context.skipped.count(left_out.reason, source)
            else:
                yield source, data

    def _bytes(self, archive: Archive, member: Member, is_wanted: Wanted) -> bytes | SourceTooLarge | None:
        if not has_suffix(member.name):
            return self.budget.read(member, is_wanted)
        try:
            # A long film doesn't keep the rest from being read.
            return Budget(self.context.limits.max_file_size, archive.source).read(member, is_wanted)
        except SourceTooLarge as error:
            if self.unpacking.is_exceeded:
                raise
            return error

    def _assets(self, archive: Archive, names: Collection[str]) -> PageAssets:
        """Return what the archive's pages load; they are read only if there are files that a page may load."""
        is_asked = any(may_be_asset(name) and not is_page_part(name, in_page_folder=False) for name in names)
        pages = [name for name in names if is_page(name)][:MOST_PAGES] if is_asked else []
        budget = Budget(self.context.limits.max_file_size, archive.source)
        read = {member.name: (budget.read(member) or b"")[:LONGEST_PAGE] for member in archive.members(pages)}
        return PageAssets([*read, *(name for name in names if not is_page(name))], read.__getitem__)


def _chat_exports(archive: Archive, names: Collection[str], budget: Budget) -> list[tuple[str, bytes]]:
    """Return the chats among the `.txt` files named like an export, or else in the archive's only document."""
    documents = [name for name in names if PurePosixPath(name).suffix.lower() in _TEXTS]
    texts = [name for name in documents if name.lower().endswith(".txt")]
    named = [name for name in texts if is_chat_name(name)]
    chats = []
    for member in archive.members(named or (texts if len(documents) == 1 else [])):
        data = budget.read(member, LeftOut(None).takes)
        with suppress(UnsupportedSource):
            if data is not None and is_chat(decode(data, member.name)):
                chats.append((member.name, data))
    return chats
