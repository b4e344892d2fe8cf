"""Requests to a Qdrant server: time-outs, retries, and translation of its errors to AnswerableErrors.

Every request is idempotent, so all of them can be retried. Writes are applied in the order sent, and return once they
are applied.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryReadOnly, MissingPackage
from answerable.providers.calling import quoted
from answerable.settings import checked_key
from answerable.stores.qdrant.address import QdrantAddress

try:
    import httpx
    from qdrant_client import QdrantClient, models
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ImportError as error:
    raise MissingPackage("Libraries on Qdrant need the package qdrant-client", "qdrant") from error

__all__ = ["OLDEST", "CollectionGone", "Connection", "models"]

Result = TypeVar("Result")

# The first with conditional writes.
OLDEST = (1, 16)
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
_LONGEST_PAUSE = 30.0
_BATCH = 256
_PASSING = (408, 429, 500, 502, 503, 504)
_FAILED = (UnexpectedResponse, ResponseHandlingException, ResourceExhaustedResponse)


class CollectionGone(LibraryDamaged):
    """The collection doesn't exist, or was deleted."""


_FAILURE = "failed ({1}: {0}). Check the server, then try again."
_BUSY = LibraryBusy, "is busy ({0}). Try again in a while."
_READ_ONLY = (
    "can't be changed with this key ({0}). Set QDRANT_API_KEY to one that may write there, or use another library with "
    "--library."
)
_REFUSALS: dict[int, tuple[type[LibraryError], str]] = {
    401: (LibraryError, "rejects the key ({0}). Set QDRANT_API_KEY to a key that it accepts."),
    403: (LibraryReadOnly, _READ_ONLY),
    404: (CollectionGone, "is damaged ({0}). Restore it from a snapshot, or add everything again."),
    429: _BUSY,
    503: _BUSY,
}


class Connection:
    """The connection of one library to its server. Safe to share between threads. Raises only AnswerableErrors."""

    def __init__(self, address: QdrantAddress, key: str = "") -> None:
        self.address = address
        self._key = checked_key(key, "QDRANT_API_KEY")
        headers = {"api-key": self._key} if self._key else None
        self._client = QdrantClient(
            url=address.url, timeout=address.timeout, headers=headers, check_compatibility=False
        )
        self._is_closed = False

    def call(self, work: Callable[[QdrantClient], Result], pauses: Sequence[float] = _PAUSES) -> Result:
        """Call `work` and return its result; retry after temporary failures."""
        if self._is_closed:
            raise LibraryError(f"The library {self.address.shown} has been closed. Open it again.")
        started = time.monotonic()
        for pause in (*pauses, None):
            try:
                return work(self._client)
            except _FAILED as error:
                is_late = time.monotonic() - started > self.address.timeout
                if pause is None or is_late or not _may_pass(error):
                    # A server may have put the key into its error.
                    raise self._translated(error) from None
                # At random, so that clients that failed together don't return together.
                time.sleep(_requested_pause(error) or pause * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable")

    def upsert(self, collection: str, points: Sequence[models.PointStruct], only: models.Filter | None = None) -> None:
        """Write points. An existing point is replaced only if it passes the filter `only`."""
        strong = models.WriteOrdering.STRONG
        self.call(lambda client: client.upsert(collection, points, wait=True, ordering=strong, update_filter=only))

    def delete(self, collection: str, where: models.Filter) -> None:
        """Delete the points that pass a filter."""
        strong, selector = models.WriteOrdering.STRONG, models.FilterSelector(filter=where)
        self.call(lambda client: client.delete(collection, selector, wait=True, ordering=strong))

    def retrieve(
        self, collection: str, ids: Sequence[Any], payload: Sequence[str] | bool = True, vectors: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield the points with these ids, each with the named payload keys and vectors; skip unknown ids."""
        for start in range(0, len(ids), _BATCH):
            some = ids[start : start + _BATCH]
            yield from self.call(
                lambda client, some=some: client.retrieve(collection, some, payload, list(vectors) or False)  # type: ignore[misc]
            )

    def scroll(
        self, collection: str, where: models.Filter | None, payload: Any, page: int = 1000, vectors: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield the points that pass a filter, each with the selected part of its payload and the named vectors."""
        offset: Any = None
        while True:
            request = {"limit": page, "offset": offset, "with_payload": payload, "with_vectors": list(vectors) or False}
            found, offset = self.call(lambda client, request=request: client.scroll(collection, where, **request))  # type: ignore[misc]
            yield from found
            if offset is None:
                return

    def count(self, collection: str, where: models.Filter | None = None) -> int:
        """Return the number of points that pass a filter."""
        return self.call(lambda client: client.count(collection, count_filter=where, exact=True)).count

    def check_server(self) -> None:
        """Raise LibraryError unless the address leads to a Qdrant server of version `OLDEST` or later."""
        try:
            # Fewer retries: a mistyped address should be reported soon.
            info = self.call(lambda client: client.info(), _PAUSES[:3])
            version = tuple(int(part) for part in info.version.split("-")[0].split(".")[:2])
        except (CollectionGone, ValueError) as error:
            raise self._no_qdrant() from error
        if "qdrant" not in info.title.lower():
            raise self._no_qdrant()
        if version < OLDEST:
            raise LibraryError(
                f"The server {self.address.url} is Qdrant {info.version[:20]}; {OLDEST[0]}.{OLDEST[1]} or later is "
                "required. Update the server."
            )

    def close(self) -> None:
        """Close the connections. Idempotent."""
        if not self._is_closed:
            self._is_closed = True
            self._client.close()

    def _translated(self, error: Exception) -> LibraryError:
        where = self.address.shown
        match error.source if isinstance(error, ResponseHandlingException) else error:
            case UnexpectedResponse(status_code=status) as response:
                kind, message = _REFUSALS.get(status or 0, (LibraryError, _FAILURE))
                return kind(f"{where} {message.format(self._reported(response), status)}")
            case ResourceExhaustedResponse():
                return LibraryBusy(f"{where} accepts no more requests for now. Try again in a while.")
            case httpx.TimeoutException():
                return LibraryBusy(
                    f"{where} gave no answer in {self.address.timeout} seconds. Try again when it is less busy, or "
                    "allow it more time with ?timeout=SECONDS in the library's address."
                )
            case httpx.TransportError() as source:
                reason = quoted(str(source), self._key)
                return LibraryError(
                    f"{where} can't be reached ({reason}). Check that the server runs, and the host and port of the "
                    "library's address; then try again."
                )
        return self._no_qdrant()

    def _no_qdrant(self) -> LibraryError:
        return LibraryError(
            f"What answers at {self.address.url} isn't a Qdrant server. Check the host and port of the library's "
            "address (Qdrant's own port is 6333)."
        )

    def _reported(self, error: UnexpectedResponse) -> str:
        try:
            text = str(error.structured()["status"]["error"])
        except (ValueError, KeyError, TypeError):
            text = error.reason_phrase or str(error.status_code)
        return quoted(text, self._key)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ResponseHandlingException):
        hopeless = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
        return isinstance(error.source, httpx.TransportError) and not isinstance(error.source, hopeless)
    return not isinstance(error, UnexpectedResponse) or error.status_code in _PASSING


def _requested_pause(error: Exception) -> float | None:
    return min(error.retry_after_s, _LONGEST_PAUSE) if isinstance(error, ResourceExhaustedResponse) else None
