"""What a Zotero library says of a file in its storage: title, authors, year, tags.

Zotero keeps attachments as `storage/KEY/file` beside `zotero.sqlite`. The database is opened read-only and immutable:
SQLite takes no lock and writes nothing, so a running Zotero isn't disturbed. What can't be read is left out; a missing
or damaged database is no error. The schema is that of Zotero 5 to 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from answerable.datatypes import Document

if TYPE_CHECKING:
    import sqlite3

DATABASE = "zotero.sqlite"
_KEY = re.compile(r"[A-Z0-9]{8}")
_YEAR = re.compile(r"(?<!\d)(1[0-9]|20)\d\d(?!\d)")
_DEEPEST = 4  # folders between a file and its storage; Zotero itself makes one
# Steps of SQLite's machine between two calls, and how many calls a query may take: about a second.
_STEPS = 10_000
_MOST_CALLS = 2_000  # about a second
_MOST = 200  # authors; as many as are asked for
_ITEM = """
SELECT attachment.itemID, coalesce(itemAttachments.parentItemID, attachment.itemID)
FROM items AS attachment LEFT JOIN itemAttachments ON itemAttachments.itemID = attachment.itemID
WHERE attachment.key = ? ORDER BY attachment.itemID LIMIT 1"""
_FIELDS = """
SELECT fields.fieldName, itemDataValues.value
FROM itemData JOIN itemDataValues USING (valueID) JOIN fields USING (fieldID)
WHERE itemData.itemID = ? ORDER BY fields.fieldID LIMIT 200"""
_CREATORS = """
SELECT creators.firstName, creators.lastName, creatorTypes.creatorType
FROM itemCreators JOIN creators USING (creatorID) LEFT JOIN creatorTypes USING (creatorTypeID)
WHERE itemCreators.itemID = ? ORDER BY itemCreators.orderIndex LIMIT 200"""
_TAGS = """
SELECT DISTINCT tags.name FROM itemTags JOIN tags USING (tagID)
WHERE itemTags.itemID IN (?, ?) ORDER BY tags.name LIMIT 200"""
_TITLES = ("title", "caseName", "nameOfAct", "subject")
_DATES = ("date", "dateDecided", "dateEnacted", "issueDate", "filingDate")
_NAMED = {"DOI": "doi", "publicationTitle": "publication", "publisher": "publisher"}


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """The title of an item and its metadata."""

    title: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def stamp(self) -> str:
        """A short text that changes with the facts."""
        return sha256(repr((self.title, sorted(self.metadata.items()))).encode()).hexdigest()[:16]


def described(documents: Sequence[Document], path: Path | str | None) -> list[Document]:
    """Return the documents in a file, with the title and metadata of its item if it is in the storage of Zotero.

    Of several documents, as from an archive, each keeps its title.
    """
    facts = item_facts(Path(path)) if path is not None and documents else None
    if facts is None:
        return list(documents)
    title = facts.title if len(documents) == 1 else ""
    return [
        replace(each, title=title or each.title, metadata={**each.metadata, **facts.metadata}) for each in documents
    ]


def item_facts(path: Path) -> ItemFacts | None:
    """Return what the database says of a file: None outside of a storage, without a database, or if it says nothing."""
    folders = (each for each in path.parents[:_DEEPEST] if each.parent.name == "storage" and _KEY.fullmatch(each.name))
    folder = next(folders, None)
    if folder is None:
        return None
    import sqlite3

    address = f"file:{quote((folder.parents[1] / DATABASE).as_posix())}?mode=ro&immutable=1"
    with suppress(sqlite3.Error, ValueError), closing(sqlite3.connect(address, uri=True, timeout=0)) as connection:
        connection.text_factory = lambda text: text.decode("utf-8", "replace").replace("\0", "")
        calls = iter(range(_MOST_CALLS))
        connection.set_progress_handler(lambda: next(calls, None) is None, _STEPS)
        connection.execute("PRAGMA trusted_schema = OFF")
        facts = _facts(connection, folder.name)
        return facts if facts.title or facts.metadata else None
    return None


def _facts(connection: sqlite3.Connection, key: str) -> ItemFacts:
    found = next(_rows(connection, _ITEM, key), None)
    if found is None:
        return ItemFacts()
    attachment, item = found
    fields = {str(name): _words(value) for name, value in _rows(connection, _FIELDS, item)}
    metadata: dict[str, Any] = {}
    if authors := _authors(list(_rows(connection, _CREATORS, item))):
        metadata["author"] = authors
    date = next((fields[name] for name in _DATES if fields.get(name)), "")
    if year := _YEAR.search(date):
        metadata["year"] = int(year[0])
    if tags := [_words(name) for (name,) in _rows(connection, _TAGS, item, attachment)]:
        metadata["tags"] = tags
    metadata |= {ours: fields[name] for name, ours in _NAMED.items() if fields.get(name)}
    return ItemFacts(next((fields[name] for name in _TITLES if fields.get(name)), ""), metadata)


def _rows(connection: sqlite3.Connection, query: str, *values: Any) -> Iterator[Sequence[Any]]:
    """Yield the rows of a query, up to where the database is damaged."""
    import sqlite3

    # The message about a damaged schema may not be UTF-8.
    with suppress(sqlite3.Error, ValueError):
        yield from connection.execute(query, values)


def _authors(creators: Sequence[Sequence[Any]]) -> list[str]:
    """Return the names of the authors, without any of all creators, then family names alone, by which people filter."""
    written = [each for each in creators if each[2] == "author"] or creators
    whole = [_words(f"{first or ''} {last or ''}") for first, last, _ in written]
    return list(dict.fromkeys(filter(None, [*whole, *(_words(last) for _, last, _ in written)])))[:_MOST]


def _words(value: object) -> str:
    return " ".join(str("" if value is None else value).split())[:1_000]
