"""Finds and repairs the faults of an embedded library's SQLite file that don't show in searches (see `stores.audit`).

`salvage` makes a new file from the readable rows of a file with damaged tables. A document whose text is lost stays
listed without passages if its name is known: `verify` reads it again from its source or reports it as lost.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import NoneType

import numpy as np

from answerable.datatypes import Document
from answerable.errors import LibraryBusy, LibraryDamaged
from answerable.protocols import Difference, Fingerprint, Issue
from answerable.stores import records
from answerable.stores.audit import unreadable
from answerable.stores.embedded.database import Database
from answerable.stores.embedded.file import CHUNK_COLUMNS, DOCUMENT_COLUMNS, read_fingerprint
from answerable.stores.embedded.pages import Pages, Row, Value
from answerable.stores.records import UNREADABLE

_NAME = "library.db"
# Most lines of SQLite's report to quote in an issue.
_SHOWN = 5
_ALL_DOCUMENTS = f"SELECT {DOCUMENT_COLUMNS} FROM documents"
_ALL_RECORDS = "SELECT * FROM records"
_ALL_CHUNKS = f"SELECT number, {CHUNK_COLUMNS} FROM chunks"
_NUMBERS = """
SELECT (SELECT count(*) FROM chunks) AS there, (SELECT count(*) FROM removed) AS notes,
       (SELECT count(DISTINCT number) FROM removed WHERE number NOT IN (SELECT number FROM chunks)) AS gone,
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'chunks'), 0) AS given,
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removed'), 0) AS last_note
"""
_NOTE_REMOVED = """
WITH RECURSIVE given (number) AS (SELECT 1 WHERE ? > 0 UNION ALL SELECT number + 1 FROM given WHERE number < ?)
INSERT INTO removed (number) SELECT number FROM given EXCEPT SELECT number FROM chunks
"""
_RECOUNT = """
INSERT INTO terms
SELECT key, count(*) FROM chunks, json_each(CASE WHEN json_valid(terms) THEN terms ELSE '{}' END) GROUP BY key
"""


def issues(connection: sqlite3.Connection) -> list[Issue]:
    """Return the faults of the file; if SQLite finds damage, only this damage. Doesn't check if chunks are readable."""
    damage = _damage(connection)
    if damage:
        return [Issue(Difference.DAMAGED, _NAME, "; ".join(damage))]
    return list(_faults(connection))


def repair(connection: sqlite3.Connection) -> None:
    """Repair what `issues` finds, in the caller's transaction. Raise sqlite3.DatabaseError if tables are damaged."""
    if _damage(connection):
        # A damaged index is rebuilt from its table.
        connection.execute("REINDEX")
        if damage := _damage(connection):
            raise sqlite3.DatabaseError(f"database disk image is malformed: {damage[0]}")
    for document in unreadable(connection.execute(_ALL_DOCUMENTS), records.stored_document):
        connection.execute("UPDATE documents SET metadata = '{}' WHERE id = ?", (document["id"],))
    for record in unreadable(connection.execute(_ALL_RECORDS), records.sync_record_from_row):
        key = (record["origin"], record["source"])
        connection.execute("DELETE FROM records WHERE origin IS ? AND source IS ?", key)
    connection.execute("DELETE FROM chunks WHERE document NOT IN (SELECT number FROM documents)")
    made_by = read_fingerprint(connection, "fingerprint")
    for chunk in unreadable(connection.execute(_ALL_CHUNKS), _reader_of(made_by.dimension if made_by else None)):
        connection.execute("DELETE FROM chunks WHERE number = ?", (chunk["number"],))
    numbers = connection.execute(_NUMBERS).fetchone()
    if not _is_consistent(numbers):
        connection.execute("DELETE FROM removed")
        connection.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name = 'removed'")
        connection.execute(_NOTE_REMOVED, (numbers["given"], numbers["given"]))
        connection.execute("DELETE FROM meta WHERE key = 'erased'")
        # A new identity makes every process rebuild its index.
        connection.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (uuid.uuid4().hex,))
    connection.execute("DELETE FROM terms")
    connection.execute(_RECOUNT)


