"""Qdrant where QDRANT_URL says: a server, a folder or this process's memory; and the error for all that fails there."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from filelock import FileLock, Timeout
from qdrant_client import QdrantClient
from qdrant_client.common.client_exceptions import QdrantException
from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

from answerable.providers.calling import quoted
from src.errors import QdrantOperationError
from src.settings import QdrantAddress

_TIMEOUT = 30
_WAIT = 60.0
_MEMORY_LOCK = threading.RLock()


class NotThere(QdrantOperationError):
    """There is no such collection."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Qdrant's client, whether a server is behind it, and the key that no message may show."""

    client: QdrantClient
    is_server: bool = False
    key: str = field(default="", repr=False)

    def asking(self) -> AbstractContextManager[None]:
        """Turns what the client raises into QdrantOperationError; only calls of it belong inside."""
        return _translated(self.key)


@contextmanager
def open_qdrant(address: QdrantAddress) -> Iterator[Opened]:
    """Qdrant for some calls. A folder is opened for these only, so that processes can take turns at it.

    Raises QdrantOperationError.
    """
    if address.folder:
        with _turn(Path(address.folder)), _folder(address.folder) as client:
            yield Opened(client)
    elif address.url:
        yield Opened(_server(address), True, address.api_key)
    else:
        # In process nothing keeps a reader from what another thread is in the middle of writing.
        with _MEMORY_LOCK:
            yield Opened(_memory())


@cache
def _memory() -> QdrantClient:
    """What this process keeps in memory, the same for every call."""
    return QdrantClient(location=":memory:")


@cache
def _server(address: QdrantAddress) -> QdrantClient:
    """One client with its connections for each server; safe to share between threads."""
    headers = {"api-key": address.api_key} if address.api_key else None
    with _translated(address.api_key):
        return QdrantClient(url=address.url, headers=headers, timeout=_TIMEOUT, check_compatibility=False)


@contextmanager
def _folder(path: str) -> Iterator[QdrantClient]:
    with _translated(""):
        client = QdrantClient(path=path)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Waits until nobody else has the folder open, which Qdrant's client would not."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(folder / ".turn", timeout=_WAIT).acquire()
    except Timeout as error:
        raise QdrantOperationError(
            f"The folder of QDRANT_URL has been in use for {_WAIT:.0f} seconds. Try again when that has ended."
        ) from error
    except OSError as error:
        raise QdrantOperationError(f"The folder of QDRANT_URL can't be used ({error.strerror}). Correct it.") from error
    with lock:
        yield


@contextmanager
def _translated(key: str) -> Iterator[None]:
    try:
        yield
    except UnexpectedResponse as error:
        reason = quoted(f"status {error.status_code}: {error.content[:500].decode('utf-8', 'replace')}", key)
        if error.status_code in (401, 403):
            raise QdrantOperationError(f"Qdrant refused the key ({reason}). Check QDRANT_API_KEY.") from None
        kind = NotThere if error.status_code == 404 else QdrantOperationError
        raise kind(f"Qdrant can't do that ({reason}). Check QDRANT_URL, or try again later.") from None
    except (ApiException, QdrantException, OSError, RuntimeError, ValueError) as error:
        reason = quoted(str(getattr(error, "source", error)), key)
        kind = NotThere if isinstance(error, ValueError) and "not found" in reason else QdrantOperationError
        raise kind(f"Qdrant can't be asked ({reason}). Check QDRANT_URL, or try again later.") from None
