"""Read lists of questions written by people, as CSV or JSON lines, with their expected answers.

Columns have English, Spanish or Portuguese names, in any order; unknown columns are ignored. A row needs a question,
and an expected answer, a document, or a mark that the question is unanswerable. In CSV, `|` separates several answers
or documents in a cell; in JSON they are a list.

The server writes such lists from votes on its answers, with the column `judgement`. If an answer was voted down, the
expected answer is unknown, and documents may have been removed since: such rows are skipped and aren't errors.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answerable.errors import SourceError
from answerable.evaluation.sets import OTHER, Asked
from answerable.protocols import StoredDocument
from answerable.retrieval.document_names import documents_called
from answerable.sources.text import decode
from answerable.tables.delimited import rows
from answerable.text.languages import question_language
from answerable.text.word_lists import read_toml

_WORDS = read_toml(Path(__file__).with_name("words.toml"))
_FIELDS: dict[str, str] = {name: field for field, names in _WORDS["columns"].items() for name in names.split()}
_TRUE = frozenset(_WORDS["cells"]["yes"].split())
_FALSE = frozenset(("", *_WORDS["cells"]["no"].split()))
_UNANSWERABLE = frozenset(("unanswerable", "no answer", "sin respuesta", "sem resposta"))
_DELIMITERS = ",;\t"


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of a question list; documents have their names in the list. `line` counts from 1."""

    line: int
    id: str
    text: str
    answers: tuple[str, ...]
    documents: tuple[str, ...]
    is_unanswerable: bool
    language: str
    type: str
    is_voted: bool = False


def read_questions(path: Path) -> list[Listed]:
    """Read a question list. Raises SourceError with the line number."""
    try:
        content = decode(path.read_bytes(), str(path))
    except OSError as error:
        raise SourceError(f"{path} can't be read ({error}). Check the path and the permissions.") from error
    if "\ufffd" in content:
        line = content.count("\n", 0, content.index("\ufffd")) + 1
        raise SourceError(f"{path}, line {line}: a character is not valid UTF-8. Save the file as UTF-8.")
    records = _json_records if content.lstrip()[:1] in ("{", "[") else _csv_records
    found: list[Listed] = []
    seen: dict[str, int] = {}
    for line, record in _located(path, records(content)):
        try:
            listed = _listed(line, record)
        except ValueError as error:
            raise SourceError(f"{path}, line {line}: {error}") from error
        if listed.id in seen:
            raise SourceError(
                f"{path}, line {line}: the id {listed.id!r} is already used in line {seen[listed.id]}. "
                "Give each question an id of its own."
            )
        seen[listed.id] = line
        found.append(listed)
    if not found:
        raise SourceError(f"{path} has no question. It needs a line of column names and a row for each question.")
    return found


def find_documents(listed: Iterable[Listed], documents: Sequence[StoredDocument], path: Path) -> list[Asked]:
    """Return the questions of the list at `path`, with the ids of the documents that the list names.

    Votes without an expected answer, or for a removed document, are left out. Raises SourceError with the line number.
    """
    names = _Names(documents, path)
    listed = [each for each in listed if not each.is_voted or names.can_judge(each)]
    if not listed:
        raise SourceError(
            f"{path}: no vote has an expected result. Fill in `answer`, `document` or `unanswerable` in some lines."
        )
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


