"""The documents that a list names, as people name them → those of the library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from answerable.errors import SourceError
from answerable.evaluation.asked import Asked
from answerable.evaluation.question_lists import Listed
from answerable.protocols import StoredDocument
from answerable.retrieval.document_names import documents_called


def find_documents(listed: Iterable[Listed], documents: Sequence[StoredDocument], path: Path) -> list[Asked]:
    """The questions of the list at `path` with the documents that they name. Raises SourceError that names the line."""
    names = _Names(documents, path)
    return [
        Asked(
            each.id,
            each.text,
            each.answers,
            {document: 1 for name in each.documents for document in names.find(name, each.line)},
            each.is_unanswerable,
            each.language,
            each.type,
        )
        for each in listed
    ]


class _Names:
    def __init__(self, documents: Sequence[StoredDocument], path: Path) -> None:
        self._documents = documents
        self._path = path
        self._found: dict[str, list[str]] = {}

    def find(self, name: str, line: int) -> list[str]:
        """The ids of all documents of this name: a file may hold several."""
        if name not in self._found:
            self._found[name] = [each.id for each in documents_called(self._documents, name)]
        if not self._found[name]:
            raise SourceError(
                f"{self._path}, line {line}: the library has no document {name!r}. `answerable list` shows them."
            )
        return self._found[name]
