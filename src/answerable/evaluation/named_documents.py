"""The documents that a list names, as people name them → those of the library."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from answerable.errors import SourceError
from answerable.evaluation.asked import Asked
from answerable.evaluation.question_lists import Listed
from answerable.protocols import StoredDocument
from answerable.sources.files import source_of


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
    """What documents may be called: id or source; then title; then the end of the source, from a slash on."""

    def __init__(self, documents: Sequence[StoredDocument], path: Path) -> None:
        self._documents = documents
        self._path = path
        self._found: dict[str, list[str]] = {}

    def find(self, name: str, line: int) -> list[str]:
        """The ids of all that the first rule with any finds: a file may hold several documents."""
        if name not in self._found:
            path = source_of(Path(name).expanduser())
            plain = name.casefold()
            rules: tuple[Callable[[StoredDocument], bool], ...] = (
                lambda each: name == each.id or each.source in (name, path) or each.source.startswith(f"{path}!/"),
                lambda each: each.title.casefold() == plain,
                lambda each: f"/{plain}" in _with_ends(each.source),
            )
            matches = ([each.id for each in self._documents if rule(each)] for rule in rules)
            self._found[name] = next(filter(None, matches), [])
        if not self._found[name]:
            raise SourceError(
                f"{self._path}, line {line}: the library has no document {name!r}. `answerable list` shows them."
            )
        return self._found[name]


def _with_ends(source: str) -> set[str]:
    """Every end of a source that begins with a slash, and those of the archive that it is a member of."""
    ends = set()
    for path in (source, source.partition("!/")[0]):
        steps = path.casefold().replace("\\", "/").strip("/").split("/")
        ends |= {"/" + "/".join(steps[start:]) for start in range(len(steps))}
    return ends
