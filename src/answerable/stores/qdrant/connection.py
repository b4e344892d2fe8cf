"""Requests to a Qdrant server: time-outs, retries, and translation of its errors to AnswerableErrors.

Every request is idempotent, so all of them can be retried. Writes are applied in the order sent, and return once they
are applied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ParamSpec, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryReadOnly, MissingPackage
from answerable.providers.calling import quoted, retrying
from answerable.settings import checked_key
from answerable.stores.addresses import QdrantAddress

try:
    import httpx
    from qdrant_client import QdrantClient, models
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ImportError as error:
    raise MissingPackage("Libraries on Qdrant need the package qdrant-client", "qdrant") from error

__all__ = ["BATCH", "OLDEST", "CollectionGone", "Connection", "models"]

Given = ParamSpec("Given")
Result = TypeVar("Result")

# The first version of Qdrant with conditional writes.
OLDEST = (1, 16)
# Seven tries with waits of .1, .2 … 3.2 seconds on average between them: the six seconds documented in docs/qdrant.md.
_TRIES, _FIRST_WAIT = 7, 0.2
# Tries for the first request: if the address is mistyped, the error should come soon. A guess, not measured.
_TRIES_AT_FIRST = 4
# Seconds; the longest wait that a server's Retry-After may cause. A round number, not measured.
_LONGEST_PAUSE = 30.0
# Points with vectors in one response: a few MB. A round number.
BATCH = 256
# HTTP statuses of a server that is busy, restarting or behind a proxy: the same request may succeed later.
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
        self.client = QdrantClient(url=address.url, timeout=address.timeout, headers=headers, check_compatibility=False)
        self._is_closed = False

    def call(self, method: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
        """Call a method of the client and return its result; retry after temporary failures."""
        return self._tried(partial(method, *given, **named), _TRIES)

    def upsert(self, collection: str, points: Sequence[models.PointStruct], only: models.Filter | None = None) -> None:
        """Write points. An existing point is replaced only if it passes the filter `only`."""
        strong = models.WriteOrdering.STRONG
        self.call(self.client.upsert, collection, points, wait=True, ordering=strong, update_filter=only)

    def delete(self, collection: str, where: models.Filter) -> None:
        """Delete the points that pass a filter."""
        strong = models.WriteOrdering.STRONG
        self.call(self.client.delete, collection, models.FilterSelector(filter=where), wait=True, ordering=strong)

    def retrieve(
        self, collection: str, ids: Sequence[Any], payload: Any = True, vectors: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield the points with these ids, each with the named payload keys and vectors; skip unknown ids."""
        for start in range(0, len(ids), BATCH):
            some = ids[start : start + BATCH]
            yield from self.call(self.client.retrieve, collection, some, payload, list(vectors) or False)

    def scroll(
        self, collection: str, where: models.Filter | None, payload: Any, page: int = 1000, vectors: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Yield the points that pass a filter, each with the selected part of its payload and the named vectors."""
        offset: Any = None
        while True:
            wanted = {"offset": offset, "with_payload": payload, "with_vectors": list(vectors) or False}
            found, offset = self.call(self.client.scroll, collection, where, page, **wanted)
            yield from found
            if offset is None:
                return

    def count(self, collection: str, where: models.Filter | None = None) -> int:
        """Return the number of points that pass a filter."""
        return self.call(self.client.count, collection, where, exact=True).count

    def check_server(self) -> None:
        """Raise LibraryError unless the address leads to a Qdrant server of version `OLDEST` or later."""
        try:
            info = self._tried(self.client.info, _TRIES_AT_FIRST)
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
            self.client.close()

    def _tried(self, work: Callable[[], Result], tries: int) -> Result:
        if self._is_closed:
            raise LibraryError(f"The library {self.address.shown} has been closed. Open it again.")
        try:
            return retrying(
                _may_pass,
                tries=tries,
                seconds=self.address.timeout,
                first_wait=_FIRST_WAIT,
                longest_wait=_LONGEST_PAUSE,
                requested_wait=_requested_pause,
            )(work)
        except _FAILED as error:
            # Don't chain the server's error, which may contain the key.
            raise self._translated(error) from None

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


def _may_pass(error: BaseException) -> bool:
    if isinstance(error, ResponseHandlingException):
        hopeless = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
        return isinstance(error.source, httpx.TransportError) and not isinstance(error.source, hopeless)
    if isinstance(error, UnexpectedResponse):
        return error.status_code in _PASSING
    return isinstance(error, ResourceExhaustedResponse)


def _requested_pause(error: BaseException) -> float | None:
    return min(error.retry_after_s, _LONGEST_PAUSE) if isinstance(error, ResourceExhaustedResponse) else None
