"""A folder → the readable files in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

from answerable.disk.files import source_of
from answerable.errors import EmptySource, SourceError, SourceNotFound
from answerable.sources.context import Ocr, Skipped, skipped_summary
from answerable.sources.formats import SAMPLE, why_unread
from answerable.sources.html.page_parts import PAGE_PART, is_page_folder, is_page_part, page_scripts
from answerable.sources.whatsapp.voice_notes import is_chat_name, is_voice_note

_OWN_IGNORE_FILE = ".answerableignore"
_MAILDIR = frozenset({"cur", "new", "tmp"})
# The folder of messages that are still being delivered.
_UNFINISHED = "tmp"
_OF_MAIL_SERVER = ("dovecot", "courierimap", "maildirsize", "maildirfolder", "subscriptions")
# The ignore patterns of a folder, which apply to everything under it.
_Rules = tuple[str, GitIgnoreSpec]
Found = tuple[str, os.stat_result]
"""A file in a folder, not yet opened, and its status."""


def walk(root: Path, skipped: Skipped | None = None, ocr: Ocr | None = None) -> Iterator[Path]:
    """Yield the readable files under a folder, sorted by name, each once; count what is skipped by reason.

    It skips hidden and ignored files, unsupported formats, parts of web pages, voice notes next to their chat, links
    that leave the folder, links to folders and, without OCR, pictures.
    """
    skipped = skipped or Skipped()
    files = [path for path, _ in Scan(root, skipped)]
    scripts = page_scripts([path.replace(os.sep, "/") for path in files])
    for path in files:
        if reason := reason_to_skip(path, scripts, ocr):
            skipped.count(reason, source_of(path))
        else:
            yield Path(path)


def reason_to_skip(path: str, scripts: Collection[str], ocr: Ocr | None) -> str:
    """Return why a file is skipped, by its first bytes and its name, or ""; `scripts` are the `page_scripts`."""
    try:
        with open(path, "rb") as file:
            head = file.read(SAMPLE)
    except OSError:
        # Don't skip it: reading it raises an error that says what to do.
        return ""
    if not head:
        return "empty"
    return PAGE_PART if path.replace(os.sep, "/") in scripts else why_unread(head, os.path.basename(path), ocr)


def nothing_to_read(
    folder: str,
    skipped: Skipped,
    advice: str = "add a folder with chats, mail, PDF, office files, Markdown, HTML, tables, code or text files",
) -> EmptySource:
    """Return the error for a folder without readable files."""
    return EmptySource(f"{folder} has no file that can be read{skipped_summary(skipped.counts)}: {advice}")


class Scan:
    """Iterates over the same files as `walk`, and over files of unsupported formats, without opening them.

    `unreadable` has the folders that can't be listed. Raise SourceNotFound, or SourceError if `root` is a file.
    """

    def __init__(self, root: Path, skipped: Skipped, name: Callable[[str], str] = source_of) -> None:
        self._name = name
        self._root = Path(os.path.abspath(root))
        if not self._root.exists():
            raise SourceNotFound(f"there is nothing at {self._root}: check the path")
        if not self._root.is_dir():
            raise SourceError(f"{self._root} is a file, not a folder: give its folder")
        self.unreadable: list[str] = []
        self._real_root = self._root.resolve()
        self._skipped = skipped
        self._seen: set[tuple[int, int]] = set()

    def __iter__(self) -> Iterator[Found]:
        return self._folder(str(self._root), (), in_page=False)

    def _folder(self, folder: str, rules: tuple[_Rules, ...], in_page: bool) -> Iterator[Found]:
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            self._skipped.count("unreadable folder", self._name(folder))
            self.unreadable.append(folder)
            return
        rules = (*rules, *self._rules(folder, entries))
        names = frozenset(entry.name for entry in entries)
        is_chat = any(map(is_chat_name, names))
        is_maildir = names >= _MAILDIR
        for entry in entries:
            path = entry.path
            if entry.name == _OWN_IGNORE_FILE:
                continue
            if is_maildir and (entry.name == _UNFINISHED or entry.name.startswith(_OF_MAIL_SERVER)):
                self._skipped.count("file of a mail server", self._name(path))
            elif is_maildir and entry.name.startswith(".") and os.path.isdir(os.path.join(path, "cur")):
                # In Maildir++, the names of mail folders begin with a dot.
                yield from self._folder(path, rules, in_page)
            elif reason := _reason_by_name(entry, rules):
                self._skipped.count(reason, self._name(path))
            elif is_chat and is_voice_note(entry.name) and entry.is_file():
                self._skipped.count("voice note of a chat", self._name(path))
            elif entry.is_dir(follow_symlinks=False):
                yield from self._folder(path, rules, in_page or is_page_folder(entry.name, names))
            elif status := self._status(entry, in_page):
                yield path, status

    def _rules(self, folder: str, entries: list[os.DirEntry[str]]) -> Iterator[_Rules]:
        # The second one's patterns come last, and so decide.
        for name in (".gitignore", _OWN_IGNORE_FILE):
            for entry in (each for each in entries if each.name == name and each.is_file(follow_symlinks=False)):
                try:
                    lines = Path(entry).read_text(encoding="utf-8", errors="replace").splitlines()
                    yield folder, GitIgnoreSpec.from_lines(lines)
                except (OSError, ValueError):
                    self._skipped.count("unreadable ignore file", self._name(entry.path))

    def _status(self, entry: os.DirEntry[str], in_page: bool) -> os.stat_result | None:
        """Return the status of a file to read; count a file that is skipped."""
        try:
            reason = self._reason_by_link(Path(entry)) if entry.is_symlink() else ""
            reason = reason or (PAGE_PART if is_page_part(entry.name, in_page) else "")
            if not reason:
                status = entry.stat()
                reason = self._reason_by_status(status)
        except (OSError, RuntimeError):
            reason = "broken link"
        if not reason:
            return status
        self._skipped.count(reason, self._name(entry.path))
        return None

    def _reason_by_status(self, status: os.stat_result) -> str:
        if not stat.S_ISREG(status.st_mode):
            return "no regular file"
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return "already read under another name"
        self._seen.add(identity)
        return ""

    def _reason_by_link(self, path: Path) -> str:
        if not path.resolve().is_relative_to(self._real_root):
            return "link out of the folder"
        return "link to a folder" if path.is_dir() else ""


def _reason_by_name(entry: os.DirEntry[str], rules: tuple[_Rules, ...]) -> str:
    if entry.name.startswith("."):
        return "hidden"
    # As in git, the innermost ignore file with a matching pattern decides.
    for folder, patterns in reversed(rules):
        ending = "/" if entry.is_dir(follow_symlinks=False) else ""
        ignored = patterns.check_file(entry.path.removeprefix(folder).lstrip(os.sep) + ending).include
        if ignored is not None:
            return "ignored" if ignored else ""
    return ""
