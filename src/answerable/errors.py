"""All errors that the engine raises deliberately.

    AnswerableError
    ├── SourceError            a document cannot be read from its source
    │   ├── SourceNotFound     nothing exists at that path
    │   │   └── SitemapNotFoundError   a site has no readable sitemap
    │   ├── UnsupportedSource  no reader for this format, or a binary file
    │   ├── DamagedSource      broken, truncated or hostile
    │   ├── EncryptedSource    a password is required
    │   ├── EmptySource        no text
    │   ├── ReaderFailed       a reader has an error in its code
    │   ├── SourceTooLarge     over a size limit
    │   ├── AddressRefused     a forbidden address, or one that the site's robots.txt excludes
    │   └── SiteUnreachable    a site does not answer, or is overloaded
    ├── LibraryError           an operation on the library failed
    │   ├── LibraryNotFound    no library at that address
    │   ├── LibraryDamaged     its database cannot be read
    │   ├── LibraryFormatError made by another version of the software
    │   ├── LibraryReadOnly    not writable
    │   ├── LibraryBusy        locked by another process
    │   ├── DiskFull           no space on the disk
    │   ├── EmbedderMismatch   its vectors come from another embedder
    │   ├── DocumentNotFound   no document has that id
    │   └── NotFollowed        no followed origin has that name
    ├── EmbeddingError         embedding failed
    ├── ProviderError          a call to a model's provider failed; `retryable`: another try may succeed
    │   ├── ProviderUnreachable    no connection, or a timeout
    │   ├── ProviderOverloaded     too many requests, or a server error
    │   ├── ProviderRefused        the key is missing, wrong or not authorised
    │   ├── ProviderRetired        the service no longer exists
    │   ├── ModelNotFound          the provider has no such model
    │   ├── RequestRejected        the request is invalid, or too long for the model
    │   │   └── ToolsRefused       the server or the model takes no tools
    │   ├── ContentFiltered        the provider's filter blocked the answer
    │   └── MalformedResponse      the response violates the protocol, or was cut off
    ├── WorkerLost             a worker process died
    ├── FilterError            an invalid filter
    ├── PlanError              a computation that the table doesn't allow
    ├── SettingsError          an invalid setting
    └── MissingPackage         an optional package is not installed

Every message says what happened and what to do next.
"""

from __future__ import annotations

import re
import sys
from functools import cache

_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class AnswerableError(Exception):
    """The base class of all errors."""


def error_code(kind: type[AnswerableError]) -> str:
    """Return the code of an error for programs: `DocumentNotFound` → `document_not_found`."""
    return _WORD.sub("_", kind.__name__.removesuffix("Error") or "Error").lower()


class SourceError(AnswerableError):
    """A document cannot be read from its source."""


class SourceNotFound(SourceError):
    """Nothing exists at that path."""


class UnsupportedSource(SourceError):
    """No file reader supports this format."""


class DamagedSource(SourceError):
    """The file is broken, truncated or hostile."""


class EncryptedSource(SourceError):
    """The file requires a password."""


class EmptySource(SourceError):
    """The file has no text."""


class ReaderFailed(SourceError):
    """A file reader has a bug; the file may be valid."""


class SourceTooLarge(SourceError):
    """The file is over a size limit."""


class SitemapNotFoundError(SourceNotFound):
    """The site has no readable sitemap."""


class AddressRefused(SourceError):
    """The address is forbidden, or excluded by the site's robots.txt."""


class SiteUnreachable(SourceError):
    """The site does not answer, or is overloaded. `retry_after`: seconds to wait, if the site says so."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LibraryError(AnswerableError):
    """An operation on the library failed."""


class LibraryNotFound(LibraryError):
    """No library exists at that address."""


class LibraryDamaged(LibraryError):
    """The library's database cannot be read."""


class LibraryFormatError(LibraryError):
    """The library was made by another version of the software."""


class LibraryReadOnly(LibraryError):
    """The library is not writable."""


