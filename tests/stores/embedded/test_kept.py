"""What an embedded library keeps of its database between searches is never older than the database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from helpers import indexed_texts

from answerable.protocols import Fingerprint
from answerable.stores.embedded import database as database_connection
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.embedded.writing import WritableDatabase

ROW = np.ones(8, np.float32)
PRINT = Fingerprint("test", "ones", len(ROW))


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[EmbeddedStore, EmbeddedStore]]:
    """The same library, opened twice."""
    one, other = EmbeddedStore(tmp_path), EmbeddedStore(tmp_path)
    one.bind_embedder(PRINT)
    yield one, other
    one.close()
    other.close()


def _texts(store: EmbeddedStore) -> set[str]:
    """The texts of all chunks, each cut from the document that comes with it."""
    fetched = store.fetch(range(1, 50)).values()
    assert all(owner.content[chunk.chunk.start : chunk.chunk.end] == chunk.chunk.content for chunk, owner in fetched)
    return {indexed.chunk.content for indexed, _ in fetched}


def test_counts_and_languages_follow_other_writers(stores: tuple[EmbeddedStore, EmbeddedStore]) -> None:
    one, other = stores
    assert (one.count(), other.count()) == ((0, 0), (0, 0))
    for number, language in enumerate(("en", "es", "en")):
        one.put(*indexed_texts(f"d{number}", ["text"], [ROW], language=language))
        assert one.count() == other.count() == (number + 1, number + 1)
        assert one.languages() == other.languages() == ["en", "es"][: number + 1]
    other.remove("d1")
    assert one.count() == other.count() == (2, 2)
    assert one.languages() == other.languages() == ["en"]


def test_versions_and_embedders_follow_other_writers(tmp_path: Path) -> None:
    one, other = EmbeddedStore(tmp_path), EmbeddedStore(tmp_path)
    assert one.fingerprint is other.fingerprint is None
    one.bind_embedder(PRINT)
    assert one.fingerprint == other.fingerprint == PRINT
    seen = [other.version()]
    for number in range(3):
        one.put(*indexed_texts(f"d{number}", ["text"], [ROW]))
        assert one.version() == other.version() not in seen
        seen.append(other.version())
    other.remove("d1")
    assert one.version() == other.version() not in seen
    one.close()
    other.close()


@pytest.mark.parametrize("kept", [database_connection.KEPT_CHARACTERS, 10, 0])
def test_documents_follow_other_writers(
    stores: tuple[EmbeddedStore, EmbeddedStore], kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_connection, "KEPT_CHARACTERS", kept)
    one, other = stores
    for name in "abc":
        one.put(*indexed_texts(name, [f"first of {name}", f"second of {name}"], [ROW, ROW]))
    assert len(_texts(one)) == len(_texts(other)) == 6
    # The number of the last document is given to the next one.
    other.remove("c")
    other.put(*indexed_texts("d", ["first of d", "second of d"], [ROW, ROW]))
    expected = {f"{place} of {name}" for name in "abd" for place in ("first", "second")}
    assert _texts(one) == _texts(other) == expected


def test_what_a_transaction_takes_back_is_not_kept(tmp_path: Path) -> None:
    database = WritableDatabase(tmp_path / "library.db")
    with pytest.raises(ZeroDivisionError), database.transaction() as connection:
        connection.execute("INSERT INTO documents VALUES (1, 'd', '', '', 'text', 'es', '', '{}', 0, 0, '', '')")
        assert (database.count()[0], database.languages()) == (1, ["es"])
        raise ZeroDivisionError
    assert (database.count()[0], database.languages()) == (0, [])
    database.close()
