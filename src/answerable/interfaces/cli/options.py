"""The arguments and options that several commands share, their completion, and the opening of the library they name.

Completion never prints an error: if the library can't be read in time, it offers nothing.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, is_dataclass
from functools import cache
from inspect import Parameter, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer
from typer import Argument, Option

from answerable.datatypes import DocumentType
from answerable.errors import LibraryNotFound, SettingsError
from answerable.settings import load_settings

if TYPE_CHECKING:
    from answerable.library import Library
    from answerable.protocols import StoredDocument

COMPLETING = "_ANSWERABLE_COMPLETE"
"""The environment variable that the shell sets while it completes a command."""
PATIENCE = 5.0
"""Seconds after which completion stops waiting for a slow library."""

_UNSAFE_IN_BASH = re.compile(r"([^\w@%+=:,./\-])")


class _Offered(str):
    """A name to offer, which Typer keeps even if it doesn't begin with the typed text (other case, or quoted)."""

    __slots__ = ()

    def startswith(self, *_: Any) -> bool:
        """Return True."""
        return True


def complete_documents(context: typer.Context, incomplete: str) -> list[str]:
    """Return the file names and titles of the library's documents that match the typed text."""
    return _completed(context, incomplete, _document_names)


def complete_people(context: typer.Context, incomplete: str) -> list[str]:
    """Return the people who wrote messages in the library and whose names match the typed text."""
    return _completed(context, incomplete, _people)


def complete_languages(context: typer.Context, incomplete: str) -> list[str]:
    """Return the languages of the library's documents that match the typed text."""
    return _completed(context, incomplete, lambda documents: (each.language for each in documents))


def _completed(
    context: typer.Context, incomplete: str, names_of: Callable[[Sequence[StoredDocument]], Iterable[str]]
) -> list[str]:
    found: list[str] = []

    def read() -> None:
        with suppress(Exception):
            found.extend(_matching(names_of(_documents(context.params.get("library"))), incomplete))

    logging.disable()
    try:
        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        reading.join(PATIENCE)
    finally:
        logging.disable(logging.NOTSET)
    return [_Offered(_quoted(name)) for name in found]


def _documents(given: str | Sequence[str] | None) -> list[StoredDocument]:
    from answerable.wiring.stores import build_federation, build_store

    addresses = [given] if isinstance(given, str) else list(given or ())
    settings = load_settings({"library": addresses[0] if addresses else None})
    if len(addresses) > 1:
        store = build_federation(addresses, settings.qdrant_api_key, settings.library_timeout)
    else:
        store = build_store(settings.library_address, False, settings.qdrant_api_key)
    with closing(store):
        return list(store.documents())


def _document_names(documents: Sequence[StoredDocument]) -> list[str]:
    """Return a name for each document: its file's name, with folders if others have the same name; or its title."""
    names = []
    paths = [_endings(each.source) for each in documents]
    endings = Counter(ending for path in paths for ending in path)
    for document, path in zip(documents, paths, strict=True):
        has_title = "://" in document.source or not document.source or document.type == "mail"
        ending = next((each for each in path if endings[each] == 1), document.source)
        names.append(document.title or document.id if has_title else ending)
    return names


def _endings(source: str) -> list[str]:
    steps = source.replace("\\", "/").strip("/").split("/")
    return ["/".join(steps[start:]) for start in reversed(range(len(steps)))]


def _people(documents: Sequence[StoredDocument]) -> Iterable[str]:
    return (person for each in documents for person in each.metadata.get("participants", ()))


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    """Return, in order, the names that begin with the typed text or, if none does, have a word that begins with it."""
    wanted = _bare(incomplete)
    bare = {name: _bare(name) for name in sorted(set(names)) if name.isprintable() and name}
    begin = [name for name, plain in bare.items() if plain.startswith(wanted)]
    return begin or [name for name, plain in bare.items() if re.search(rf"\b{re.escape(wanted)}", plain)]


def _bare(text: str) -> str:
    # Imported here, since `answerable --help` imports this module.
    from answerable.text.terms import fold

    return fold(text.casefold())


def _quoted(name: str) -> str:
    """Return a name in the form that bash inserts, with quotes if needed; other shells add quotes themselves."""
    if os.environ.get(COMPLETING) != "complete_bash":
        return name
    words = os.environ.get("COMP_WORDS", "").split("\n")[-1].split(" ")
    is_in_quotes = any(word[:1] in ("'", '"') and word.count(word[0]) == 1 for word in words if word)
    return name if is_in_quotes else _UNSAFE_IN_BASH.sub(r"\\\1", name)


# The value of an option; None if the user doesn't give the option.
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

    Raise SettingsError if one of several words seems to name a library or a document: the first word if it looks like
    a path, or any word that is an existing path if another word is in quotes.
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
        list[DocumentType] | None,
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
        Path | None, Option(metavar="FILE", help="Your own questions on a library, CSV or JSON lines.")
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


def examples(command: str) -> str:
    """Return the examples that end the help of `answerable COMMAND`, from examples.txt."""
    lines = [line for line in _example_lines() if f"{line} ".startswith(f"answerable {command} ")]
    # \b keeps Typer from wrapping the paragraph.
    return "\n".join(("\b", "Examples:", *(f"  {line}" for line in lines)))


@cache
def _example_lines() -> tuple[str, ...]:
    return tuple(Path(__file__).with_name("examples.txt").read_text("utf-8").splitlines())


def open_libraries(addresses: Sequence[str] | None, model: str | None = None, create: bool = False) -> Library:
    """Open the libraries at these addresses as one, to search and ask. Raise LibraryNotFound or SettingsError.

    `create` creates a missing library if there is only one address.
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
    # Imported here, as in the commands, so that help and completion don't load the engine.
    from answerable.wiring.build import build_library
    from answerable.wiring.stores import without_password

    try:
        return build_library(load_settings({"library": address, "model": model, **settings}), create)
    except LibraryNotFound as error:
        if address is None:
            raise
        raise LibraryNotFound(f"{error} --library {shlex.quote(without_password(address))}") from error
