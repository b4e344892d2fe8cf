"""Test followed origins: new, changed, removed and unreadable documents, and visits that end early."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document

from answerable.answering.decide import Answering
from answerable.errors import SourceError
from answerable.library import Library
from answerable.protocols import SyncRecord, Visit, Visited
from answerable.protocols.sources import UnreadFile
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore

ORIGIN = "place"
TEXTS = {"a": "Ana sells apples.", "b": "Bruno bakes bread.", "c": "Carla carves chairs."}


@dataclass
class Place:
    """What a visit meets: texts by name, several where a thing holds several; `None` can't be read, "" is passed over.

    Something whose hash is known is unchanged. A visit ends with an error before the thing named `cut_at`.
    """

    files: dict[str, str | Sequence[str] | None]
    cut_at: str = ""
    is_complete: bool = True
    origin: str = ORIGIN
    closed: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    passed_over: Sequence[UnreadFile] = ()
    errors: Sequence[SourceError] = ()
    known: Mapping[str, SyncRecord] = field(default_factory=dict)

    @property
    def total(self) -> int:
        return len(self.files)

    def items(self, known: Mapping[str, SyncRecord]) -> Generator[Visited, None, None]:
        self.known = known
        for name, found in self.files.items():
            if name == self.cut_at:
                raise SourceError("the line is cut: try again")
            yield self._visited(name, found)

    def gone(self) -> list[str]:
        return [name for name in self.known if name not in self.files] if self.is_complete else []

    def close(self) -> None:
        self.closed += 1

    def _visited(self, name: str, found: str | Sequence[str] | None) -> Visited:
        if found is None:
            return Visited(name, error=SourceError(f"{name} can't be read: try again"))
        texts = [found] if isinstance(found, str) else found
        made = tuple(
            make_document(text, source=name if len(texts) == 1 else f"{name}!{text}") for text in texts if text
        )
        record = SyncRecord(
            ORIGIN, name, datetime.now(timezone.utc), repr(found), {}, tuple(document.id for document in made)
        )
        if name in self.known and self.known[name].hash == record.hash:
            return Visited(name, record=record, is_unchanged=True)
        return Visited(name, made, record)


class PlaceReader(FileReader):
    """Knows one place."""

    place: Place

    def visit(self, source: str, options: Mapping[str, str] | None = None, checksum: bool = False) -> Visit:
        return self.place if source == ORIGIN else super().visit(source, options, checksum)


@dataclass
class Followed:
    """A library that follows a place."""

    library: Library
    store: EmbeddedStore
    reader: PlaceReader
    embedder: HashEmbedder

    def visit(self, place: Place, dry_run: bool = False) -> dict[str, int]:
        """What one visit did: the counts that aren't 0."""
        self.reader.place = place
        report = self.library.add(ORIGIN, dry_run=dry_run)
        counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed", "kept")}
        return {name: count for name, count in {**counts, "failed": len(report.failures)}.items() if count}

    def texts(self) -> list[str]:
        """What the library holds."""
        found = [self.library.document(stored.id) for stored in self.library.documents()]
        return sorted(document.content for document in found)


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    """An empty library."""
    store, reader, embedder = EmbeddedStore(tmp_path / "library"), PlaceReader(), HashEmbedder()
    with Library(store, embedder, SplitterByType(), reader, Answering()) as library:
        yield Followed(library, store, reader, embedder)


def test_new_changed_and_removed_files(followed: Followed) -> None:
    place = Place(dict(TEXTS))
    assert followed.visit(place) == {"added": 3}
    assert place.closed == 1
    before = followed.embedder.embedded
    assert followed.visit(Place(dict(TEXTS))) == {"unchanged": 3}
    assert followed.embedder.embedded == before
    now = {"a": TEXTS["a"], "b": "Bruno buys bread.", "d": "Dora dries dates."}
    assert followed.visit(Place(now)) == {"added": 1, "changed": 1, "unchanged": 1, "removed": 1}
    assert followed.texts() == sorted(now.values())
    assert followed.embedder.embedded == before + 2
    assert [record.source for record in followed.store.records(ORIGIN)] == ["a", "b", "d"]


