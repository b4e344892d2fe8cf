"""What can go wrong, by the names that the specification gives; all are errors of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from answerable.errors import LibraryError, ProviderError, ProviderOverloaded


class OpenAIAPIError(ProviderError):
    """OpenAI's API can't embed or write. `retryable` says whether trying again may help, `retry_after` when."""

    def __init__(self, message: str, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.retry_after = retry_after


class QdrantOperationError(LibraryError):
    """Qdrant can't be asked, refuses, or holds something else than is needed."""


class IngestionStopped(LibraryError):
    """The service ends, and with it the ingestion that was under way."""


@contextmanager
def openai_errors() -> Iterator[None]:
    """Turns what the engine raises about a provider into OpenAIAPIError."""
    try:
        yield
    except ProviderError as error:
        wait = error.retry_after if isinstance(error, ProviderOverloaded) else None
        raise OpenAIAPIError(str(error), error.retryable, wait) from error
