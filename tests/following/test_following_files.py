"""Test followed folders, files and archives with new, changed, moved, removed and unreachable files."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from followed_files import LONG_AGO, FollowedFiles, assert_same, built_from_scratch
from helpers import HashEmbedder, make_document
from made_files import zipped
from reading_here import read_file

from answerable.answering.decide import Answering
from answerable.datatypes import Document
from answerable.errors import EmptySource, NotFollowed, SourceError, SourceNotFound
from answerable.library import Library
from answerable.protocols import Store, SyncRecord, Visited
from answerable.settings import Settings
from answerable.sources.context import Ocr, ReadContext, Skipped
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore
from answerable.stores.memory import MemoryStore
from answerable.wiring.build import build_reader

SECTION = "The {n}th valve is turned by {n} degrees before the {n}th pump is started. " * 2
NOTES = {"a.md": "# Apples\n\nAna sells apples.", "sub/b.md": "# Bread\n\nBruno bakes bread."}


@pytest.fixture(params=["memory", "embedded"])
def followed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FollowedFiles]:
    """A library that follows a folder with two files."""
    store: Store = MemoryStore() if request.param == "memory" else EmbeddedStore(tmp_path / "library")
    made = FollowedFiles(tmp_path / "notes", store)
    for name, text in NOTES.items():
        made.write(name, text)
    assert made.add() == {"added": 2}
    with made.library:
        yield made


def test_new_changed_and_removed_files(followed: FollowedFiles) -> None:
    assert followed.sync() == {"unchanged": 2}
    followed.write("a.md", "# Apples\n\nAna eats apples.")
    followed.write("c.md", "# Chairs\n\nCarla carves chairs.")
    (followed.folder / "sub" / "b.md").unlink()
    expected = {"added": 1, "changed": 1, "removed": 1}
    assert followed.sync(dry_run=True) == expected
    assert followed.texts() == NOTES
    assert followed.sync() == expected
    assert sorted(followed.texts()) == ["a.md", "c.md"]
    assert_same(followed.store, built_from_scratch(followed.folder))
    assert followed.sync() == followed.add() == {"unchanged": 2}


def test_a_file_is_unchanged_when_its_size_and_time_are(followed: FollowedFiles) -> None:
    followed.write("a.md", NOTES["a.md"].replace("sells", "cooks"))
    records = followed.store.records(str(followed.folder))
    assert followed.sync() == {"unchanged": 2}
    assert followed.store.records(str(followed.folder)) == records
    assert followed.sync(checksum=True) == {"changed": 1, "unchanged": 1}
    assert "cooks" in followed.texts()["a.md"]


def test_a_file_that_was_just_written_is_read_again(followed: FollowedFiles) -> None:
    # However long it takes until it is visited, the time of its visit isn't later than its own.
    path = followed.write("new.md", "# New\n\nOne two three.", time.time() + 600)
    followed.sync()
    status = path.stat()
    path.write_text("# New\n\nSix two three.")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert followed.sync() == {"changed": 1, "unchanged": 2}


def test_a_file_that_was_touched_is_unchanged_and_remembered(followed: FollowedFiles) -> None:
    os.utime(followed.folder / "a.md", (LONG_AGO + 9, LONG_AGO + 9))
    embedded = followed.embedder.embedded
    assert followed.sync() == {"unchanged": 2}
    assert followed.embedder.embedded == embedded
    times = {record.source: record.validators["mtime_ns"] for record in followed.store.records(str(followed.folder))}
    assert times[str(followed.folder / "a.md")] == str((LONG_AGO + 9) * 10**9)


def test_only_the_passages_that_changed_are_embedded(followed: FollowedFiles) -> None:
    sections = [f"## Step {n}\n\n{SECTION.format(n=n)}" for n in range(12)]
    followed.write("long.md", "\n\n".join(["# Steps", *sections]))
    followed.sync()
    chunks = len(followed.library.chunks(followed.library.resolve(str(followed.folder / "long.md"))))
    assert chunks >= 12
    sections[5] = f"## Step 5\n\n{SECTION.format(n=500)}"
    followed.write("long.md", "\n\n".join(["# Steps", *sections]), LONG_AGO + 5)
    embedded = followed.embedder.embedded
    assert followed.sync() == {"changed": 1, "unchanged": 2}
    assert 1 <= followed.embedder.embedded - embedded <= 2
    assert_same(followed.store, built_from_scratch(followed.folder))


# What has moved


def test_a_file_that_moved_keeps_its_vectors(followed: FollowedFiles) -> None:
    embedded = followed.embedder.embedded
    (followed.folder / "a.md").rename(followed.folder / "sub" / "a.md")
    (followed.folder / "sub" / "b.md").rename(followed.folder / "0.md")
    assert followed.sync(dry_run=True) == followed.sync() == {"moved": 2}
    assert followed.embedder.embedded == embedded
    assert_same(followed.store, built_from_scratch(followed.folder))


def test_a_file_that_moved_to_another_folder_keeps_its_vectors(followed: FollowedFiles, tmp_path: Path) -> None:
    for name in ("aaa", "zzz"):
        # Visited before and after the folder that the file is gone from.
        other = tmp_path / name
        other.mkdir()
        (other / "there.md").write_text(f"# There\n\nWhat was in {name} before.")
        followed.add(other)
    followed.write("c.md", "# Chairs\n\nCarla carves chairs.")
    followed.sync()
    embedded = followed.embedder.embedded
    (followed.folder / "a.md").rename(tmp_path / "aaa" / "a.md")
    (followed.folder / "c.md").rename(tmp_path / "zzz" / "c.md")
    assert followed.sync() == {"moved": 2, "unchanged": 3}
    assert followed.embedder.embedded == embedded
    assert_same(followed.store, built_from_scratch(followed.folder, tmp_path / "aaa", tmp_path / "zzz"))


def test_a_moved_folder_is_added_at_its_new_place_and_unfollowed_at_the_old(
    followed: FollowedFiles, tmp_path: Path
) -> None:
    embedded = followed.embedder.embedded
    followed.folder.rename(tmp_path / "moved")
    report = followed.library.sync()
    (failure,) = report.total.failures
    assert f"answerable remove {followed.folder}" in str(failure.error)
    assert followed.texts() == NOTES
    assert followed.add(tmp_path / "moved") == {"added": 2}
    assert followed.library.unfollow(str(followed.folder)).removed == 2
    assert followed.embedder.embedded == embedded
    assert_same(followed.store, built_from_scratch(tmp_path / "moved"))
    assert [origin.name for origin in followed.library.origins()] == [str(tmp_path / "moved")]


def test_a_copy_is_added_without_embedding(followed: FollowedFiles) -> None:
    embedded = followed.embedder.embedded
    shutil.copy(followed.folder / "a.md", followed.folder / "copy.md")
    assert followed.sync() == {"added": 1, "unchanged": 2}
    assert followed.embedder.embedded == embedded


def test_a_text_named_by_its_file_is_embedded_under_its_new_name(followed: FollowedFiles) -> None:
    followed.write("plain.txt", "Nora nets newts.")
    followed.sync()
    (followed.folder / "plain.txt").rename(followed.folder / "fancy.txt")
    embedded = followed.embedder.embedded
    assert followed.sync() == {"moved": 1, "unchanged": 2}
    assert followed.embedder.embedded == embedded + 1
    assert_same(followed.store, built_from_scratch(followed.folder))


# Archives


def test_an_archive_is_one_file_with_several_documents(followed: FollowedFiles) -> None:
    members = {f"{name}.md": f"# {name}\n\nIt is about {name}." for name in ("one", "two", "three")}
    followed.write("all.zip", zipped(members))
    assert followed.sync() == {"added": 3, "unchanged": 2}
    assert followed.sync() == {"unchanged": 5}
    del members["two.md"]
    members["one.md"] += " Really."
    followed.write("all.zip", zipped(members))
    assert followed.sync() == {"changed": 1, "unchanged": 3, "removed": 1}
    assert_same(followed.store, built_from_scratch(followed.folder))
    embedded = followed.embedder.embedded
    (followed.folder / "all.zip").rename(followed.folder / "renamed.zip")
    assert followed.sync() == {"moved": 2, "unchanged": 2}
    assert followed.embedder.embedded == embedded
    (followed.folder / "renamed.zip").unlink()
    assert followed.sync() == {"unchanged": 2, "removed": 2}
    assert followed.texts() == NOTES


def test_an_archive_that_is_added_by_itself_loses_what_its_new_version_lacks(followed: FollowedFiles) -> None:
    archive = followed.folder.parent / "single.zip"
    archive.write_bytes(zipped({"x.md": "# X\n\nAbout x.", "y.md": "# Y\n\nAbout y."}))
    assert followed.add(archive) == {"added": 2}
    archive.write_bytes(zipped({"y.md": "# Y\n\nAbout y."}))
    assert followed.add(archive) == {"unchanged": 1, "removed": 1}
    archive.unlink()
    with pytest.raises(SourceNotFound):
        followed.add(archive)
    assert followed.sync() == {"unchanged": 2, "failed": 1}
    assert len(followed.texts()) == 3


def test_an_archive_member_that_can_no_longer_be_read_stays(followed: FollowedFiles) -> None:
    followed.write("all.zip", zipped({"x.md": "# X\n\nAbout x.", "y.pdf": (PDF := pdf())}))
    assert followed.sync() == {"added": 2, "unchanged": 2}
    followed.write("all.zip", zipped({"x.md": "# X\n\nAbout x.", "y.pdf": PDF[:60]}))
    for _ in range(2):
        assert followed.sync() == {"unchanged": 3, "failed": 1}
    assert "all.zip!/y.pdf" in followed.texts()


def pdf() -> bytes:
    """A sample document."""
    return (Path(__file__).parents[2] / "examples" / "riverside-library-rules.pdf").read_bytes()


# What is out of reach, left out or damaged


def test_a_folder_that_is_empty_or_gone_loses_nothing(followed: FollowedFiles) -> None:
    shutil.move(followed.folder, aside := followed.folder.with_name("aside"))
    followed.folder.mkdir()
    with pytest.raises(EmptySource, match="answerable remove"):
        followed.add()
    assert followed.sync() == {"failed": 1}
    followed.folder.rmdir()
    assert followed.sync() == {"failed": 1}
    assert followed.texts() == NOTES
    shutil.move(aside, followed.folder)
    assert followed.sync() == {"unchanged": 2}


def test_one_failing_origin_does_not_stop_the_others(followed: FollowedFiles, tmp_path: Path) -> None:
    for name in ("aaa", "zzz"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "there.md").write_text(f"# There\n\nWhat is in {name}.")
        followed.add(tmp_path / name)
    shutil.rmtree(followed.folder)
    report = followed.library.sync()
    assert [len(each.failures) for each in report.origins.values()] == [0, 1, 0]
    assert report.total.unchanged == 2


def test_an_origin_whose_options_no_longer_work_does_not_stop_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, plain = MemoryStore(), Settings()

    def library(settings: Settings) -> Library:
        return Library(store, HashEmbedder(), SplitterByType(), build_reader(settings), Answering())

    for name, settings in {"aaa": replace(plain, ocr_languages="eng"), "zzz": plain}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "there.md").write_text(f"# There\n\nWhat is in {name}.")
        with library(settings) as following:
            following.add(tmp_path / name)
    # Tesseract, which reads English pictures, is no longer there.
    monkeypatch.setenv("PATH", str(tmp_path))
    with library(plain) as following:
        report = following.sync()
    assert [len(each.failures) for each in report.origins.values()] == [1, 0]
    assert "tesseract is not installed" in str(report.total.failures[0].error)
    assert report.total.unchanged == 1


def test_a_file_that_is_ignored_from_now_on_is_removed(followed: FollowedFiles) -> None:
    followed.write("c.md", "# Chairs\n\nCarla carves chairs.")
    followed.sync()
    followed.write(".answerableignore", "/sub/\n")
    followed.write("c.md", b"\x89PNG\r\n\x1a\n" + bytes(100))
    assert followed.sync() == {"unchanged": 1, "removed": 2}
    assert_same(followed.store, built_from_scratch(followed.folder))


def test_documents_stay_when_their_file_is_damaged(followed: FollowedFiles) -> None:
    followed.write("rules.pdf", pdf())
    followed.sync()
    followed.write("rules.pdf", pdf()[:60])
    assert followed.sync() == followed.sync() == {"unchanged": 2, "failed": 1}
    assert "rules.pdf" in followed.texts()
    followed.write("rules.pdf", pdf())
    assert followed.sync() == {"unchanged": 3}


def test_a_file_that_is_written_to_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text("One line.")

    class Writing(FileReader):
        def read_next(self, path: Path, skipped: Skipped) -> list[Document]:
            found = read_file(path)
            path.write_text("One line. Another one.")
            return found

    (*_, visited) = Writing().visit(str(path)).items({})
    assert visited.record is not None
    assert (visited.record.hash, visited.record.validators) == ("", {})
    assert visited.record.documents == (visited.documents[0].id,)


def test_files_are_read_again_after_a_change_of_options(tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("One line.")
    os.utime(path, (LONG_AGO, LONG_AGO))

    def visited(languages: str, known: dict[str, SyncRecord]) -> Visited:
        with closing(FileReader(ReadContext(ocr=Ocr("tesseract", languages)))) as reader:
            return list(reader.visit(str(path)).items(known))[-1]

    first = visited("eng", {})
    assert first.record is not None
    known = {str(path): first.record}
    assert visited("eng", known).is_unchanged
    assert visited("eng+spa", known).documents


# What other origins hold, and what isn't followed


def test_a_document_of_two_origins_stays_until_both_have_lost_it(followed: FollowedFiles) -> None:
    sub = followed.folder / "sub"
    assert followed.add(sub) == {"unchanged": 1}
    followed.write(".answerableignore", "/sub/\n")
    assert followed.sync([str(followed.folder)]) == {"unchanged": 1}
    assert sorted(followed.texts()) == sorted(NOTES)
    assert followed.library.unfollow(str(sub)).removed == 1
    assert sorted(followed.texts()) == ["a.md"]
    (followed.folder / ".answerableignore").unlink()
    followed.write("sub/c.md", "# Chairs\n\nCarla carves chairs.")
    followed.sync()
    followed.add(sub)
    (sub / "c.md").unlink()
    assert followed.sync(dry_run=True) == {"unchanged": 3, "removed": 1}
    assert followed.sync() == {"unchanged": 3, "removed": 1}


def test_unfollowing_an_origin_removes_its_documents(followed: FollowedFiles) -> None:
    followed.library.add_documents([make_document("By hand.", source="hand")])
    assert followed.library.unfollow(str(followed.folder)).removed == 2
    assert followed.texts() == {"hand": "By hand."}
    assert followed.store.records() == []
    with pytest.raises(NotFollowed, match="answerable sources"):
        followed.library.unfollow(str(followed.folder))
    with pytest.raises(NotFollowed):
        followed.sync(["nowhere"])


def test_the_hash_of_a_followed_file_is_known_by_its_document(followed: FollowedFiles) -> None:
    path = followed.folder / "a.md"
    document = followed.library.resolve(str(path))
    assert followed.library.file_hashes(document) == {sha256(path.read_bytes()).hexdigest()}
    assert followed.library.file_hashes("none") == set()


def test_a_library_without_records_begins_to_follow(followed: FollowedFiles) -> None:
    followed.store.forget(str(followed.folder), [record.source for record in followed.store.records()])
    followed.store.forget("", [str(followed.folder)])
    embedded = followed.embedder.embedded
    assert followed.library.origins() == []
    assert followed.add() == {"unchanged": 2}
    assert followed.embedder.embedded == embedded
    assert followed.sync() == {"unchanged": 2}
    assert [(origin.sources, origin.documents) for origin in followed.library.origins()] == [(2, 2)]


def test_a_document_that_was_removed_by_hand_comes_back(followed: FollowedFiles) -> None:
    followed.library.remove(followed.library.resolve(str(followed.folder / "a.md")))
    assert followed.sync() == {"added": 1, "unchanged": 1}


def test_sources_under_a_root_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "upload.txt"
    path.write_text("Uploaded.")
    visit = FileReader(root=tmp_path).visit(str(path))
    (*_, visited) = visit.items({})
    assert (visit.origin, visited.record, visited.documents[0].source) == ("", None, "upload.txt")


def test_a_dry_run_follows_nothing(tmp_path: Path) -> None:
    made = FollowedFiles(tmp_path)
    made.write("a.txt", "A text.")
    assert made.add(dry_run=True) == {"added": 1}
    assert made.store.records() == []
    with pytest.raises(SourceError):
        made.add(tmp_path / "nothing")
    assert made.library.origins() == []


def test_copies_that_move_together_are_all_counted_as_moved(followed: FollowedFiles) -> None:
    for name in ("x", "y", "z"):
        followed.write(f"{name}/licence.md", "# Licence\n\nDo as you like.")
    assert followed.sync() == {"added": 3, "unchanged": 2}
    embedded = followed.embedder.embedded
    (followed.folder / "x").rename(followed.folder / "new")
    (followed.folder / "y").rename(followed.folder / "newer")
    assert followed.sync() == {"moved": 2, "unchanged": 3}
    assert followed.embedder.embedded == embedded


def test_a_file_that_moved_by_itself_keeps_its_vectors(followed: FollowedFiles, tmp_path: Path) -> None:
    archive = tmp_path / "x.zip"
    archive.write_bytes(zipped({"x.md": "# X\n\nAbout x.", "y.md": "# Y\n\nAbout y."}))
    followed.add(archive)
    embedded = followed.embedder.embedded
    archive.rename(tmp_path / "y.zip")
    assert followed.add(tmp_path / "y.zip") == {"added": 2}
    assert followed.library.unfollow(str(archive)).removed == 2
    assert followed.embedder.embedded == embedded