def test_a_dry_run_counts_and_changes_nothing(followed: Followed) -> None:
    assert followed.visit(Place(dict(TEXTS)), dry_run=True) == {"added": 3}
    assert followed.store.records() == []
    followed.visit(Place(dict(TEXTS)))
    records = followed.store.records(ORIGIN)
    now = Place({"a": "Another text.", "b": "", "d": "Dora dries dates."})
    assert followed.visit(now, dry_run=True) == {"added": 1, "changed": 1, "removed": 2}
    assert followed.texts() == sorted(TEXTS.values())
    assert followed.store.records(ORIGIN) == records
    assert followed.visit(now) == {"added": 1, "changed": 1, "removed": 2}


def test_unseen_sources_stay_unless_the_visit_is_complete(followed: Followed) -> None:
    followed.visit(Place(dict(TEXTS)))
    assert followed.visit(Place({"a": TEXTS["a"]}, is_complete=False)) == {"unchanged": 1, "kept": 2}
    assert followed.visit(Place({"a": TEXTS["a"], "b": None, "c": None})) == {"unchanged": 1, "failed": 2}
    assert followed.texts() == sorted(TEXTS.values())


def test_a_visit_that_is_cut_keeps_what_it_has_and_removes_nothing(followed: Followed) -> None:
    followed.visit(Place({"a": TEXTS["a"], "z": "Zoe zips."}))
    with pytest.raises(SourceError, match="the line is cut"):
        followed.visit(Place({"a": TEXTS["a"], **TEXTS}, cut_at="c"))
    assert "Zoe zips." in followed.texts()
    assert followed.visit(Place(dict(TEXTS)))["removed"] == 1
    assert followed.texts() == sorted(TEXTS.values())


def test_a_skipped_source_is_remembered_and_its_document_removed(followed: Followed) -> None:
    followed.visit(Place(dict(TEXTS)))
    assert followed.visit(Place({**TEXTS, "b": ""})) == {"unchanged": 2, "removed": 1}
    assert followed.texts() == sorted([TEXTS["a"], TEXTS["c"]])
    again = Place({**TEXTS, "b": ""})
    assert followed.visit(again) == {"unchanged": 2}
    assert again.known["b"].documents == ()


def test_a_document_that_was_removed_by_hand_comes_back(followed: Followed) -> None:
    followed.visit(Place(dict(TEXTS)))
    (removed,) = (stored for stored in followed.library.documents() if stored.source == "b")
    followed.library.remove(removed.id)
    assert followed.visit(Place(dict(TEXTS))) == {"added": 1, "unchanged": 2}
    assert followed.texts() == sorted(TEXTS.values())


def test_a_source_may_have_several_documents(followed: Followed) -> None:
    assert followed.visit(Place({"zip": ["One text.", "Two texts."], "a": TEXTS["a"]})) == {"added": 3}
    assert followed.visit(Place({"zip": ["One text.", "Two texts."], "a": TEXTS["a"]})) == {"unchanged": 3}
    fewer = followed.visit(Place({"zip": ["One text.", "Three texts."], "a": TEXTS["a"]}))
    assert fewer == {"added": 1, "unchanged": 2, "removed": 1}
    assert followed.visit(Place({"a": TEXTS["a"]})) == {"unchanged": 1, "removed": 2}
    assert followed.texts() == [TEXTS["a"]]
    assert [record.source for record in followed.store.records(ORIGIN)] == ["a"]


def test_a_record_whose_documents_are_not_all_there_proves_nothing(followed: Followed) -> None:
    place = Place({"zip": ["One text.", "Two texts."]})
    followed.visit(place)
    (record,) = followed.store.records(ORIGIN)
    # As a crash between the two documents leaves it.
    followed.store.remove(record.documents[1])
    followed.store.remember([replace(record, hash="")])
    assert followed.visit(Place({"zip": ["One text.", "Two texts."]})) == {"added": 1, "unchanged": 1}
    assert followed.texts() == ["One text.", "Two texts."]


def test_the_same_text_in_other_bytes_is_unchanged_and_remembered(followed: Followed) -> None:
    followed.visit(Place({"a": TEXTS["a"]}))
    (record,) = followed.store.records(ORIGIN)
    followed.store.remember([replace(record, hash="other bytes")])
    before = followed.embedder.embedded
    assert followed.visit(Place({"a": TEXTS["a"]})) == {"unchanged": 1}
    assert followed.embedder.embedded == before
    assert followed.store.records(ORIGIN)[0].hash == record.hash
