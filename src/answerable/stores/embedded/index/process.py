"""The process that opens and searches the index of an embedded library.

The engine writes to memory-mapped files. If the disk is full or broken, the operating system kills the writing process:
this one instead of the application. It serves one request at a time, and ends when its client closes the pipe.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from filelock import FileLock, Timeout

from answerable.errors import LibraryBusy
from answerable.protocols import Fingerprint
from answerable.stores.embedded.database.database import Database
from answerable.stores.embedded.index.edge_index import EdgeIndex

# Seconds for an orphaned process to notice that its client is gone.
_PATIENCE = 30.0


def main() -> None:
    """Serve pickled requests (method name, arguments); answer each with (whether it succeeded, result or error)."""
    # Keep the engine's output apart from the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Create private files.
    os.umask(0o077)
    requests: SimpleQueue[tuple[str, tuple[Any, ...]]] = SimpleQueue()
    threading.Thread(target=_receive, args=(sys.stdin.buffer, requests), daemon=True).start()
    _lock, index = None, None
    name = ""
    while name != "close":
        name, arguments = requests.get()
        outcome: tuple[bool, Any]
        try:
            if index is None:
                _lock, index = _open(*arguments)
                outcome = True, None
            else:
                outcome = True, getattr(index, name)(*arguments)
        except Exception as error:
            outcome = False, error
        pickle.dump(outcome, answers)
        answers.flush()
    # Cleaning up would only delay the client.
    os._exit(0)


def _open(folder: Path, database: Path, fingerprint: Fingerprint, quantized_from: int) -> tuple[FileLock, EdgeIndex]:
    # Held as long as this process lives: its client may have been killed and restarted.
    lock = FileLock(folder.with_name("index.process.lock"), mode=0o600)
    try:
        lock.acquire(_PATIENCE)
    except Timeout as error:
        raise LibraryBusy(f"Another process writes the index {folder}. Try again when it is done.") from error
    opened = Database(database, create=False)
    opened.binding.tell(fingerprint)
    return lock, EdgeIndex(folder, opened, fingerprint.dimension, quantized_from)


def _receive(stream: BinaryIO, requests: SimpleQueue[tuple[str, tuple[Any, ...]]]) -> None:
    try:
        while True:
            requests.put(pickle.load(stream))
    except (EOFError, OSError, pickle.UnpicklingError):
        # The client is gone: the next process redoes what is unfinished.
        os._exit(1)
