"""Every error that the engine raises on purpose, and nothing else.

    AnswerableError
    ├── SourceError            a document can't be had
    │   ├── SourceNotFound     there is nothing at that path
    │   │   └── SitemapNotFoundError   a site has no sitemap, or none that can be read
    │   ├── UnsupportedSource  a format that no reader takes, or a binary file
    │   ├── DamagedSource      broken, truncated or hostile
    │   ├── EncryptedSource    it needs a password
    │   ├── EmptySource        it holds no text
    │   ├── SourceTooLarge     over a size limit
    │   ├── AddressRefused     an address that may not be asked, or that a site asks not to fetch
    │   └── SiteUnreachable    a site gives no answer, or none now
    ├── LibraryError           the library can't do that
    │   ├── LibraryNotFound    there is no library at that address
    │   ├── LibraryDamaged     its database can't be read
    │   ├── LibraryFormatError another version of the software made it
    │   ├── LibraryReadOnly    it can't be written to
    │   ├── LibraryBusy        another process holds it
    │   ├── DiskFull           the disk has no room
    │   ├── EmbedderMismatch   its vectors come from another embedder
    │   ├── DocumentNotFound   no document has that id
    │   └── NotFollowed        it doesn't follow what is called so
    ├── EmbeddingError         the texts couldn't be embedded
    ├── ProviderError          a model's provider couldn't do it; `retryable` says whether trying again may help
    │   ├── ProviderUnreachable    no connection, or no answer in time
    │   ├── ProviderOverloaded     too many requests, or a fault of the server's
    │   ├── ProviderRefused        the key is missing, wrong, or may not do this
    │   ├── ProviderRetired        the service no longer exists
    │   ├── ModelNotFound          the provider has no such model
    │   ├── RequestRejected        the request makes no sense to the provider, or is too long for the model
    │   ├── ContentFiltered        the provider's filter stopped the answer
    │   └── MalformedResponse      the response isn't what the protocol says, or was cut off
    ├── WorkerLost             a process that did a part of the work died
    ├── FilterError            a filter that makes no sense
    ├── SettingsError          a setting that makes no sense
    └── MissingPackage         an optional package isn't installed

Every message says what happened and what to do next.
"""

from __future__ import annotations


class AnswerableError(Exception):
    """The root of the tree."""


class SourceError(AnswerableError):
    """A document can't be had from its source."""


class SourceNotFound(SourceError):
    """There is nothing at that path."""


class UnsupportedSource(SourceError):
    """No reader takes this format."""


class DamagedSource(SourceError):
    """The file is broken, truncated or hostile."""


class EncryptedSource(SourceError):
    """The file needs a password."""


class EmptySource(SourceError):
    """The file holds no text."""


class SourceTooLarge(SourceError):
    """The file is over a size limit."""


class SitemapNotFoundError(SourceNotFound):
    """The site has no sitemap, or none that can be read."""


class AddressRefused(SourceError):
    """The address may not be asked, or its site asks not to fetch it."""


class SiteUnreachable(SourceError):
    """The site gives no answer, or none now. `retry_after` are the seconds that it asks to wait, if it does."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LibraryError(AnswerableError):
    """The library can't do what was asked."""


class LibraryNotFound(LibraryError):
    """There is no library at that address."""


class LibraryDamaged(LibraryError):
    """The library's database can't be read."""


class LibraryFormatError(LibraryError):
    """The library was made by another version of the software."""


class LibraryReadOnly(LibraryError):
    """The library can't be written to."""


class LibraryBusy(LibraryError):
    """Another process holds the library."""


class DiskFull(LibraryError):
    """The disk has no room for what was to be written."""


class EmbedderMismatch(LibraryError):
    """The library's vectors come from another embedder."""


class DocumentNotFound(LibraryError):
    """No document has that id."""


class NotFollowed(LibraryError):
    """The library doesn't follow anything that is called so."""


class EmbeddingError(AnswerableError):
    """The texts couldn't be embedded."""


class WorkerLost(AnswerableError):
    """A process that did a part of the work died, and so did the ones that tried again."""


class FilterError(AnswerableError):
    """The filter makes no sense."""


class SettingsError(AnswerableError):
    """A setting makes no sense."""


class MissingPackage(AnswerableError):
    """An optional package isn't installed. `extra` is the extra of this project that brings it."""

    def __init__(self, message: str, extra: str = "") -> None:
        super().__init__(f"{message}. {how_to_install(extra)}" if extra else message)


def how_to_install(extra: str) -> str:
    """What to run for an extra: the project's name is on no package index, so it is installed from its folder."""
    return f"Run in the folder of Answerable's source: pip install '.[{extra}]'"


class ProviderError(AnswerableError):
    """A model's provider couldn't do what was asked. Never holds a key."""

    retryable = False


class ProviderUnreachable(ProviderError):
    """There is no connection, or no answer in time."""

    retryable = True


class ProviderOverloaded(ProviderError):
    """Too many requests, or a fault of the server's. `retry_after` are the seconds that it asks to wait, if it does."""

    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderRefused(ProviderError):
    """The key is missing, wrong, or may not do this."""


class ProviderRetired(ProviderError):
    """The service no longer exists."""


class ModelNotFound(ProviderError):
    """The provider has no such model."""


class RequestRejected(ProviderError):
    """The request makes no sense to the provider, or is too long for the model."""


class ContentFiltered(ProviderError):
    """The provider's filter stopped the answer."""


class MalformedResponse(ProviderError):
    """The response isn't what the protocol says, or was cut off."""

    retryable = True
