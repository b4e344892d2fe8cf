"""Uploaded files: given safe names, kept in the library's folder, and deleted if they can't be added."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import time
import unicodedata
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from answerable.disk.free_space import is_full, no_room
from answerable.disk.private import for_us, make_folder
from answerable.errors import SourceError
from answerable.indexing.ingest import AddReport, Failure, OnProgress, Progress
from answerable.interfaces.examples import example_documents
from answerable.interfaces.http.problems import Problem
from answerable.library import Library

_INCOMING = ".incoming"
_READ = ".read"
_LONGEST = 180
_STALE = 86_400.0
_SEPARATOR = re.compile(r"[/\\]")
_RESERVED = str.maketrans(dict.fromkeys('<>:"|?*', "_"))


def safe_name(given: str) -> str:
    """Remove paths, control characters and direction marks from a file name; at most 180 bytes of UTF-8."""
    last = _SEPARATOR.split(unicodedata.normalize("NFC", given))[-1]
    visible = "".join(letter if letter.isprintable() else " " * letter.isspace() for letter in last)
    stem, suffix = os.path.splitext(visible.translate(_RESERVED).strip(" .") or "document")
    room = _LONGEST - len(suffix.encode())
    if room < 1:
        stem, suffix, room = stem + suffix, "", _LONGEST
    return stem.encode()[:room].decode("utf-8", "ignore").rstrip(" .") + suffix


@dataclass(frozen=True, slots=True)
class Incoming:
    """The files of one request by safe name, in their own folder until they are added."""

    uploads: Path
    folder: Path
    names: tuple[str, ...]

    def discard(self) -> None:
        """Delete the uploaded files."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def add(self, library: Library, report: AddReport, on_progress: OnProgress) -> None:
        """Add the files one by one; each replaces the earlier file of its name."""
        for number, name in enumerate(self.names):
            before = report.chunks

            def progressed(now: Progress, number: int = number, before: int = before) -> None:
                done, total = before + now.chunks_done, before + now.chunks_total
                files = len(self.names)
                on_progress(
                    replace(now, chunks_done=done, chunks_total=total, sources_done=number, sources_total=files)
                )

            self._add(library, name, report, progressed)

    def _add(self, library: Library, name: str, report: AddReport, on_progress: OnProgress) -> None:
        kept, earlier = self.uploads / name, self.folder / "earlier"
        if had_earlier := kept.exists():
            kept.replace(earlier)
        (self.folder / name).replace(kept)
        added = AddReport()
        try:
            added = library.add(kept, on_progress)
        except SourceError as error:
            added.failures.append(Failure(name, error))
        finally:
            if not (added.added or added.changed or added.unchanged):
                earlier.replace(kept) if had_earlier else kept.unlink()
            else:
                remember_read(kept)
        report.merge(added)


def receive(uploads: Path, files: Sequence[tuple[str, BinaryIO]]) -> Incoming:
    """Write the files to a new folder beside the uploads. Raise Problem and DiskFull."""
    names = tuple(safe_name(name) for name, _ in files)
    if len(set(names)) < len(names):
        raise Problem(422, "invalid_request", "Two of the files have the same name. Send them one after the other.")
    folder = uploads / _INCOMING / secrets.token_hex(8)
    incoming = Incoming(uploads, folder, names)
    try:
        make_folder(folder)
        for name, (_, file) in zip(names, files, strict=True):
            with open(folder / name, "xb", opener=for_us) as kept:
                shutil.copyfileobj(file, kept, 1 << 20)
    except OSError as error:
        incoming.discard()
        if is_full(error, folder):
            raise no_room(folder) from error
        raise Problem(503, "storage_failed", "The server can't store the files. Tell its administrator.") from error
    return incoming


def receive_examples(uploads: Path, language: str) -> Incoming:
    """Copy the examples of a language to a new folder beside the uploads. Raise Problem and DiskFull."""
    with ExitStack() as stack:
        return receive(
            uploads, [(path.name, stack.enter_context(path.open("rb"))) for path in example_documents(language)]
        )


def remember_read(kept: Path) -> None:
    """Note the hash of an uploaded file whose documents are in the library, so that it needn't be read to compare."""
    note = _note(kept)
    try:
        make_folder(note.parent)
        with open(note, "w", encoding="ascii", opener=for_us) as written:
            written.write(_digest(kept))
    except OSError:
        # Without a note, the file is read again.
        note.unlink(missing_ok=True)


def was_read(kept: Path) -> bool:
    """Whether the file is the one whose documents are in the library, as noted; False if nothing is noted."""
    try:
        return _note(kept).read_text("ascii") == _digest(kept)
    except (OSError, ValueError):
        return False


def delete(kept: Path) -> None:
    """Delete an uploaded file and what is noted of it."""
    kept.unlink(missing_ok=True)
    _note(kept).unlink(missing_ok=True)


def _note(kept: Path) -> Path:
    return kept.parent / _READ / kept.name


def _digest(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def clean_up(uploads: Path) -> None:
    """Delete files that a killed server left half uploaded over a day ago, for all libraries."""
    for left in uploads.glob(f"*/{_INCOMING}/*"):
        if time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
