"""Requests to another Answerable server."""

from __future__ import annotations

import json
import ssl
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import httpcore2

from answerable.codec import from_json
from answerable.errors import LibraryError, LibraryNotFound
from answerable.stores.remote import wire
from answerable.stores.remote.address import RemoteAddress

LARGEST = 500_000_000
"""Bytes of a response: a document may be as long as a file that is read."""
_DROPPED = (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError)


class Connection:
    """Calls of one library's store. Keeps connections open between calls; thread-safe.

    Each wait for the server takes at most `patience` seconds. Raises LibraryError.
    """

    def __init__(self, address: RemoteAddress, key: str, patience: float) -> None:
        self._address = address
        self._url = f"{address.url}/api/v1/{address.name}/read"
        self._headers: dict[bytes | str, bytes | str] = {"Content-Type": "application/json"}
        if key:
            self._headers["Authorization"] = f"Bearer {key}"
        self._timeouts = dict.fromkeys(("connect", "read", "write", "pool"), patience)
        self._pool = httpcore2.ConnectionPool(ssl.create_default_context(), max_connections=None)

    def call(self, method: str, arguments: Mapping[str, Any]) -> Any:
        """Return what a method of the store returns, as JSON values."""
        body = json.dumps({"method": method, "arguments": arguments}, ensure_ascii=False).encode()
        try:
            try:
                status, content = self._post(body)
            except _DROPPED:
                # The server had closed an idle connection.
                status, content = self._post(body)
        except (httpcore2.NetworkError, httpcore2.TimeoutException, httpcore2.ProtocolError, OSError) as error:
            reason = str(error) or type(error).__name__
            raise LibraryError(f"The server of {self._address.shown} can't be reached ({reason}).") from error
        if status != 200:
            raise self._refusal(status, content)
        try:
            return wire.result(content)
        except ValueError as error:
            raise self.unreadable(error) from error

    def unreadable(self, error: Exception) -> LibraryError:
        """Return the error for a response that can't be read."""
        return LibraryError(
            f"The server of {self._address.shown} sent something else than a library ({error}). "
            "Check the address, and that both machines have the same version of Answerable."
        )

    def close(self) -> None:
        """Close the connections. Idempotent."""
        self._pool.close()

    def _post(self, body: bytes) -> tuple[int, bytes]:
        extensions = {"timeout": self._timeouts}
        with self._pool.stream(
            "POST", self._url, headers=self._headers, content=body, extensions=extensions
        ) as response:
            pieces, size = [], 0
            for piece in response.iter_stream():
                size += len(piece)
                if size > LARGEST:
                    raise LibraryError(f"The server of {self._address.shown} sent more than {LARGEST:,} bytes.")
                pieces.append(piece)
        return response.status, b"".join(pieces)

    def _refusal(self, status: int, content: bytes) -> LibraryError:
        problem: Mapping[str, Any] = {}
        with suppress(ValueError):
            problem = from_json(content)
        if problem.get("code") == "unknown_library":
            return LibraryNotFound(
                f"The server at {self._address.url} has no library {self._address.name} for this key."
            )
        if status in (401, 403):
            return LibraryError(
                f"The server of {self._address.shown} refuses the key. Set ANSWERABLE_SERVER_KEY to one that opens it."
            )
        detail = str(problem.get("detail", ""))[:200]
        return LibraryError(f"The server of {self._address.shown} answers with the status {status}. {detail}".rstrip())
