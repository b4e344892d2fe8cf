"""Every error that the engine raises on purpose, and nothing else.

    AnswerableError
    ├── SourceError            a document can't be had
    │   ├── SourceNotFound     there is nothing at that path
    │   ├── UnsupportedSource  a format that no reader takes, or a binary file
    │   ├── DamagedSource      broken, truncated or hostile
    │   ├── EncryptedSource    it needs a password
    │   ├── EmptySource        it holds no text
    │   └── SourceTooLarge     over a size limit
    ├── LibraryError           the library can't do that
    │   ├── LibraryNotFound    there is no library at that address
    │   ├── LibraryDamaged     its database can't be read
    │   ├── LibraryFormatError another version of the software made it
    │   ├── LibraryReadOnly    it can't be written to
    │   ├── LibraryBusy        another process holds it
    │   ├── EmbedderMismatch   its vectors come from another embedder
    │   └── DocumentNotFound   no document has that id
    ├── EmbeddingError         the texts couldn't be embedded
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


class EmbedderMismatch(LibraryError):
    """The library's vectors come from another embedder."""


class DocumentNotFound(LibraryError):
    """No document has that id."""


class EmbeddingError(AnswerableError):
    """The texts couldn't be embedded."""


class FilterError(AnswerableError):
    """The filter makes no sense."""


class SettingsError(AnswerableError):
    """A setting makes no sense."""


class MissingPackage(AnswerableError):
    """An optional package isn't installed."""
