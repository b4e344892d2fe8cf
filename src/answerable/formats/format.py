"""A format is one object, in the file of its reader function or in a plug-in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from importlib import import_module
from typing import Any

from answerable.datatypes import Document, DocumentType

Reader = Callable[..., "Document | list[Document]"]


class Places(Enum):
    """What citations of a format name, and where their links open. The parts provide all places but lines."""

    LINES = "lines of the file, whose text is the content; links open there"
    ROWS = "lines of the file, which browsers download"
    PAGES = "pages; links open there"
    WORDS = "headings of a web page; links mark the words"
    MESSAGES = "messages; links open at those that have an anchor"
    SECONDS = "seconds of a recording; links play from there"
    PARTS = "headings, slides, cells, entries or times; links open the file"


WITH_LINES = frozenset({Places.LINES, Places.ROWS, Places.PAGES})
"""The places whose citations have lines of the content. PDFs have lines only in older libraries, never shown."""


class Split(Enum):
    """Where a document is cut into passages."""

    PARAGRAPHS = "between paragraphs"
    HEADINGS = "where its parts begin with a heading"
    PAGES = "where its parts begin with a heading; sections may go on across pages"
    MARKUP = "where its parts begin with a heading; what no part covers is left out"
    MESSAGES = "between messages"
    SYMBOLS = "between functions and classes"
    ROWS = "between rows or entries"
    SHEETS = "between rows, below the names of their columns"


class Markdown(Enum):
    """Which of Markdown's marks the content has; quotes are shown without these marks."""

    NONE = "none"
    LINES = "of headings and quotations"
    ALL = "all"


class Names(Enum):
    """The file names for which `marks` decides whether a file has the format."""

    OWN = "with a suffix of this format"
    FREE = "with a suffix of this format, or of none"
    ANY = "all"


class Cost(Enum):
    """What the time and memory for reading a file depend on; see `ReadLimits`."""

    SIZE = "its size"
    PACKED = "its size, unpacked"
    PICTURE = "OCR"
    PDF = "the pages of a PDF"
    SOUND = "the length of a recording"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of files.

    `read(data, source, context)` returns the document or documents in a file's bytes, whose source is this one or a
    place within it (`source#3`); `context` is a `ReadContext`. It raises SourceError. Import large modules within the
    function. A format whose files contain others has `read_members(file, source, read_member, context)` instead. This
    returns the documents of all members of a file, given as path or bytes, and adds unreadable members to
    `context.skipped`. `read_member` is a `sources.archives.members.ReadMember`.

    `suffixes` are in lower case and begin with a full stop. `marks(head, suffix)` decides whether the first bytes of a
    file are of this format; it is called for the files that `marks_decide` names, and with `needs_marks` a suffix alone
    is not enough. A binary format accepts files with its suffix even if the first bytes don't match, since its reader
    reports best what is wrong. `packed` identifies documents that are zip archives, by a member's name or by the
    content of the member `mimetype`.

    `media_types` are the media types with which web servers send such files, each with the suffix of such a file.

    `kind` is the type of the documents, None for archives. If another format has the same type, the documents carry
    their format's name in `metadata["format"]`, so that they are cited correctly when they come from a store.
    """

    name: str
    suffixes: tuple[str, ...] = ()
    read: Reader | None = None
    read_members: Callable[..., list[Document]] | None = None
    kind: DocumentType | None = DocumentType.TEXT
    places: Places = Places.PARTS
    split: Split = Split.PARAGRAPHS
    markdown: Markdown = Markdown.NONE
    media_types: Mapping[str, str] = field(default_factory=dict)
    marks: Callable[[bytes, str], bool] | None = None
    marks_decide: Names = Names.OWN
    needs_marks: bool = False
    is_binary: bool = False
    packed: str = ""
    cost: Cost = Cost.SIZE

    @property
    def is_page(self) -> bool:
        """Whether browsers show files of this format as a page: web pages, plain text and code."""
        is_text = self.places is Places.LINES and self.split in (Split.PARAGRAPHS, Split.SYMBOLS)
        return self.places is Places.WORDS or is_text

    @property
    def is_archive(self) -> bool:
        """Whether files of this format only contain other files."""
        return self.kind is None


def later(path: str) -> Callable[..., Any]:
    """Return a function that imports `package.module` when it is first called, for the path `package.module:name`."""

    def call(*arguments: Any) -> Any:
        module, _, name = path.partition(":")
        return getattr(import_module(module), name)(*arguments)

    return call


def of_text(path: str) -> Reader:
    """Return a format's reader; `path` (see `later`) is of a function of the file's decoded text and its source."""
    read, decode = later(path), later("answerable.sources.text:decode")
    return lambda data, source, context: read(decode(data, source), source)
