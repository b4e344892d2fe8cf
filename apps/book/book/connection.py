"""Connections to Qdrant: a server, a folder or this process's memory; and the error for all that goes wrong there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from answerable.errors import MissingPackage
from answerable.providers.calling import quoted
from book import settings
from book.errors import QdrantConnectionError

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_TIMEOUT = 30
_WAIT = 60.0


@dataclass(frozen=True, slots=True)
class Opened:
    """Qdrant's client, and the key that no message may show."""

    client: QdrantClient
    key: str = field(default="", repr=False)

    def asking(self) -> AbstractContextManager[None]:
        """Turns what the client raises into QdrantConnectionError; only calls of it belong inside."""
        return _translated(self.key)


@contextmanager
def open_qdrant() -> Iterator[Opened]:
    """Qdrant where QDRANT_URL says, for one call: afterwards it is another process's turn at a folder.

    Raises SettingsError for a variable that is missing, MissingPackage without Qdrant's client, QdrantConnectionError.
    """
    address = settings.qdrant()
    try:
        import qdrant_client  # noqa: F401
    except ImportError as error:
        raise MissingPackage("Qdrant needs the package qdrant-client", "book") from error
    if address.folder:
        with _turn(Path(address.folder)), _opened(path=address.folder) as client:
            yield Opened(client)
    elif address.url:
        headers = {"api-key": address.api_key}
        with _opened(url=address.url, headers=headers, timeout=_TIMEOUT, check_compatibility=False) as client:
            yield Opened(client, address.api_key)
    else:
        yield Opened(_memory())


@cache
def _memory() -> QdrantClient:
    """What this process keeps in memory, the same for every call."""
    from qdrant_client import QdrantClient

    return QdrantClient(location=":memory:")


@contextmanager
def _opened(**options: Any) -> Iterator[QdrantClient]:
    from qdrant_client import QdrantClient

    with _translated(""):
        client = QdrantClient(**options)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def _turn(folder: Path) -> Iterator[None]:
    """Waits until no other process has the folder open.

    Qdrant's client would not wait, and reads a folder before it locks it: it would miss what is written in between.
    """
    from filelock import FileLock, Timeout

    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        lock = FileLock(folder / ".turn", timeout=_WAIT).acquire()
    except Timeout as error:
        raise QdrantConnectionError(
            f"{folder} has been in use by another process for {_WAIT:.0f} seconds: wait until it has ended"
        ) from error
    except OSError as error:
        raise QdrantConnectionError(f"{folder} can't be used ({error}). Correct QDRANT_URL.") from error
    with lock:
        yield


@contextmanager
def _translated(key: str) -> Iterator[None]:
    """Turns what Qdrant's client raises into our error, without the key; only calls of the client stand inside."""
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ApiException, UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        reason = quoted(f"status {error.status_code}: {error.content[:500].decode('utf-8', 'replace')}", key)
        if error.status_code in (401, 403):
            raise QdrantConnectionError(f"Qdrant refused the key ({reason}). Check QDRANT_API_KEY.") from None
        raise QdrantConnectionError(f"Qdrant can't do that ({reason}). Check QDRANT_URL, or try again later.") from None
    except (ApiException, QdrantException, OSError, RuntimeError, ValueError) as error:
        reason = quoted(str(getattr(error, "source", error)), key)
        raise QdrantConnectionError(f"Qdrant can't be asked ({reason}). Check QDRANT_URL.") from None
