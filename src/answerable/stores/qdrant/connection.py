"""Requests to a Qdrant server: time-outs, more tries after failures that pass, and the errors of our tree.

Whatever is asked for leaves the same behind when it is done twice, so that everything may be tried again. Writes wait
until they are applied, in the order in which they were sent.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from answerable.errors import LibraryBusy, LibraryDamaged, LibraryError, LibraryReadOnly, MissingPackage, SettingsError
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

# Conditional writes, on which everything rests, came with it.
OLDEST = (1, 16)
_PAUSES = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
_LONGEST_PAUSE = 30.0
_PASSING = (408, 429, 500, 502, 503, 504)
_FAILED = (UnexpectedResponse, ResponseHandlingException, ResourceExhaustedResponse)


class CollectionGone(LibraryDamaged):
    """There is no such collection, or not any more."""


class Connection:
    """The connection to the server of one library. Safe to share between threads. Raises only errors of our tree."""

    def __init__(self, address: QdrantAddress, key: str = "") -> None:
        self.address = address
        self._key = key.strip()
        if not self._key.isascii() or not self._key.isprintable():
            raise SettingsError("The key for Qdrant has characters that no key has. Correct QDRANT_API_KEY.")
        headers = {"api-key": self._key} if self._key else None
        self._client = QdrantClient(
            url=address.url, timeout=address.timeout, headers=headers, check_compatibility=False
        )
        self._is_closed = False

    def call(self, work: Callable[[QdrantClient], Result], pauses: Sequence[float] = _PAUSES) -> Result:
        """What `work` gives; failures that pass are waited out and the work is done again."""
        if self._is_closed:
            raise LibraryError(f"The library {self.address.shown} has been closed. Open it again.")
        started = time.monotonic()
        for pause in (*pauses, None):
            try:
                return work(self._client)
            except _FAILED as error:
                is_late = time.monotonic() - started > self.address.timeout
                if pause is None or is_late or not _may_pass(error):
                    raise self._translated(error) from error
                # Those who failed together don't come back together.
                time.sleep(_asked_pause(error) or pause * random.uniform(0.5, 1.5))
        raise AssertionError("unreachable")

    def upsert(self, collection: str, points: Sequence[models.PointStruct], only: models.Filter | None = None) -> None:
        """Writes points. Of those that are there already, only the ones that pass `only`."""
        self.call(
            lambda client: client.upsert(
                collection, points, wait=True, ordering=models.WriteOrdering.STRONG, update_filter=only
            )
        )

    def delete(self, collection: str, where: models.Filter) -> None:
        """Removes the points that pass a filter."""
        selector = models.FilterSelector(filter=where)
        self.call(lambda client: client.delete(collection, selector, wait=True, ordering=models.WriteOrdering.STRONG))

    def scroll(
        self, collection: str, where: models.Filter, payload: Sequence[str], page: int = 1000
    ) -> list[dict[str, Any]]:
        """The payloads of all points that pass a filter, reduced to some keys."""
        return [record.payload or {} for record in self.records(collection, where, payload, page)]

    def records(
        self,
        collection: str,
        where: models.Filter | None,
        payload: Sequence[str] | models.PayloadSelectorExclude,
        page: int = 1000,
        vectors: Sequence[str] | None = None,
    ) -> Iterator[models.Record]:
        """The points that pass a filter, page by page, with those keys of their payloads and the vectors named."""
        offset: Any = None
        while True:

            def ask(client: QdrantClient, offset: Any = offset) -> tuple[list[models.Record], Any]:
                return client.scroll(
                    collection,
                    where,
                    limit=page,
                    offset=offset,
                    with_payload=payload if isinstance(payload, models.PayloadSelectorExclude) else list(payload),
                    with_vectors=list(vectors) if vectors else False,
                )

            found, offset = self.call(ask)
            yield from found
            if offset is None:
                return

    def check_server(self) -> None:
        """Raises LibraryError unless a Qdrant server that is new enough answers."""
        try:
            # Whoever has mistyped the address is told soon.
            info = self.call(lambda client: client.info(), _PAUSES[:3])
            version = tuple(int(part) for part in info.version.split("-")[0].split(".")[:2])
        except (CollectionGone, ValueError) as error:
            raise self._no_qdrant() from error
        if "qdrant" not in info.title.lower():
            raise self._no_qdrant()
        if version < OLDEST:
            raise LibraryError(
                f"The server {self.address.url} is Qdrant {info.version[:20]}; {OLDEST[0]}.{OLDEST[1]} or later is "
                "needed. Update the server."
            )

    def close(self) -> None:
        """Frees the connections. Closing twice is fine."""
        if not self._is_closed:
            self._is_closed = True
            self._client.close()

    def _translated(self, error: Exception) -> LibraryError:
        where = self.address.shown
        if isinstance(error, ResourceExhaustedResponse):
            return LibraryBusy(f"{where} takes no more requests for now. Try again in a while.")
        if isinstance(error, ResponseHandlingException):
            return self._without_response(error.source)
        assert isinstance(error, UnexpectedResponse)
        status, text = error.status_code, self._said(error)
        if status == 401:
            return LibraryError(f"{where} asks for another key ({text}). Set QDRANT_API_KEY to a key that it knows.")
        if status == 403:
            return LibraryReadOnly(
                f"The key for {where} doesn't allow this ({text}). Set QDRANT_API_KEY to one that may write there, or "
                "take another library with --library."
            )
        if status == 404:
            return CollectionGone(f"{where} is damaged ({text}). Restore it from a snapshot, or add everything again.")
        if status in (429, 503):
            return LibraryBusy(f"{where} is busy ({text}). Try again in a while.")
        return LibraryError(f"{where} failed ({status}: {text}). Check the server, then try again.")

    def _without_response(self, source: Exception) -> LibraryError:
        where = self.address.shown
        if isinstance(source, httpx.TimeoutException):
            return LibraryBusy(
                f"{where} gave no answer in {self.address.timeout} seconds. Try again when it has less to do, or allow "
                "it more with ?timeout=SECONDS in the library's address."
            )
        if isinstance(source, httpx.TransportError):
            return LibraryError(
                f"{where} can't be reached ({self._plain(str(source))}). Check that the server runs, and the host and "
                "port of the library's address; then try again."
            )
        return self._no_qdrant()

    def _no_qdrant(self) -> LibraryError:
        return LibraryError(
            f"What answers at {self.address.url} isn't a Qdrant server. Check the host and port of the library's "
            "address (Qdrant's own port is 6333)."
        )

    def _said(self, error: UnexpectedResponse) -> str:
        try:
            text = str(error.structured()["status"]["error"])
        except (ValueError, KeyError, TypeError):
            text = error.reason_phrase or str(error.status_code)
        return self._plain(text)

    def _plain(self, text: str) -> str:
        # Whatever repeats the key is not to be repeated again.
        hidden = text.replace(self._key, "…") if self._key else text
        return " ".join(hidden.split())[:300]


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ResponseHandlingException):
        hopeless = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)
        return isinstance(error.source, httpx.TransportError) and not isinstance(error.source, hopeless)
    return not isinstance(error, UnexpectedResponse) or error.status_code in _PASSING


def _asked_pause(error: Exception) -> float | None:
    return min(error.retry_after_s, _LONGEST_PAUSE) if isinstance(error, ResourceExhaustedResponse) else None