def _damage(connection: sqlite3.Connection) -> list[str]:
    """Return the damage that SQLite finds in the file, [] for none."""
    said = [" ".join(row[0].split()) for row in connection.execute(f"PRAGMA integrity_check({_SHOWN})")]
    return [] if said == ["ok"] else said


def _faults(connection: sqlite3.Connection) -> Iterator[Issue]:
    for document in unreadable(connection.execute(_ALL_DOCUMENTS), records.stored_document):
        yield Issue(Difference.DAMAGED, document["source"] or document["id"], "its metadata can't be read")
    for record in unreadable(connection.execute(_ALL_RECORDS), records.sync_record_from_row):
        yield Issue(Difference.DAMAGED, str(record["source"]), "its sync record can't be read")
    numbers = connection.execute(_NUMBERS).fetchone()
    if not _is_consistent(numbers):
        lost = numbers["given"] - numbers["there"] - numbers["gone"]
        said = f"{lost:,} passages are gone" if lost else "the list of removed passages is wrong"
        yield Issue(Difference.MISSING, _NAME, f"{said}: an index may still contain removed passages")


def _reader_of(dimension: int | None) -> Callable[[sqlite3.Row], None]:
    """Return a function that reads a chunk's row, and raises an error if the chunk can't be indexed."""

    def read(row: sqlite3.Row) -> None:
        chunk = records.indexed_chunk_from_row(row, Document(id="", content=""))
        dict(chunk.terms)
        dict(chunk.fields)
        if len(chunk.vector) != dimension or not np.isfinite(chunk.vector).all():
            raise ValueError(f"its vector isn't one of {dimension} numbers")

    return read


def _is_consistent(numbers: sqlite3.Row) -> bool:
    """Whether every number ever assigned belongs to a chunk or is listed once as removed."""
    gone = numbers["given"] - numbers["there"]
    return bool(gone == numbers["gone"] == numbers["notes"] == numbers["last_note"])


KEPT_AS = "library.db.damaged"

_DOCUMENT = (NoneType, *[str] * 7, int, int, bytes, bytes)
_CHUNK = (NoneType, int, str, int, int, int, *[str] * 6, bytes, bytes)
_META = (str, str)
_RECORD = (str,) * 6
# Entries of the indexes `documents_by_type` and `documents_by_source` end in a document's number.
_BY_TYPE, _BY_SOURCE = (str, str, str, int), (str, str, int)
_INSERTS = {
    _DOCUMENT: "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    _CHUNK: "INSERT OR IGNORE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    _RECORD: "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?, ?)",
}
_LOST = "INSERT OR IGNORE INTO documents VALUES (?, ?, ?, '', ?, '', '', '{}', 0, 0, x'', x'')"
_NAMELESS = "SELECT document, fields FROM chunks WHERE document NOT IN (SELECT number FROM documents) GROUP BY document"
_IS_FOLLOWED = """
SELECT 1 FROM records, json_each(CASE WHEN json_valid(documents) THEN documents ELSE '[]' END) WHERE value = ?
"""
_OF_LOST = "DELETE FROM chunks WHERE document IN (SELECT number FROM documents WHERE content = x'')"

# Type, source and id.
_Name = tuple[str, str, str]


def salvage(path: Path) -> None:
    """Replace a damaged file by a new one, and keep the old file in the same folder as `KEPT_AS`.

    Raise LibraryBusy if another process has it open, LibraryDamaged if nothing can be read, and LibraryError.
    """
    _require_alone(path)
    draft = path.with_name(f"{path.name}.salvaged")
    _remove(draft)
    try:
        with closing(Pages(path)) as pages, closing(Database(draft)) as made:
            _fill(made, pages, path)
            with made.transaction() as connection, made.decoding():
                repair(connection)
        _keep(path)
        os.replace(draft, path)
    finally:
        _remove(draft)


