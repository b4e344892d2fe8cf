"""Does something to a library again and again, each time with another call to the disk failing.

`LD_PRELOAD=failing_disk.so python faulty.py LIBRARY ACTION FOLDER ERROR LASTING FAILURES` prints what came of each
failure as a line of JSON, of as many as there can be but about FAILURES at most. What is done is done in a process of
its own, and so is looking at what it left. In FOLDER are a library and what it is added from (see `prepare`).
"""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from faults.sound_library import assert_sound, library_on, write_files
from helpers import HashEmbedder

from answerable.errors import AnswerableError
from answerable.maintenance.copy import copy_store
from answerable.maintenance.exporting import export_store
from answerable.maintenance.importing import import_store
from answerable.maintenance.reindex import reindex
from answerable.stores.embedded.store import EmbeddedStore
from answerable.text.languages import document_language

Tell = Callable[[object], None]


def prepare(folder: Path) -> None:
    """A library that follows five files, of which one has changed, one is gone and one is new; and an export of it."""
    write_files(folder / "documents", 0, 1, 2, 3, 4)
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        library.add(folder / "documents")
        library.search("lluvia")
    with closing(EmbeddedStore(folder / "library", indexed_from=0)) as store:
        export_store(store, folder / "export.zip")
    (folder / "documents" / "informe-001.txt").write_text("Otra cosa.\n", "utf-8")
    (folder / "documents" / "informe-002.txt").unlink()
    write_files(folder / "documents", 5)
    write_files(folder / "more", 6, 7, 8)


def add(folder: Path, tell: Tell) -> None:
    """Adds file after file, and tells each as soon as it is acknowledged."""
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        for file in sorted((folder / "more").iterdir()):
            library.add(file)
            tell(file.name)
        library.search("lluvia")


def sync(folder: Path, tell: Tell) -> None:
    """Brings the library up to date with its folder."""
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        library.sync()
        tell("informe-005.txt")


def remove(folder: Path, tell: Tell) -> None:
    """Removes a document and searches what is left."""
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        library.remove(library.documents()[0].id)
        library.search("lluvia")


def rebuild(folder: Path, tell: Tell) -> None:
    """Searches when the index is gone."""
    shutil.rmtree(folder / "library" / "index")
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        library.search("lluvia")


def change_embedder(folder: Path, tell: Tell) -> None:
    """Makes all vectors anew."""
    with closing(EmbeddedStore(folder / "library", indexed_from=0)) as store:
        reindex(store, HashEmbedder(32))


def copy(folder: Path, tell: Tell) -> None:
    """Copies the library to a new one."""
    with (
        closing(EmbeddedStore(folder / "library", indexed_from=0)) as source,
        closing(EmbeddedStore(folder / "other", indexed_from=0)) as target,
    ):
        copy_store(source, target)


def export(folder: Path, tell: Tell) -> None:
    """Writes the library to a file that is there already."""
    with closing(EmbeddedStore(folder / "library", indexed_from=0)) as store:
        export_store(store, folder / "export.zip", overwrite=True)


def import_export(folder: Path, tell: Tell) -> None:
    """Puts an export into a new library."""
    import_store(folder / "export.zip", lambda: EmbeddedStore(folder / "other", indexed_from=0))


ACTIONS = {
    action.__name__: action for action in (add, sync, remove, rebuild, change_embedder, copy, export, import_export)
}


def look(folder: Path, acknowledged: list[str], action: Callable[[Path, Tell], None]) -> None:
    """The library is sound and has what was acknowledged; the same again, undisturbed, does all that was to be done."""
    there = {Path(source).name for source in assert_sound(EmbeddedStore(folder / "library", indexed_from=0))}
    assert set(acknowledged) <= there, "something acknowledged is lost"
    if (folder / "other" / "library.db").exists():
        assert_sound(EmbeddedStore(folder / "other", indexed_from=0))
    if action is not remove:
        action(folder, lambda _: None)
    with closing(library_on(EmbeddedStore(folder / "library", indexed_from=0))) as library:
        library.sync()
        report = library.verify()
        assert report.is_clean, report.findings
    if (folder / "other").exists():
        assert len(assert_sound(EmbeddedStore(folder / "other", indexed_from=0))) == 5
    left = [path.name for path in folder.iterdir()]
    assert set(left) <= {"documents", "more", "library", "other", "export.zip"}, left


def in_a_process(work: Callable[[Tell], object]) -> tuple[list[Any], int]:
    """What it told, and how its process ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)

        def tell(said: object) -> None:
            os.write(writing, json.dumps(said).encode() + b"\n")

        try:
            work(tell)
            os._exit(0)
        except AnswerableError as error:
            tell({"error": type(error).__name__, "message": str(error)})
            os._exit(0)
        except BaseException:
            tell({"traceback": traceback.format_exc()})
        finally:
            os._exit(1)
    os.close(writing)
    with open(reading, encoding="utf-8") as lines:
        told = [json.loads(line) for line in lines]
    return told, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def attempts(
    shim: Any, action: Callable[[Path, Tell], None], folder: Path, error: int, lasting: int, failures: int
) -> Iterator[dict[str, Any]]:
    """Each failure in turn: which call, what was said, and what is wrong with what is left."""
    total, at, step = 0, 0, 1
    prepared, work = list(folder.iterdir()), folder / "work"
    while at <= total:
        work.mkdir()
        # Takes the holes in the index's files for holes.
        subprocess.run(["cp", "-a", *map(str, prepared), str(work)], check=True)

        def act(tell: Tell, at: int = at) -> None:
            shim.fault_arm(str(work).encode(), at, error, lasting)
            try:
                action(work, tell)
            finally:
                calls, failed = shim.fault_count(), shim.fault_failed()
                shim.fault_arm(b"", 0, 0, 0)
                tell({"calls": calls, "failed": failed})

        told, status = in_a_process(act)
        said = {name: value for each in told if isinstance(each, dict) for name, value in each.items()}
        if not at:
            total = said["calls"]
            step = max(1, total // failures)
        acknowledged = [each for each in told if isinstance(each, str)]
        # What nothing happened to is looked at by other tests.
        wrong, _ = in_a_process(lambda _: look(work, acknowledged, action)) if at else ([], 0)  # noqa: B023
        yield {"at": at, "status": status, "wrong": wrong, **said}
        shutil.rmtree(work)
        at += step


if __name__ == "__main__":
    document_language("Una frase que corre, palabra tras palabra, hasta su final.")
    preloaded = ctypes.CDLL(sys.argv[1])
    given = Path(sys.argv[3])
    for outcome in attempts(preloaded, ACTIONS[sys.argv[2]], given, *map(int, sys.argv[4:7])):
        print(json.dumps(outcome), flush=True)
