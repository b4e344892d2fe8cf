"""Makes a new SQLite file of an embedded library from the readable rows of a damaged one.

A document whose text is lost stays listed without passages, if its name is known: `verify` reads it again from its
source or reports it as lost.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from types import NoneType

from answerable.errors import LibraryBusy, LibraryDamaged
from answerable.protocols import Fingerprint
from answerable.stores import records
from answerable.stores.embedded.database.audit import UNREADABLE
from answerable.stores.embedded.database.database import Database
from answerable.stores.embedded.database.pages import Pages, Row, Value

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
    """Replace a damaged file by a new one, and keep the old one beside it as `KEPT_AS`.

    Raise LibraryBusy if another process has it open, LibraryDamaged if nothing can be read, and LibraryError.
    """
    _require_alone(path)
    draft = path.with_name(f"{path.name}.salvaged")
    _remove(draft)
    try:
        with closing(Pages(path)) as pages, closing(Database(draft)) as made:
            _fill(made, pages, path)
            made.repair()
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
            # A followed document is read again: its record has its true name.
            if number not in names and not connection.execute(_IS_FOLLOWED, (name[2],)).fetchone():
                names[number] = name
        connection.executemany(_LOST, ((number, id, source, type) for number, (type, source, id) in names.items()))
        connection.execute(_OF_LOST)
        if fingerprint:
            connection.execute("INSERT INTO meta VALUES ('fingerprint', ?)", (fingerprint,))
        else:
            # Their embedder is unknown.
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
    """Return the text if it names an embedder, otherwise an empty one."""
    try:
        Fingerprint(**json.loads(text))
    except UNREADABLE:
        return ""
    return text


def _keep(path: Path) -> None:
    """Give the damaged file a second name by a hard link, so that its own name never disappears."""
    kept = path.with_name(KEPT_AS)
    _remove(kept)
    try:
        os.link(path, kept)
    except OSError:
        shutil.copy2(path, kept)
    # SQLite would take a remaining log for the new file's.
    for name in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.replace(f"{path}{name}", f"{kept}{name}")


def _remove(path: Path) -> None:
    for name in ("", "-wal", "-shm", "-journal"):
        Path(f"{path}{name}").unlink(missing_ok=True)
