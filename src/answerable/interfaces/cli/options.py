"""The arguments and options that several commands take, and the library that they name."""

from __future__ import annotations

import shlex
from typing import Annotated, Optional

import typer

from answerable.datatypes import DocumentType
from answerable.errors import LibraryNotFound
from answerable.library import Library
from answerable.settings import load_settings
from answerable.wiring.build import build_library, without_password

LibraryOption = Annotated[
    Optional[str],
    typer.Option(
        "--library",
        "-l",
        metavar="ADDRESS",
        help="A folder, postgresql://… or qdrant+http://… (default: a folder among your data).",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SenderOption = Annotated[
    Optional[list[str]], typer.Option("--from", metavar="NAME", help="Only what this person wrote (repeatable).")
]
SinceOption = Annotated[
    Optional[str],
    typer.Option(metavar="TIME", help="Only from then on: 2024-03-01, March 2024 or yesterday."),
]
UntilOption = Annotated[
    Optional[str], typer.Option(metavar="TIME", help="Only up to then, that day, week, month or year included.")
]
TypeOption = Annotated[
    Optional[list[DocumentType]],
    typer.Option("--type", metavar="TYPE", help=f"Only {', '.join(DocumentType)} (repeatable)."),
]
SourceOption = Annotated[
    Optional[list[str]], typer.Option(metavar="PATH", help="Only this file, archive, folder or site (repeatable).")
]
LanguageOption = Annotated[Optional[str], typer.Option(metavar="CODE", help="Only documents in this language, as es.")]
WhereOption = Annotated[Optional[str], typer.Option(metavar="JSON", help='A filter: {"page": {"gte": 3}}.')]
ModelOption = Annotated[
    Optional[str],
    typer.Option(
        "--model", "-m", metavar="MODEL", help="What answers: extractive, openai:NAME, ollama:NAME, cohere:NAME."
    ),
]
DocumentArgument = Annotated[
    str, typer.Argument(metavar="DOCUMENT", help="Its id, path, file name or title, or the beginning of its id.")
]

RemovedArgument = Annotated[
    str,
    typer.Argument(
        metavar="DOCUMENT",
        help="Its id, path, file name or title, or the beginning of its id; or a folder or site that was added.",
    ),
]


def open_library(
    address: str | None, model: str | None = None, create: bool = False, **settings: str | None
) -> Library:
    """The library at an address, or the user's own. Raises LibraryNotFound and SettingsError."""
    try:
        return build_library(load_settings({"library": address, "model": model, **settings}), create)
    except LibraryNotFound as error:
        if address is None:
            raise
        raise LibraryNotFound(f"{error} --library {shlex.quote(without_password(address))}") from error
