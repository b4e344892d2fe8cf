"""Test followed files (changed, moved, removed, unfollowed) on every kind of store."""

from __future__ import annotations

from pathlib import Path

import pytest
from followed_files import FollowedFiles, assert_same, built_from_scratch
from made_files import zipped
from test_following_sites import STORES


@pytest.mark.parametrize("kind", STORES)
def test_every_store_follows_files(kind: str, tmp_path: Path) -> None:
    followed = FollowedFiles(tmp_path / "notes", STORES[kind](tmp_path))
    with followed.library:
        followed.write("a.md", "# A\n\nAbout apples.")
        followed.write("b.md", "# B\n\nAbout bread.")
        followed.write("c.zip", zipped({"x.md": "# X\n\nAbout x.", "y.md": "# Y\n\nAbout y."}))
        assert followed.add() == {"added": 4}
        embedded = followed.embedder.embedded
        (followed.folder / "a.md").rename(followed.folder / "z.md")
        followed.write("c.zip", zipped({"x.md": "# X\n\nAbout x."}), 1e9)
        assert followed.sync() == {"moved": 1, "unchanged": 2, "removed": 1}
        assert followed.embedder.embedded == embedded
        assert_same(followed.store, built_from_scratch(followed.folder))
        assert [(origin.sources, origin.documents) for origin in followed.library.origins()] == [(3, 3)]
        assert followed.library.unfollow(str(followed.folder)).removed == 3
        assert (followed.store.records(), followed.store.count()) == ([], (0, 0))
