"""Ask your own documents: every sentence of an answer carries a citation that is verified to stand verbatim."""

from importlib.metadata import version as _version

from answerable.build import open, read
from answerable.datatypes import Answer, Chunk, Citation, Document, DocumentType, Location, Reason, RetrievalResult
from answerable.errors import AnswerableError
from answerable.ingestion import AddReport
from answerable.library import Library

__version__ = _version("answerable")
__all__ = [
    "AddReport",
    "Answer",
    "AnswerableError",
    "Chunk",
    "Citation",
    "Document",
    "DocumentType",
    "Library",
    "Location",
    "Reason",
    "RetrievalResult",
    "open",
    "read",
]
