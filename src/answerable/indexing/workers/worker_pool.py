"""Workers as adding uses them: they read and split files before it is their turn, and embed passages.

Whatever they do, this process decides what is unchanged and writes; what comes out is what it would have made itself.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from answerable.datatypes import Document
from answerable.errors import DamagedSource, WorkerLost
from answerable.indexing.prepare import Prepared, prepare
from answerable.indexing.workers.steps import Pending, Tools, Workers, embed, in_order
from answerable.protocols import Passage, PassageVectors
from answerable.protocols.reading import FileContents, SourceFile

# For each worker one file that it reads, and one that it will: more would only be held longer.
AHEAD = 2
# What the files that are read ahead may have in all, and what is sent to a worker elsewhere.
MOST_BYTES = 64_000_000


@dataclass(frozen=True, slots=True)
class ReadFile:
    """What a worker made of a file."""

    prepared: tuple[Prepared, ...]
    contents: FileContents


def read_and_split(tools: Tools, file: SourceFile) -> ReadFile:
    """The documents in a file, split. Raises SourceError."""
    contents = tools.reader.read(file)
    prepared = tuple(prepare(document, tools.splitter) for document in contents.documents)
    # With their languages, and sent once.
    return ReadFile(prepared, replace(contents, documents=tuple(each.document for each in prepared)))


class WorkerPool:
    """Workers, made by `hire` when there is something to do for them.

    What is read ahead is that of one run of adding; if there are two at a time, the other reads for itself.
    """

    def __init__(self, hire: Callable[[], Workers]) -> None:
        self._hire = hire
        self._lock = threading.RLock()
        self._hired: Workers | None = None
        self._places: dict[str, int] = {}
        self._versions: dict[str, tuple[int, ...]] = {}
        self._outcomes: Iterator[tuple[SourceFile, Pending[ReadFile]]] = iter(())
        self._next: tuple[SourceFile, Pending[ReadFile]] | None = None
        self._prepared: dict[str, Prepared] = {}

    @property
    def count(self) -> int:
        """How many work at once."""
        return self._workers.count

    def expect(self, files: Sequence[SourceFile]) -> None:
        """Says which files will be asked for, in this order, so that they are read ahead."""
        with self._lock:
            self._places = {file.path: place for place, file in enumerate(files)}
            self._versions = {}
            self._next = None
            self._outcomes = iter(())
            if files:
                jobs = self._jobs(files)
                self._outcomes = in_order(self._workers, read_and_split, jobs, AHEAD * self.count, MOST_BYTES)

    def read(self, path: str) -> FileContents | None:
        """What a worker read, None for a file to read here: not expected, too large to send, or changed meanwhile.

        Raises SourceError.
        """
        with self._lock:
            self._prepared = {}
            pending = self._outcome_of(path)
            version = self._versions.pop(path, None)
        if pending is None:
            return None
        try:
            found = pending.result()
        except WorkerLost as error:
            raise DamagedSource(f"{path} can't be read: {error}") from error
        if _version(path) != version:
            return None
        self._prepared = {each.document.id: each for each in found.prepared}
        return found.contents

    def prepared(self, document: Document) -> Prepared | None:
        """A document of the file that was read last, split."""
        return self._prepared.pop(document.id, None)

    def embed(self, passages: list[Passage]) -> Pending[list[PassageVectors]]:
        """Their vectors, in the order given."""
        return self._workers.submit(embed, passages)

    def stop(self) -> None:
        """Ends what is under way: who waits for it gets WorkerLost. Others are hired when there is more to do."""
        with self._lock:
            hired, self._hired = self._hired, None
            self._next, self._outcomes = None, iter(())
        if hired is not None:
            hired.close()

    def close(self) -> None:
        """Ends what is under way. Closing twice is fine."""
        if self._hired is not None:
            self._hired.close()

    @property
    def _workers(self) -> Workers:
        with self._lock:
            if self._hired is None:
                self._hired = self._hire()
            return self._hired

    def _jobs(self, files: Sequence[SourceFile]) -> Iterator[tuple[SourceFile, int]]:
        for file in files:
            version = _version(file.path)
            if version is None:
                continue
            size = version[0]
            if not self._workers.share_files:
                if size > MOST_BYTES:
                    continue
                try:
                    file = replace(file, data=Path(file.path).read_bytes())
                except OSError:
                    continue
            self._versions[file.path] = version
            yield file, size

    def _outcome_of(self, path: str) -> Pending[ReadFile] | None:
        """Passes over the files before this one: they weren't asked for."""
        place = self._places.get(path, -1)
        while self._next is None or self._places[self._next[0].path] < place:
            self._next = next(self._outcomes, None)
            if self._next is None:
                return None
        return self._next[1] if self._next[0].path == path else None


def _version(path: str) -> tuple[int, ...] | None:
    """Size, time and number of a file; None where it can't be told."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino
