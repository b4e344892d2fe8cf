"""Files in the storage of Zotero: what its database says of them, read without touching it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from reading_here import read_file

import answerable
from answerable.sources.zotero import item_facts

SCHEMA = """
CREATE TABLE items (itemID INTEGER PRIMARY KEY, itemTypeID INT, libraryID INT, key TEXT);
CREATE TABLE itemAttachments (itemID INTEGER PRIMARY KEY, parentItemID INT, contentType TEXT, path TEXT);
CREATE TABLE fields (fieldID INTEGER PRIMARY KEY, fieldName TEXT);
CREATE TABLE itemData (itemID INT, fieldID INT, valueID INT, PRIMARY KEY (itemID, fieldID));
CREATE TABLE itemDataValues (valueID INTEGER PRIMARY KEY, value);
CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, firstName TEXT, lastName TEXT, fieldMode INT);
CREATE TABLE creatorTypes (creatorTypeID INTEGER PRIMARY KEY, creatorType TEXT);
CREATE TABLE itemCreators (itemID INT, creatorID INT, creatorTypeID INT, orderIndex INT);
CREATE TABLE tags (tagID INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE itemTags (itemID INT, tagID INT, type INT);
INSERT INTO creatorTypes VALUES (1, 'author'), (2, 'editor');
INSERT INTO fields VALUES (1, 'title'), (2, 'date'), (3, 'DOI'), (4, 'publicationTitle');
INSERT INTO items VALUES (10, 1, 1, 'ITEMITEM'), (11, 2, 1, 'FILEFILE'), (12, 2, 1, 'LONELY22');
INSERT INTO itemAttachments VALUES (11, 10, 'text/plain', 'storage:tides.txt');
INSERT INTO itemAttachments VALUES (12, NULL, 'text/plain', 'storage:a.txt');
INSERT INTO itemDataValues VALUES (1, 'On the Tides'), (2, '2019-05-00 May 2019'), (3, '10.1000/tides');
INSERT INTO itemDataValues VALUES (4, 'Lone File');
INSERT INTO itemData VALUES (10, 1, 1), (10, 2, 2), (10, 3, 3), (12, 1, 4);
INSERT INTO creators VALUES (1, 'Zoë', 'Byron', 0), (2, NULL, 'Tide Office', 1), (3, 'Ezra', 'Pike', 0);
INSERT INTO itemCreators VALUES (10, 2, 1, 1), (10, 1, 1, 0), (10, 3, 2, 2);
INSERT INTO tags VALUES (1, 'sea'), (2, 'to read');
INSERT INTO itemTags VALUES (10, 1, 0), (11, 2, 0);
"""
FACTS = {
    "author": ["Zoë Byron", "Tide Office", "Byron"],
    "year": 2019,
    "tags": ["sea", "to read"],
    "doi": "10.1000/tides",
}
WORDS = "The tide turns at noon in Cork.\n"


def library_of(folder: Path, schema: str = SCHEMA) -> Path:
    """A storage with a file, and the database beside it."""
    file = folder / "storage" / "FILEFILE" / "tides.txt"
    file.parent.mkdir(parents=True)
    file.write_text(WORDS)
    with closing(sqlite3.connect(folder / "zotero.sqlite")) as connection:
        connection.executescript(schema)
    return file


def test_a_file_gets_title_authors_year_and_tags(tmp_path: Path) -> None:
    file = library_of(tmp_path)
    (document,) = read_file(file)
    assert (document.title, document.content) == ("On the Tides", WORDS)
    assert document.metadata == FACTS


def test_an_attachment_without_an_item_has_its_own_title(tmp_path: Path) -> None:
    library_of(tmp_path)
    alone = tmp_path / "storage" / "LONELY22" / "inner" / "a.md"
    alone.parent.mkdir(parents=True)
    alone.write_text("---\ntags: [kept]\n---\nWords.\n")
    (document,) = read_file(alone)
    assert (document.title, document.metadata) == ("Lone File", {"tags": ["kept"]})


def test_a_library_filters_by_author_and_year_and_follows_the_database(tmp_path: Path) -> None:
    file = library_of(tmp_path / "Zotero")
    with answerable.open(tmp_path / "library") as library:
        assert library.add(tmp_path / "Zotero" / "storage").added == 1
        for where in ({"author": "byron"}, {"author": "Zoe Byron"}, {"year": {"gte": 2019}}, {"tags": "sea"}):
            (result,) = library.search("tide", where=where)
            assert result.document.title == "On the Tides"
        assert not library.search("tide", where={"author": "Pike"})
        assert library.sync().total.unchanged == 1
        with closing(sqlite3.connect(file.parents[2] / "zotero.sqlite")) as connection, connection:
            connection.execute("UPDATE itemDataValues SET value = 'Of Tides' WHERE valueID = 1")
        assert library.sync().total.changed == 1
        (citation, *_) = library.ask("When does the tide turn in Cork?").citations
        assert (citation.title, citation.quote) == ("Of Tides", WORDS.strip())
        assert library.sync().total.unchanged == 1


def test_the_database_is_neither_locked_nor_changed(tmp_path: Path) -> None:
    file = library_of(tmp_path)
    database = tmp_path / "zotero.sqlite"
    before = database.read_bytes(), database.stat().st_mtime_ns, sorted(tmp_path.iterdir())
    with closing(sqlite3.connect(database, isolation_level=None)) as zotero:
        # As Zotero does while it runs.
        zotero.execute("PRAGMA locking_mode = EXCLUSIVE")
        zotero.execute("BEGIN EXCLUSIVE")
        assert item_facts(file)
        zotero.execute("ROLLBACK")
    assert (database.read_bytes(), database.stat().st_mtime_ns, sorted(tmp_path.iterdir())) == before


def test_a_database_with_a_log_ahead_is_left_alone(tmp_path: Path) -> None:
    file = library_of(tmp_path)
    with closing(sqlite3.connect(tmp_path / "zotero.sqlite", isolation_level=None)) as zotero:
        zotero.execute("PRAGMA journal_mode = WAL")
        zotero.execute("UPDATE itemDataValues SET value = 'Of Tides' WHERE valueID = 1")
        kept = [tmp_path / "zotero.sqlite", tmp_path / "zotero.sqlite-wal"]
        before = [path.read_bytes() for path in kept]
        facts = item_facts(file)
        assert facts
        assert facts.title in ("On the Tides", "Of Tides")
        assert [path.read_bytes() for path in kept] == before


def _truncated(database: Path) -> None:
    database.write_bytes(database.read_bytes()[:5_000])


def _without_tables(database: Path) -> None:
    database.unlink()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("CREATE TABLE items (other)")


def _folder(database: Path) -> None:
    database.unlink()
    database.mkdir()


DAMAGES = {
    "missing": Path.unlink,
    "empty": lambda database: database.write_bytes(b""),
    "another file": lambda database: database.write_bytes(b"no database" * 1_000),
    "truncated": _truncated,
    "without its tables": _without_tables,
    "a folder": _folder,
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_missing_or_damaged_database_is_no_error(tmp_path: Path, damage: str) -> None:
    file = library_of(tmp_path)
    DAMAGES[damage](tmp_path / "zotero.sqlite")
    (document,) = read_file(file)
    assert document.content == WORDS
    assert document.title in ("tides", "On the Tides")


def test_what_is_left_of_a_database_is_used(tmp_path: Path) -> None:
    file = library_of(tmp_path, f"{SCHEMA} DROP TABLE creators; DROP TABLE tags;")
    facts = item_facts(file)
    assert facts
    assert (facts.title, facts.metadata) == ("On the Tides", {"year": 2019, "doi": "10.1000/tides"})


def test_an_endless_view_ends(tmp_path: Path) -> None:
    endless = (
        "WITH RECURSIVE n(itemID) AS (SELECT 1 UNION ALL SELECT itemID + 1 FROM n) SELECT itemID, 'x' AS key FROM n"
    )
    file = library_of(tmp_path, f"{SCHEMA} DROP TABLE items; CREATE VIEW items AS {endless};")
    assert item_facts(file) is None


def test_files_elsewhere_are_as_they_were(tmp_path: Path) -> None:
    library_of(tmp_path)
    for place in ("storage/tides.txt", "other/FILEFILE/tides.txt", "storage/short/tides.txt", "storage/NOTTHERE/a.txt"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WORDS)
        assert item_facts(path) is None
    assert item_facts(Path("tides.txt")) is None