def _located(path: Path, records: Iterator[tuple[int, Mapping[str, Any]]]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    try:
        yield from records
    except csv.Error as error:
        raise SourceError(
            f"{path}: a cell has unbalanced double quotes ({error}). Double those inside a cell."
        ) from error
    except ValueError as error:
        raise SourceError(f"{path}: {error}") from error


def _csv_records(content: str) -> Iterator[tuple[int, dict[str, Any]]]:
    # Skip Excel's first line for the separator (`sep=;`), since the separator is detected from the next line anyway.
    start = content.find("\n") + 1 if content.lower().startswith("sep=") else 0
    header, delimiter = max(
        ((_header(content, start, each), each) for each in _DELIMITERS), key=lambda pair: sum(map(bool, pair[0]))
    )
    if "question" not in header:
        raise ValueError(
            "there is no column called question. The first line has the names of the columns: question, answer, "
            "document, unanswerable, language, type."
        )
    line, counted = 1, 0
    for number, row in enumerate(rows(content, start, delimiter)):
        line, counted = line + content.count("\n", counted, row.start), row.start
        if number == 0 or not any(map(str.strip, row.cells)):
            continue
        if len(row.cells) > len(header) and any(map(str.strip, row.cells[len(header) :])):
            raise ValueError(
                f"line {line} has {len(row.cells)} cells, the first line {len(header)}. "
                f"Put cells that hold {delimiter!r} in double quotes."
            )
        record: dict[str, Any] = {}
        for field, cell in zip(header, row.cells, strict=False):
            if field in ("answer", "document"):
                record.setdefault(field, []).extend(cell.split("|"))
            elif field:
                record[field] = cell
        yield line, record


def _header(content: str, start: int, delimiter: str) -> list[str]:
    """Return each column's field, "" for an unknown column; [] if quotation marks are unbalanced."""
    try:
        first = next(rows(content, start, delimiter), None)
    except csv.Error:
        return []
    return [_field(cell) for cell in first.cells] if first else []


def _field(name: str) -> str:
    return _FIELDS.get("_".join(name.lower().replace("-", " ").replace("_", " ").split()), "")


def _json_records(content: str) -> Iterator[tuple[int, dict[str, Any]]]:
    is_list = content.lstrip().startswith("[")
    lines = [(1, content)] if is_list else list(enumerate(content.split("\n"), 1))
    for number, text in lines:
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"line {number} is not valid JSON ({error}). Each line must be one object.") from error
        for place, record in enumerate(value if is_list else [value], number):
            if not isinstance(record, dict):
                raise ValueError(f"line {place} is not an object with a question.")
            yield place, {_field(str(name)): each for name, each in record.items()}


def _listed(line: int, record: Mapping[str, Any]) -> Listed:
    text = _word(record.get("question"))
    if not text:
        raise ValueError("the question is missing.")
    answers, documents = _words(record.get("answer")), _words(record.get("document"))
    is_unanswerable = _flag(record.get("unanswerable")) or _flag(record.get("answerable", "")) is False
    if any(answer.lower() in _UNANSWERABLE for answer in answers):
        is_unanswerable, answers = True, ()
    if is_unanswerable and answers:
        raise ValueError("it has an expected answer but is marked as unanswerable. Remove one of the two.")
    is_voted = bool(_word(record.get("judgement")))
    if not (is_unanswerable or answers or documents or is_voted):
        raise ValueError("it has neither an expected answer nor a document. Give one, or mark it as unanswerable.")
    language = _word(record.get("language")).lower()[:2] or question_language(text)
    kind = _word(record.get("type")) or OTHER
    # The document of an unanswerable question doesn't count as relevant.
    named = () if is_unanswerable else documents
    return Listed(
        *(line, _word(record.get("id")) or f"line {line}", text, answers, named, is_unanswerable, language, kind),
        is_voted,
    )


def _flag(value: Any) -> bool | None:
    """Parse a yes or no; None for an empty cell. Raises ValueError for anything else."""
    word = _word(value).lower()
    if word in _TRUE:
        return True
    if word not in _FALSE:
        raise ValueError(f"{word!r} is neither yes nor no.")
    return False if word else None


def _words(value: Any) -> tuple[str, ...]:
    values: Sequence[Any] = value if isinstance(value, list) else [value]
    return tuple(dict.fromkeys(filter(None, map(_word, values))))


def _word(value: Any) -> str:
    """Return a cell as text. Raises ValueError for lists and objects."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str | int | float):
        raise ValueError(f"{json.dumps(value)[:60]} is not a text.")
    return " ".join(str(value).split())


class _Names:
    def __init__(self, documents: Sequence[StoredDocument], path: Path) -> None:
        self._documents = documents
        self._path = path
        self._found: dict[str, list[str]] = {}

    def find(self, name: str, line: int) -> list[str]:
        """Return the ids of all documents with this name: one file may contain several."""
        if not self.known(name):
            raise SourceError(
                f"{self._path}, line {line}: the library has no document {name!r}. `answerable list` shows them."
            )
        return self._found[name]

    def can_judge(self, listed: Listed) -> bool:
        """Return whether a row says what is expected, and the library has all documents that it names."""
        is_said = listed.is_unanswerable or listed.answers or listed.documents
        return bool(is_said) and all(map(self.known, listed.documents))

    def known(self, name: str) -> bool:
        """Return whether the library has a document of this name."""
        if name not in self._found:
            self._found[name] = [each.id for each in documents_called(self._documents, name)]
        return bool(self._found[name])
