"""What the engine makes, no other account of the machine can look into, whatever the umask says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import HashEmbedder, make_document

from answerable.answering.decide import Answering
from answerable.embedding.cache import CachedEmbedder
from answerable.interfaces.http.server import open_service
from answerable.interfaces.http.service import Options
from answerable.interfaces.http.session_store import Owner
from answerable.library import Library
from answerable.settings import Settings
from answerable.sources.file_reader import FileReader
from answerable.splitting.by_type import SplitterByType
from answerable.stores.embedded.store import EmbeddedStore

EXAMPLES = Path(__file__).parents[2] / "examples"
POSIX = pytest.mark.skipif(os.name != "posix", reason="rights of other accounts are given otherwise elsewhere")
OTHERS = 0o077
# Commands in a process whose umask keeps nothing from anybody.
COMMANDS = """
import json, os, sys
from answerable.interfaces.cli.main import run
for arguments in json.loads(sys.argv[1]):
    os.umask(0)
    sys.argv[1:] = arguments
    try:
        run()
    except SystemExit as ended:
        assert ended.code in (0, 1), arguments
"""

# A library as small as this one has no index unless that is asked for.
BUILD_INDEX = """
import os, sys; os.umask(0)
from pathlib import Path; from answerable.stores.embedded.store import EmbeddedStore
store = EmbeddedStore(Path(sys.argv[1]), indexed_from=0); store.refresh(); store.close()
"""


def open_to_others(folder: Path) -> list[Path]:
    """What is in a folder, itself included, that other accounts have rights to."""
    return [path for path in (folder, *folder.rglob("*")) if path.lstat().st_mode & OTHERS]


@POSIX
def test_what_commands_make_is_closed_to_others(tmp_path: Path) -> None:
    made, base = tmp_path / "made", tmp_path / "made" / "deeper"
    environment = {**os.environ, "ANSWERABLE_CACHE_FOLDER": str(base / "cache")}
    library, export, keys = str(base / "library"), str(tmp_path / "export.zip"), str(tmp_path / "keys.json")
    commands = (
        ("add", str(EXAMPLES), "--library", library),
        ("ask", "What does the guide say?", "--library", library),
        ("export", export, "--library", library),
        ("import", export, "--library", str(base / "imported")),
        ("keys", "add", "--role", "admin", keys),
    )
    program = [sys.executable, "-c", COMMANDS, json.dumps(commands)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2_000:]
    subprocess.run([sys.executable, "-c", BUILD_INDEX, library], check=True)
    assert {path.name for path in base.iterdir()} == {"cache", "imported", "library"}
    assert (base / "library" / "index" / "state.json").exists()
    assert (base / "cache" / "embeddings.db").exists()
    assert open_to_others(made) == []
    assert [path for path in (Path(export), Path(keys)) if path.stat().st_mode & OTHERS] == []


@POSIX
def test_conversations_are_closed_to_others(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        service = open_service({"library": Settings(library=str(tmp_path / "library"))}, Options(tmp_path / "data"))
        service.sessions.start(Owner("library", "somebody"))
        assert open_to_others(tmp_path / "data") == []
        service.close()
    finally:
        os.umask(before)


@POSIX
def test_what_an_earlier_version_made_is_closed_to_others_when_it_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "library"
    _fill(folder)
    CachedEmbedder(HashEmbedder(), tmp_path / "embeddings.db", 1_000_000)
    for path in (folder, *folder.rglob("*"), tmp_path / "embeddings.db"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    _fill(folder)
    CachedEmbedder(HashEmbedder(), tmp_path / "embeddings.db", 1_000_000)
    inside = {path.name for path in folder.iterdir() if not path.stat().st_mode & OTHERS}
    assert inside == {path.name for path in folder.iterdir()}
    assert not (tmp_path / "embeddings.db").stat().st_mode & OTHERS
    # A folder that is there keeps the rights that somebody gave it.
    assert folder.stat().st_mode & 0o777 == 0o755


def _fill(folder: Path) -> None:
    store = EmbeddedStore(folder, indexed_from=0)
    with Library(store, HashEmbedder(), SplitterByType(200, 20), FileReader(), Answering()) as library:
        library.add_documents([make_document("Pears are sweet. " * 60, "pears")])
        assert library.search("pears")