class LibraryBusy(LibraryError):
    """Another process has locked the library."""


class DiskFull(LibraryError):
    """The disk doesn't have enough free space."""


class EmbedderMismatch(LibraryError):
    """The library's vectors come from another embedder."""


class DocumentNotFound(LibraryError):
    """No document has that id, or several match that name: `candidates` describes them."""

    def __init__(self, message: str, candidates: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.candidates = candidates

    def __str__(self) -> str:
        return " ".join((super().__str__(), ", ".join(self.candidates))).rstrip()


class NotFollowed(LibraryError):
    """The library follows no origin of that name."""


class EmbeddingError(AnswerableError):
    """Embedding failed."""


class WorkerLost(AnswerableError):
    """A worker process died, and so did the processes that retried its work."""


class FilterError(AnswerableError):
    """The filter is invalid."""


class PlanError(AnswerableError):
    """The table can't be computed so. The message says what to give."""


class SettingsError(AnswerableError):
    """A setting is invalid."""


class MissingPackage(AnswerableError):
    """An optional package is not installed. `extra` names the extra of this project to install for it."""

    def __init__(self, message: str, extra: str = "") -> None:
        super().__init__(f"{message}. {how_to_install(extra)}" if extra else message)


class ProviderError(AnswerableError):
    """A call to a model's provider failed. The message never contains a key."""

    retryable = False


class ProviderUnreachable(ProviderError):
    """No connection, or a timeout."""

    retryable = True


class ProviderOverloaded(ProviderError):
    """Too many requests, or a server error. `retry_after`: seconds to wait, if the server says so."""

    retryable = True

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ProviderRefused(ProviderError):
    """The key is missing, wrong or not authorised."""


class ProviderRetired(ProviderError):
    """The service no longer exists."""


class ModelNotFound(ProviderError):
    """The provider has no such model."""


class RequestRejected(ProviderError):
    """The request is invalid, or too long for the model."""


class ToolsRefused(RequestRejected):
    """The server or the model takes no tools."""


class ContentFiltered(ProviderError):
    """The provider's filter blocked the answer."""


class MalformedResponse(ProviderError):
    """The response violates the protocol, or was cut off."""

    retryable = True


@cache
def install_command(extra: str) -> str:
    """Return the command that adds an extra to the environment in which this copy is installed.

    The command is for the folder of the source or the wheel, so it contains no local path and no package index.
    """
    origin, installer = _origin()
    wanted = f"'{origin}[{extra}]'"
    from pathlib import Path

    environment = Path(sys.prefix)
    if (environment / "uv-receipt.toml").is_file():
        return f"uv tool install {wanted}"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx install --force {wanted}"
    if environment.parent.name == "archive-v0":
        # An environment of uvx.
        return f"uvx --from {wanted} answerable"
    return f"{'uv pip' if installer == 'uv' else 'pip'} install {wanted}"


def how_to_install(extra: str) -> str:
    """Return a sentence on how to add an extra."""
    command = install_command(extra)
    folder = "the wheel" if ".whl[" in command else "Answerable's source"
    return f"Run in the folder of {folder}: {command}"


def _origin() -> tuple[str, str]:
    """Return `.` for a source folder or the name of the wheel, and what installed it (PEP 610, PEP 376)."""
    # Import these only if a package is missing: they take longer to import than the rest of the package.
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import unquote, urlsplit

    try:
        found = distribution("answerable")
    except PackageNotFoundError:
        # Run from its source.
        return ".", "pip"
    installer = (found.read_text("INSTALLER") or "pip").strip()
    origin = json.loads(found.read_text("direct_url.json") or "{}")
    if "dir_info" in origin:
        return ".", installer
    name = unquote(urlsplit(origin.get("url", "")).path).rpartition("/")[2]
    return f"./{name if name.endswith('.whl') else f'answerable-{found.version}-py3-none-any.whl'}", installer
