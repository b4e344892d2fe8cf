"""The process that opens and searches the index of an embedded library, and its client.

The engine writes to memory-mapped files. If the disk is full or broken, the operating system kills the writing process:
this process instead of the application. It serves one request at a time, and ends when its client closes the pipe.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, BinaryIO

from filelock import FileLock, Timeout

from answerable.disk.files import require_room, unwritable
from answerable.errors import LibraryBusy, LibraryError
from answerable.protocols import Fingerprint
from answerable.stores.embedded.database import Database
from answerable.stores.embedded.file import Version
from answerable.stores.embedded.state import forget_index

if TYPE_CHECKING:
    from answerable.stores.embedded.index import EdgeIndex

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from answerable.stores.embedded.process import main
main()
"""
# The signal for a failed write to a memory-mapped file; Windows has no such signal.
_FAULTS = {getattr(signal, "SIGBUS", None)}
# Signals from outside, which leave the index's files intact.
_KILLED = {getattr(signal, "SIGKILL", None), signal.SIGTERM}


class EdgeClient:
    """The index in `folder`, derived from the database in the file `database` (see `EdgeIndex`).

    The next call restarts a process that died. Raises LibraryError, also when the process dies during a call.
    """

    def __init__(self, folder: Path, database: Path, fingerprint: Fingerprint, quantized_from: int) -> None:
        self._folder = folder
        self._opened = folder, database, fingerprint, quantized_from
        self._process: subprocess.Popen[bytes] | None = None
        self._taken_in: Version | None = None
        self._start()

    def catch_up(self, version: Version | None = None) -> None:
        """Add the chunks that the index lacks, and delete removed ones.

        If the index already has this version of the database, do nothing: a request takes as long as a small search.
        """
        if version is None or version != self._taken_in:
            self.ask("catch_up")
            self._taken_in = version

    def close(self) -> None:
        """Write everything to disk and end the process. Idempotent."""
        if self._process is not None:
            # What this process doesn't write, the next one adds from the database.
            with suppress(LibraryError):
                self.ask("close")
            self._stop()

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a method of the `EdgeIndex` in its process, and return its result."""
        process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            pickle.dump((name, arguments), process.stdin)
            process.stdin.flush()
            is_answer, outcome = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise self._lost(self._stop()) from error
        except BaseException:
            # After an interruption, the process may still answer: the next request would read that answer as its own.
            self._kill()
            raise
        if not is_answer:
            # An OSError means, for example, that the process can't write its lock file.
            raise unwritable(self._folder, str(outcome)) if isinstance(outcome, OSError) else outcome
        return outcome

    def _start(self) -> subprocess.Popen[bytes]:
        require_room(self._folder)
        search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[3])]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, json.dumps(search_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # A terminal sends Ctrl-C to every process of its session: start this process in another session.
                start_new_session=True,
            )
        except OSError as error:
            raise LibraryError(
                f"The process that keeps the index {self._folder} can't be started ({error}). "
                "Free some memory or end other processes, then try again."
            ) from error
        try:
            self.ask("open", *self._opened)
        except BaseException:
            self._kill()
            raise
        return self._process

    def _kill(self) -> None:
        # Kill the index's process: a fork of this process may also hold the pipes, so closing them may not end it.
        if self._process is not None:
            self._process.kill()
            self._stop()

    def _stop(self) -> int:
        """Close the pipes; return the exit status of the process, 0 if there is none."""
        process, self._process = self._process, None
        self._taken_in = None
        if process is None:
            return 0
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        return process.wait()

    def _lost(self, status: int) -> LibraryError:
        if -status not in _KILLED:
            # The index's files might crash the next process, too.
            forget_index(self._folder)
        if -status in _FAULTS:
            return unwritable(self._folder, "the disk is full or broken")
        return LibraryError(
            f"The process that keeps the index {self._folder} has ended (status {status}). "
            "The documents are safe in the database: free some memory and try again."
        )


# Seconds to wait for a process whose client is gone, which must notice this and finish its write: a round number.
_PATIENCE = 30.0


def main() -> None:
    """Serve pickled requests (method name, arguments); answer each with (whether it succeeded, result or error)."""
    # Keep the engine's output apart from the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # Create files that only this user can read.
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
    # Skip Python's clean-up, for which the client would have to wait.
    os._exit(0)


def _open(folder: Path, database: Path, fingerprint: Fingerprint, quantized_from: int) -> tuple[FileLock, EdgeIndex]:
    # Imported here, so that only this process loads the engine.
    from answerable.stores.embedded.index import EdgeIndex

    # Hold the lock as long as this process lives: its client may be killed and restarted meanwhile.
    lock = FileLock(folder.with_name("index.process.lock"), mode=0o600)
    try:
        lock.acquire(_PATIENCE)
    except Timeout as error:
        raise LibraryBusy(f"Another process writes the index {folder}. Try again when it is done.") from error
    opened = Database(database, create=False)
    opened.binding.pin(fingerprint)
    return lock, EdgeIndex(folder, opened, fingerprint.dimension, quantized_from)


def _receive(stream: BinaryIO, requests: SimpleQueue[tuple[str, tuple[Any, ...]]]) -> None:
    try:
        while True:
            requests.put(pickle.load(stream))
    except (EOFError, OSError, pickle.UnpicklingError):
        # The client is gone. Leave unfinished work: the next process does it again.
        os._exit(1)
