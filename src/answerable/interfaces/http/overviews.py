"""Overviews of the libraries, made in the background and kept until a library changes."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from answerable.errors import AnswerableError
from answerable.interfaces.http.libraries import Libraries
from answerable.overview.library_overview import LibraryOverview, library_overview, state_of
from answerable.protocols import StoredDocument

_log = logging.getLogger("answerable")
_NOTHING = LibraryOverview((), ())


class Overviews:
    """The latest overview of each library. One is made at a time. Thread-safe."""

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="overview")
        self._lock = threading.Lock()
        self._made: dict[str, tuple[str, LibraryOverview]] = {}
        self._wanted: dict[str, str] = {}
        self._is_closing = threading.Event()

    def get(self, name: str) -> tuple[LibraryOverview, bool]:
        """Return the overview of a library and whether it is complete; begin to make one if it isn't.

        Until then it is the earlier one, without documents that are gone.
        """
        documents = self._libraries.get(name).documents()
        state = state_of(documents)
        with self._lock:
            made, overview = self._made.get(name, ("", _NOTHING))
            if made == state or not documents:
                return (overview if documents else _NOTHING), True
            if self._wanted.get(name) != state and not self._is_closing.is_set():
                self._wanted[name] = state
                self._worker.submit(self._make, name, documents, state)
        return _of_these(overview, documents), False

    def close(self) -> None:
        """Stop making overviews, and wait until the last question is answered. Idempotent."""
        self._is_closing.set()
        self._worker.shutdown(wait=True, cancel_futures=True)

    def _make(self, name: str, documents: Sequence[StoredDocument], state: str) -> None:
        def stops() -> bool:
            return self._is_closing.is_set() or self._wanted.get(name) != state

        try:
            overview = _NOTHING if stops() else library_overview(self._libraries.get(name), documents, stops)
        except AnswerableError:
            # A document was removed meanwhile, or the store doesn't respond: the next request tries again.
            with self._lock:
                if self._wanted.get(name) == state:
                    del self._wanted[name]
            return
        except Exception:
            # Asking works without an overview.
            _log.exception("The overview of %s can't be made.", name)
            overview = _NOTHING
        with self._lock:
            if not stops():
                self._made[name] = state, overview
                del self._wanted[name]


def _of_these(overview: LibraryOverview, documents: Sequence[StoredDocument]) -> LibraryOverview:
    known = {document.id for document in documents}
    return replace(
        overview,
        extracts=tuple(each for each in overview.extracts if each.document_id in known),
        questions=tuple(each for each in overview.questions if each.document_id in known),
    )
