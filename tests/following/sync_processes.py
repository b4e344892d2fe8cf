"""Run in another process: `python sync_processes.py LIBRARY` reports when it begins, and then syncs."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from followed_files import FollowedFiles

from answerable.stores.embedded.store import EmbeddedStore


def command(library: Path) -> list[str]:
    """The command that syncs a library in a process of its own."""
    return [sys.executable, __file__, str(library)]


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with FollowedFiles(folder, EmbeddedStore(folder)).library as opened:
        print("begins", flush=True)
        opened.sync()
