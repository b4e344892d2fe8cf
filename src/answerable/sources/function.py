"""Add or follow the documents that a function yields."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from datetime import datetime, timezone

from answerable.datatypes import Document
from answerable.errors import EmptySource, SourceError
from answerable.protocols import SyncRecord, Visit, Visited
from answerable.protocols.sources import FileContents, SourceFile, SourceItem, UnreadFile

ReadDocuments = Callable[[str], Iterable[Document]]


class FunctionReader:
    """Reads sources by calling `function` with their name. Each document must have a `source` of its own.

    The function may raise SourceError. Implements `protocols.Reader`.
    """

    def __init__(self, function: ReadDocuments) -> None:
        self._function = function

    def listing(self, source: str) -> list[SourceItem]:
        """Return an item for each document. Raise SourceError."""
        return [SourceItem(each.source, lambda each=each: [each]) for each in _read(self._function, source)]  # type: ignore[misc]

    def read(self, file: SourceFile) -> FileContents:
        """Return the documents in one file. Raises SourceError."""
        return FileContents(tuple(_read(self._function, file.path)), {}, ())

    def options(self, source: str) -> Mapping[str, str]:
        """Return {}: the function needs nothing but the source's name."""
        return {}

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        """Return a visit that calls the function and compares its documents with those it yielded before."""
        return _FunctionVisit(source, self._function)

    def close(self) -> None:
        """Do nothing."""


class _FunctionVisit:
    skipped: Mapping[str, int] = {}
    passed_over: Sequence[UnreadFile] = ()
    errors: Sequence[SourceError] = ()

    def __init__(self, origin: str, function: ReadDocuments) -> None:
        self.origin = origin
        self.total = 0
        self._function = function
        self._gone: list[str] = []

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        seen = set()
        for document in _read(self._function, self.origin):
            seen.add(document.source)
            self.total = len(seen)
            before, made = known.get(document.source), (document.id,)
            if before is not None and (before.hash, before.documents) == (document.content_hash, made):
                yield Visited(document.source, record=before, is_unchanged=True)
            else:
                now = datetime.now(timezone.utc)
                record = SyncRecord(self.origin, document.source, now, document.content_hash, {}, made)
                yield Visited(document.source, (document,), record)
        self._gone = [source for source in known if source not in seen]

    def gone(self) -> list[str]:
        return self._gone

    def close(self) -> None:
        pass


def _read(function: ReadDocuments, source: str) -> Iterable[Document]:
    """Yield the documents of a source. Raises SourceError if there are none, or two have the same source."""
    seen = set[str]()
    for document in function(source):
        if not document.source or document.source in seen:
            raise SourceError(
                f"{source} can't be read: two of its documents have the source {document.source!r}, or one has none. "
                "Give each document a source of its own."
            )
        seen.add(document.source)
        yield document
    if not seen:
        raise EmptySource(f"{source} holds no documents: there is nothing to add.")
