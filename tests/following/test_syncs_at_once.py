"""Test that two simultaneous syncs of a library leave the same result as one, and no document twice."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from followed_files import FollowedFiles, assert_same, built_from_scratch
from made_files import zipped
from sync_processes import command

from answerable.stores.embedded.store import EmbeddedStore

FILES = 20


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.long)])
def test_two_syncs_at_once(tmp_path: Path, rounds: int) -> None:
    folder, library = tmp_path / "notes", tmp_path / "library"
    made = FollowedFiles(folder, EmbeddedStore(library))
    made.write("anchor.md", "# Anchor\n\nIt stays.")
    made.add()
    made.library.close()
    for again in range(rounds):
        change_everything(made, again)
        both = [subprocess.Popen(command(library), stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            assert process.wait(timeout=120) == 0, process.stderr.read() if process.stderr else ""
            process.communicate()
        with FollowedFiles(folder, EmbeddedStore(library)).library as opened:
            assert_same(opened._store, built_from_scratch(folder))
            assert opened.verify(checksum=True, embed=0).is_clean
            report = opened.sync().total
            assert (report.unchanged, report.removed) == (len(opened.documents()), 0)


def change_everything(made: FollowedFiles, again: int) -> None:
    """A third of the files are new, a third changed, a third gone or moved; an archive has other members."""
    for number in range(FILES):
        name = f"{number % 7}/{number}.md"
        if (number + again) % 3 == 0 and (made.folder / name).exists():
            (made.folder / name).replace(made.folder / f"moved-{number}.md")
        else:
            made.write(name, f"# Note {number}\n\nIt was written in round {again} and is about {number}.", 1e9 + again)
    members = {f"{number}.md": f"# {number}\n\nMember {number} of {again}." for number in range(again, again + 5)}
    made.write("all.zip", zipped(members), 1e9 + again)
