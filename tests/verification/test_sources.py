"""Sources that changed, went away or moved without a sync, and sites, are found by name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from helpers import make_document
from site_server import SiteServer
from sources.site.site_visits import page
from verification.libraries import SiteReader, kinds, opened, write_quick_files

from answerable.library import Library
from answerable.protocols import Store
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a file of many kinds."""
    return write_quick_files(tmp_path / "files")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An embedded store."""
    with closing(EmbeddedStore(tmp_path / "library")) as made:
        yield made


@pytest.fixture
def library(store: Store, folder: Path) -> Library:
    """A library that follows the folder."""
    made = opened(store)
    made.add(folder)
    # What was written a moment ago is read again whatever its time says.
    store.remember([replace(record, seen=record.seen.replace(year=record.seen.year + 1)) for record in store.records()])
    return made


def test_a_file_that_changed_is_stale_and_read_again(library: Library, store: Store, folder: Path) -> None:
    (folder / "code.py").write_text("def valve() -> int:\n    return 7\n")
    (folder / "rows.csv").touch()
    (folder / "new.md").write_text("# New\n\nNobody asked for it.\n")
    before = {stored.source: stored.id for stored in library.documents()}
    records = store.records()
    report = library.verify()
    assert kinds(report) == {"code.py": {"stale"}}
    assert report.notes == [f"1 new in {folder}: `answerable sync {folder}` adds them."]
    assert (library.verify(repair=True).findings, library.verify().findings) == ([], [])
    after = {stored.source: stored.id for stored in library.documents()}
    assert {name for name in before | after if before.get(name) != after.get(name)} == {str(folder / "code.py")}
    assert [record for record in records if not record.source.endswith("code.py")] == [
        record for record in store.records() if not record.source.endswith("code.py")
    ]
    assert library.search("valve")[0].document.source == str(folder / "code.py")


def test_a_change_that_leaves_size_and_time_takes_a_checksum(library: Library, folder: Path) -> None:
    path = folder / "rows.csv"
    status = path.stat()
    path.write_text(path.read_text().replace("thing", "thong"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert library.verify().is_clean
    assert kinds(library.verify(checksum=True)) == {"rows.csv": {"stale"}}
    assert library.verify(repair=True, checksum=True).is_clean
    assert "thong" in library.search("thong")[0].chunk.content


def test_a_member_of_an_archive_that_changed_is_stale(library: Library, folder: Path, tmp_path: Path) -> None:
    other = write_quick_files(tmp_path / "other")
    shutil.copy(other / "chat.zip", folder / "texts.zip")
    assert kinds(library.verify()) == {"texts.zip": {"stale"}}
    report = library.verify(repair=True)
    assert (report.findings, len(report.repaired)) == ([], 1)
    assert not [stored for stored in library.documents() if stored.source.endswith("one.txt")]


def test_a_file_that_is_gone_is_a_broken_link_that_a_sync_removes(library: Library, folder: Path) -> None:
    (folder / "rows.csv").unlink()
    report = library.verify(repair=True)
    assert kinds(report) == {"rows.csv": {"broken link"}}
    assert "`answerable sync` removes" in report.findings[0].detail
    assert len(library.documents()) == library.verify().documents
    library.sync()
    assert library.verify().is_clean


def test_a_folder_that_moved_is_said_once(library: Library, folder: Path) -> None:
    documents = library.count()[0]
    moved = folder.rename(folder.with_name("elsewhere"))
    for report in (library.verify(), library.verify(repair=True)):
        assert kinds(report) == {"files": {"moved"}}
        detail = report.findings[0].detail
        assert detail.startswith(f"{documents} documents of it")
        assert f"`answerable remove {folder}`" in detail
    assert library.count()[0] == documents
    library.add(moved)
    library.unfollow(str(folder))
    assert library.verify().is_clean


def test_an_emptied_folder_is_no_reason_to_lose_anything(library: Library, folder: Path) -> None:
    documents = library.count()[0]
    for path in folder.iterdir():
        path.unlink()
    assert kinds(library.verify(repair=True)) == {"files": {"moved"}}
    assert library.count()[0] == documents


def test_files_that_arent_followed_are_looked_for_and_compared_if_asked(store: Store, tmp_path: Path) -> None:
    library = opened(store)
    there = tmp_path / "there.txt"
    there.write_text("What it says.\n")
    gone = [f"{tmp_path}/gone/{number}.txt" for number in range(3)]
    library.add_documents(make_document(f"Text of {source}.", source=source) for source in [*gone, str(there), "x.txt"])
    report = library.verify()
    assert kinds(report) == {"gone": {"moved"}}
    assert report.findings[0].detail.startswith("3 documents of it")
    assert report.notes == ["4 documents are of files that aren't followed: --checksum reads those too."]
    assert kinds(library.verify(checksum=True)) == {"gone": {"moved"}, "there.txt": {"stale"}}
    library.add(there)
    assert kinds(library.verify(checksum=True)) == {"gone": {"moved"}}


def test_a_site_is_visited_only_if_asked(tmp_path: Path) -> None:
    with SiteServer() as site:
        for number in range(5):
            site.put(f"/docs/{number}", page(f"Pears are sweet, number {number}"))
        library = opened(EmbeddedStore(tmp_path / "library"), reader=SiteReader())
        library.add(site.home)
        assert library.verify(online=True).findings == []
        site.put("/docs/1", page("Lemons are sour"))
        site.remove("/docs/2")
        site.put("/docs/9", page("Plums are blue"))
        site.forget()
        report = library.verify()
        assert (report.findings, report.notes) == ([], [f"{site.home} wasn't visited; --online visits sites."])
        assert not site.asked()
        assert kinds(library.verify(online=True)) == {"1": {"stale"}, "2": {"broken link"}}
        assert kinds(library.verify(repair=True, online=True)) == {"2": {"broken link"}}
        assert library.search("lemons")[0].document.source.endswith("/docs/1")
        library.sync()
        assert library.verify(online=True).findings == []
        library.close()


def test_records_of_pages_that_arent_there_are_forgotten_for_the_next_sync(tmp_path: Path) -> None:
    with SiteServer() as site:
        site.put("/docs/1", page("Pears are sweet"))
        site.put("/docs/2", page("Lemons are sour"))
        store = MemoryStore()
        library = opened(store, reader=SiteReader())
        library.add(site.home)
        store.remove(library.resolve(f"{site.home}docs/1"))
        assert kinds(library.verify()) == {"1": {"missing"}}
        assert library.verify(repair=True).is_clean
        library.sync()
        assert library.count()[0] == 2
        assert library.verify(online=True).is_clean
