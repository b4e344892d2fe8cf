"""The arguments and options that several commands share, and how to open the library that they name."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

from typer import Argument, Option

from answerable.datatypes import DocumentType
from answerable.errors import LibraryNotFound, SettingsError
from answerable.interfaces.cli.completion import complete_documents, complete_languages, complete_people
from answerable.settings import load_settings

if TYPE_CHECKING:
    from answerable.library import Library

# The value of an option; None if it is not given.
Text = Optional[str]
Texts = Optional[list[str]]

LibraryOption = Annotated[
    Text,
    Option(
        "--library",
        "-l",
        metavar="ADDRESS",
        help="A folder, postgresql://… or qdrant+http://… (default: your user data folder).",
    ),
]
LibrariesOption = Annotated[
    Texts,
    Option(
        "--library",
        "-l",
        metavar="ADDRESS",
        help="A folder, postgresql://… or qdrant+http://… (repeatable: all are asked as one; default: your user data "
        "folder).",
    ),
]
JsonOption = Annotated[bool, Option("--json", help="Print one JSON object.")]
ModelOption = Annotated[
    Text,
    Option("--model", "-m", metavar="MODEL", help="What answers: extractive, openai:NAME, ollama:NAME, cohere:NAME."),
]
PasswordOption = Annotated[Text, Option("--password", metavar="TEXT", help="Password of encrypted PDFs.")]
AllowHostOption = Annotated[
    Texts, Option("--allow-host", metavar="HOST", help="Fetch from this private host too: 127.0.0.1:3000 (repeatable).")
]
ChecksumOption = Annotated[bool, Option("--checksum", help="Read every file, even if its size and time are unchanged.")]
DocumentArgument = Annotated[
    str,
    Argument(
        metavar="DOCUMENT",
        help="Its path, file name, start of its id, or a part of its title.",
        autocompletion=complete_documents,
    ),
]
QuestionArgument = Annotated[
    list[str], Argument(metavar="QUESTION", help="What you want to know. Words without quotes are one question.")
]


def one_text(words: list[str]) -> str:
    """Return the words of a question or quote, typed with or without quotes, as one text.

    Raise SettingsError if one of several is rather a library or a document: the first if it looks like a path, any
    that exists if another word is in quotes.
    """
    if len(words) < 2:
        return "".join(words)
    for at, word in enumerate(words):
        is_beside_quotes = any(map(str.isspace, "".join(words[:at] + words[at + 1 :])))
        is_path = "/" in word or os.sep in word or bool(Path(word).suffix)
        is_place = "://" in word or (os.path.exists(word) and (is_path or is_beside_quotes))
        if is_place and (at == 0 or is_beside_quotes):
            name = shlex.quote(word)
            raise SettingsError(
                f"The word {name} names a place: give a library as --library {name}, a document as --source {name}, or "
                "put quotes around the whole question."
            )
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class FilterOptions:
    """The options that narrow a search; `filters.build_filter` turns them into a filter."""

    sender: Annotated[
        Texts,
        Option(
            "--from",
            metavar="NAME",
            help="Only messages by this person (repeatable).",
            autocompletion=complete_people,
        ),
    ] = None
    since: Annotated[
        Text, Option(metavar="TIME", help="Only from this time on: 2024-03-01, March 2024, yesterday, last month.")
    ] = None
    until: Annotated[Text, Option(metavar="TIME", help="Only up to the end of this day, week, month or year.")] = None
    kind: Annotated[
        Optional[list[DocumentType]],
        Option("--type", metavar="TYPE", help=f"Only {', '.join(DocumentType)} (repeatable)."),
    ] = None
    source: Annotated[
        Texts,
        Option(
            metavar="NAME",
            help="Only this path, site, file name or part of a title (repeatable).",
            autocompletion=complete_documents,
        ),
    ] = None
    language: Annotated[
        Text,
        Option(metavar="CODE", help="Only documents in this language, such as es.", autocompletion=complete_languages),
    ] = None
    where: Annotated[Text, Option(metavar="JSON", help='A filter: {"page": {"gte": 3}}.')] = None


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """The options of `eval` that decide what is measured."""

    questions: Annotated[
        Optional[Path], Option(metavar="FILE", help="Your own questions on a library, CSV or JSON lines.")
    ] = None
    compare: Annotated[
        str,
        Option(
            metavar="NAMES",
            help="Retrievers to compare: dense,bm25,minmax,scaled,scaled+sentences,"
            "scaled+sentences+feedback,hybrid,hybrid+rerank.",
        ),
    ] = ""
    retrieval_only: Annotated[bool, Option("--retrieval-only", help="Measure search only, without answers.")] = False
    sample: Annotated[int, Option(metavar="NUMBER", min=0, help="Random questions per set (0: all).")] = 0
    seed: Annotated[int, Option(metavar="NUMBER", min=0, help="Seed for random choices.")] = 0


def unfold(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of a command by one option per field, as Typer needs."""
    parameters = list(signature(command, eval_str=True).parameters.values())
    groups = {each.name: each for each in parameters if is_dataclass(each.annotation)}
    fields = {
        name: list(signature(group.annotation, eval_str=True).parameters.values()) for name, group in groups.items()
    }
    flat = [field for each in parameters for field in fields.get(each.name, [each])]

    def run(**given: Any) -> None:
        gathered = {
            name: group.annotation(**{field.name: given.pop(field.name) for field in fields[name]})
            for name, group in groups.items()
        }
        command(**gathered, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = signature(run).replace(  # type: ignore[attr-defined]
        parameters=[each.replace(kind=Parameter.KEYWORD_ONLY) for each in flat]
    )
    return run


def open_libraries(addresses: Sequence[str] | None, model: str | None = None, create: bool = False) -> Library:
    """Open the libraries at these addresses as one, to search and ask. Raise LibraryNotFound or SettingsError.

    `create` creates the library if it is only one.
    """
    from answerable.wiring.build import build_library, build_stores

    if addresses is None or len(addresses) < 2:
        return open_library(addresses[0] if addresses else None, model, create)
    settings = load_settings({"model": model})
    return build_library(settings, store=build_stores(settings, addresses))


def open_library(
    address: str | None, model: str | None = None, create: bool = False, **settings: str | None
) -> Library:
    """Open the library at an address, by default the user's own. Raise LibraryNotFound or SettingsError."""
    # Imported where it is used, as in the commands: help and completion do without the engine.
    from answerable.wiring.build import build_library, without_password

    try:
        return build_library(load_settings({"library": address, "model": model, **settings}), create)
    except LibraryNotFound as error:
        if address is None:
            raise
        raise LibraryNotFound(f"{error} --library {shlex.quote(without_password(address))}") from error
