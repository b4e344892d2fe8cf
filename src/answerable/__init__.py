"""Ask your own documents: every sentence of an answer has a citation, verified verbatim."""

import typing

__all__ = [
    "AddReport",
    "Answer",
    "AnswerableError",
    "AsyncLibrary",
    "Chunk",
    "Citation",
    "Document",
    "DocumentType",
    "Library",
    "Location",
    "Reason",
    "RetrievalResult",
    "aopen",
    "open",
    "read",
]

if typing.TYPE_CHECKING:
    from answerable.async_library import AsyncLibrary, aopen
    from answerable.datatypes import (
        Answer,
        Chunk,
        Citation,
        Document,
        DocumentType,
        Location,
        Reason,
        RetrievalResult,
    )
    from answerable.errors import AnswerableError
    from answerable.indexing.reports import AddReport
    from answerable.library import Library
    from answerable.wiring.build import open, read

    __version__: str
else:
    # Loaded on first use (PEP 562), so that importing the package is fast.
    _MODULES = dict.fromkeys(__all__, "datatypes") | {
        "AddReport": "indexing.reports",
        "AnswerableError": "errors",
        "AsyncLibrary": "async_library",
        "Library": "library",
        "aopen": "async_library",
        "open": "wiring.build",
        "read": "wiring.build",
    }

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            value = version("answerable")
        elif name in _MODULES:
            from importlib import import_module

            value = getattr(import_module(f"answerable.{_MODULES[name]}"), name)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return [*__all__, "__version__"]