def _require_alone(path: Path) -> None:
    """Merge the write-ahead log into the file, if SQLite can. Raise LibraryBusy if another process has it open."""
    with closing(sqlite3.connect(path, timeout=2, isolation_level=None)) as connection:
        try:
            connection.execute("PRAGMA journal_mode = DELETE")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if "locked" in str(error):
                raise LibraryBusy(
                    f"Another process has {path} open. Stop it, the server too, and repair the library again."
                ) from error


def _fill(made: Database, pages: Pages, path: Path) -> None:
    names: dict[int, _Name] = {}
    fingerprint = ""
    with made.transaction() as connection:
        for row in pages.rows():
            kind = tuple(type(value) for value in row.values)
            if kind == _META and row.values[0] == "fingerprint":
                fingerprint = _fingerprint(str(row.values[1]))
            elif (statement := _INSERTS.get(kind)) and (kind != _DOCUMENT or _is_readable(row.values)):
                number = () if kind == _RECORD else (row.number,)
                connection.execute(statement, (*number, *row.values[len(number) :]))
            names.update(_names(row, kind))
        for number, fields in connection.execute(_NAMELESS).fetchall():
            name = _name_in(fields)
            # `verify` reads a document with a sync record again, and this record has the exact name.
            if number not in names and not connection.execute(_IS_FOLLOWED, (name[2],)).fetchone():
                names[number] = name
        connection.executemany(_LOST, ((number, id, source, type) for number, (type, source, id) in names.items()))
        connection.execute(_OF_LOST)
        if fingerprint:
            connection.execute("INSERT INTO meta VALUES ('fingerprint', ?)", (fingerprint,))
        else:
            # Without the name of their embedder, the vectors are useless.
            connection.execute("DELETE FROM chunks")
        if not connection.execute("SELECT 1 FROM documents UNION SELECT 1 FROM records").fetchone():
            raise LibraryDamaged(
                f"{path} is damaged, and nothing in it can be read. Restore it from a backup, or move the folder away "
                "and add your documents again."
            )


def _names(row: Row, kind: tuple[type, ...]) -> Iterator[tuple[int, _Name]]:
    """Yield the name of a document if the row contains it."""
    values = [str(value) for value in row.values]
    if row.number is not None and row.columns == len(_DOCUMENT) and kind[1:5] == _DOCUMENT[1:5]:
        yield row.number, (values[4], values[2], values[1])
    elif row.number is None and kind in (_BY_TYPE, _BY_SOURCE):
        *named, number = values
        yield int(number), (named[0] if len(named) == 3 else "text", named[-2], named[-1])


def _name_in(fields: str) -> _Name:
    """Return a document's name from the fields of a passage, which lack capitals and accents."""
    with suppress(*UNREADABLE):
        found = {key: values[0] for key, values in json.loads(fields).items() if values}
        return str(found["type"]), str(found.get("source", "")), str(found["document_id"])
    return "text", "", "?"


def _is_readable(values: list[Value]) -> bool:
    content, parts = values[-2:]
    try:
        assert isinstance(content, bytes)
        assert isinstance(parts, bytes)
        records.content_from_bytes(content)
        records.parts_from_json(records.unpack(parts))
    except UNREADABLE:
        return False
    return True


def _fingerprint(text: str) -> str:
    """Return the text if it is the JSON of a `Fingerprint`, otherwise an empty string."""
    try:
        Fingerprint(**json.loads(text))
    except UNREADABLE:
        return ""
    return text


def _keep(path: Path) -> None:
    """Give the damaged file a second name by a hard link, so that a file with the original name always exists."""
    kept = path.with_name(KEPT_AS)
    _remove(kept)
    try:
        os.link(path, kept)
    except OSError:
        shutil.copy2(path, kept)
    # SQLite would apply a log that remains to the new file.
    for name in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{name}", f"{kept}{name}")


def _remove(path: Path) -> None:
    for name in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{name}").unlink(missing_ok=True)
