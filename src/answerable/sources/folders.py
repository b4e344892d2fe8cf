"""A folder → the files in it that can be read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from answerable.errors import SourceError, SourceNotFound
from answerable.sources.formats import SAMPLE, is_supported
from answerable.sources.limits import Skipped

_IGNORE_FILES = (".gitignore", ".answerableignore")


@dataclass(frozen=True, slots=True)
class _Rules:
    """The ignore patterns of one folder, which hold for everything under it."""

    folder: Path
    patterns: GitIgnoreSpec

    def verdict(self, path: Path, is_folder: bool) -> bool | None:
        """True to ignore, False to keep after all, None for nothing said."""
        relative = path.relative_to(self.folder).as_posix() + ("/" if is_folder else "")
        return self.patterns.check_file(relative).include


def walk(root: Path, skipped: Skipped | None = None) -> Iterator[Path]:
    """The readable files under a folder, sorted by name, each once; what is left out is counted by reason.

    Left out are hidden and ignored files, formats that no reader takes, links that leave the folder, and links to
    folders: what they lead to inside the root is found where it is.
    """
    root = Path(os.path.abspath(root))
    if not root.exists():
        raise SourceNotFound(f"there is nothing at {root}: check the path")
    if not root.is_dir():
        raise SourceError(f"{root} is a file, not a folder: read it with read_file")
    yield from _Walk(root, skipped or Skipped()).folder(root, ())


class _Walk:
    """One walk: where it may go, what it has seen, what it left out."""

    def __init__(self, root: Path, skipped: Skipped) -> None:
        self._real_root = root.resolve()
        self._skipped = skipped
        self._seen: set[tuple[int, int]] = set()

    def folder(self, folder: Path, rules: tuple[_Rules, ...]) -> Iterator[Path]:
        """The readable files of a folder and those under it."""
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError:
            self._skipped.count("unreadable folder")
            return
        rules = (*rules, *self._rules(folder, entries))
        for entry in entries:
            path = folder / entry.name
            reason = self._reason_to_skip(entry, path, rules)
            if reason:
                self._skipped.count(reason)
            elif entry.is_dir(follow_symlinks=False):
                yield from self.folder(path, rules)
            else:
                yield path

    def _rules(self, folder: Path, entries: list[os.DirEntry[str]]) -> Iterator[_Rules]:
        present = {entry.name for entry in entries if entry.is_file(follow_symlinks=False)}
        for name in _IGNORE_FILES:
            if name in present:
                try:
                    lines = (folder / name).read_text(encoding="utf-8", errors="replace").splitlines()
                    yield _Rules(folder, GitIgnoreSpec.from_lines(lines))
                except (OSError, ValueError):
                    self._skipped.count("unreadable ignore file")

    def _reason_to_skip(self, entry: os.DirEntry[str], path: Path, rules: tuple[_Rules, ...]) -> str:
        if entry.name.startswith("."):
            return "hidden"
        is_folder = entry.is_dir(follow_symlinks=False)
        # The nearest file with an opinion decides, as in git.
        if next((said for each in reversed(rules) if (said := each.verdict(path, is_folder)) is not None), False):
            return "ignored"
        return "" if is_folder else self._reason_to_skip_file(entry, path)

    def _reason_to_skip_file(self, entry: os.DirEntry[str], path: Path) -> str:
        try:
            if entry.is_symlink():
                if not path.resolve().is_relative_to(self._real_root):
                    return "link out of the folder"
                if path.is_dir():
                    return "link to a folder"
            status = path.stat()
            if not path.is_file():
                return "no regular file"
        except (OSError, RuntimeError):
            return "broken link"
        identity = (status.st_dev, status.st_ino)
        if identity in self._seen:
            return "already read under another name"
        self._seen.add(identity)
        return self._reason_to_skip_content(path)

    def _reason_to_skip_content(self, path: Path) -> str:
        try:
            with path.open("rb") as file:
                head = file.read(SAMPLE)
        except OSError:
            # read_file says what is wrong with it and what to do.
            return ""
        if not head:
            return "empty"
        return "" if is_supported(head, path.name) else "unsupported"
