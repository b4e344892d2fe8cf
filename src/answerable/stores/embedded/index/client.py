"""Client of the process that opens and searches the index of an embedded library (see `index.process`)."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from answerable.datatypes import FloatArray
from answerable.disk.free_space import require_room, unwritable
from answerable.errors import LibraryError
from answerable.filters import Filter
from answerable.protocols import Fingerprint, Issue
from answerable.stores.embedded.database.database import Version
from answerable.stores.embedded.index.state import forget
from answerable.stores.memory.keywords import Scored

_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from answerable.stores.embedded.index.process import main
main()
"""
# Sent when a write through memory fails on the disk; Windows has no such signal.
_FAULTS = {getattr(signal, "SIGBUS", None)}
# Killed from outside, it leaves its files intact.
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

        If the index has taken in this version of the database, do nothing: asking takes as long as a small search.
        """
        if version is None or version != self._taken_in:
            self._ask("catch_up")
            self._taken_in = version

    def audit(self) -> list[Issue]:
        """Catch up, then return the differences from the database."""
        found: list[Issue] = self._ask("audit")
        return found

    def rebuild(self) -> None:
        """Rebuild the index from the database."""
        self._ask("rebuild")

    def search_vectors(self, vector: FloatArray, k: int, where: Filter | None) -> Scored:
        """Return number and cosine of the k chunks with the highest cosine, best first; approximate for many chunks."""
        return self._found("search_vectors", vector, k, where)

    def cosines(self, vector: FloatArray, numbers: Sequence[int]) -> Scored:
        """Return number and cosine of each of these chunks, best first."""
        return self._found("cosines", vector, numbers)

    def search_terms(self, rarities: Mapping[str, float], k: int, where: Filter | None) -> Scored:
        """Return number and score of the k chunks with the highest BM25 score for terms of these rarities."""
        return self._found("search_terms", rarities, k, where)

    def count_places(self, hashes: Collection[str], where: Filter | None) -> dict[str, int]:
        """Return how many chunks that pass `where` have each of these texts, by its hash (see `text.places`)."""
        counts: dict[str, int] = self._ask("count_places", list(hashes), where)
        return counts

    def close(self) -> None:
        """Write everything to disk and end the process. Idempotent."""
        if self._process is not None:
            # The next process adds what isn't written.
            with suppress(LibraryError):
                self._ask("close")
            self._stop()

    def _found(self, *request: Any) -> Scored:
        found: Scored = self._ask(*request)
        return found

    def _ask(self, name: str, *arguments: Any) -> Any:
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
            # After an interruption, its answer would be taken for the next request's.
            self._kill()
            raise
        if not is_answer:
            # The process can't write its lock, say.
            raise unwritable(self._folder, str(outcome)) if isinstance(outcome, OSError) else outcome
        return outcome

    def _start(self) -> subprocess.Popen[bytes]:
        require_room(self._folder)
        search_path = [*(entry for entry in sys.path if entry), str(Path(__file__).parents[4])]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _PROGRAM, json.dumps(search_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                # A terminal sends Ctrl-C to every process of its session.
                start_new_session=True,
            )
        except OSError as error:
            raise LibraryError(
                f"The process that keeps the index {self._folder} can't be started ({error}). "
                "Free some memory or end other processes, then try again."
            ) from error
        try:
            self._ask("open", *self._opened)
        except BaseException:
            self._kill()
            raise
        return self._process

    def _kill(self) -> None:
        # A fork of this process may hold the pipes, so closing them here doesn't end it.
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
            # Its files might crash the next process, too.
            forget(self._folder)
        if -status in _FAULTS:
            return unwritable(self._folder, "the disk is full or broken")
        return LibraryError(
            f"The process that keeps the index {self._folder} has ended (status {status}). "
            "The documents are safe in the database: free some memory and try again."
        )
