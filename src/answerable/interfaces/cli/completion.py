"""Complete names of documents, people and languages in the shell.

Completing never prints an error: where the library can't be read, or not in time, nothing is offered.
"""

from __future__ import annotations

import logging
import os
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from answerable.protocols import StoredDocument

COMPLETING = "_ANSWERABLE_COMPLETE"
"""The variable that the shell sets while it completes."""
PATIENCE = 5.0
"""Seconds after which a slow library is given up."""

_UNSAFE_IN_BASH = re.compile(r"([^\w@%+=:,./\-])")


class _Offered(str):
    """A name to offer. Typer would drop what doesn't begin with what is typed, in this case and without quotes."""

    __slots__ = ()

    def startswith(self, *_: Any) -> bool:
        """Return True."""
        return True


def complete_documents(context: typer.Context, incomplete: str) -> list[str]:
    """Return the file names and titles of the library's documents that match what is typed."""
    return _completed(context, incomplete, _document_names)


def complete_people(context: typer.Context, incomplete: str) -> list[str]:
    """Return the people who wrote messages of the library and match what is typed."""
    return _completed(context, incomplete, _people)


def complete_languages(context: typer.Context, incomplete: str) -> list[str]:
    """Return the languages of the library's documents that match what is typed."""
    return _completed(context, incomplete, lambda documents: (each.language for each in documents))


def _completed(
    context: typer.Context, incomplete: str, names_of: Callable[[Sequence[StoredDocument]], Iterable[str]]
) -> list[str]:
    found: list[str] = []

    def read() -> None:
        found.extend(_matching(names_of(_documents(context.params.get("library"))), incomplete))

    def read_quietly() -> None:
        try:
            read()
        except Exception:
            found.clear()

    logging.disable()
    try:
        reading = threading.Thread(target=read_quietly, daemon=True)
        reading.start()
        reading.join(PATIENCE)
    finally:
        logging.disable(logging.NOTSET)
    return [_Offered(_quoted(name)) for name in found]


def _documents(given: str | Sequence[str] | None) -> list[StoredDocument]:
    from answerable.settings import load_settings
    from answerable.wiring.build import build_store, build_stores

    addresses = [given] if isinstance(given, str) else list(given or ())
    settings = load_settings({"library": addresses[0] if addresses else None})
    if len(addresses) > 1:
        store = build_stores(settings, addresses)
    else:
        store = build_store(settings.library_address, False, settings.qdrant_api_key)
    with closing(store):
        return list(store.documents())


def _document_names(documents: Sequence[StoredDocument]) -> list[str]:
    """Return a name for each document: its file's, with folders if others have the same; or a title."""
    names = []
    endings: dict[str, int] = {}
    paths = [_endings(each.source) for each in documents]
    for path in paths:
        for ending in path:
            endings[ending] = endings.get(ending, 0) + 1
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
    """Return the names that begin with what is typed or, if none does, have a word that begins with it; in order."""
    wanted = _bare(incomplete)
    bare = {name: _bare(name) for name in sorted(set(names)) if name.isprintable() and name}
    begin = [name for name, plain in bare.items() if plain.startswith(wanted)]
    return begin or [name for name, plain in bare.items() if re.search(rf"\b{re.escape(wanted)}", plain)]


def _bare(text: str) -> str:
    # Imported here, since the command line loads this module to show its help.
    from answerable.text.terms import fold

    return fold(text.casefold())


def _quoted(name: str) -> str:
    """Return a name as bash is to insert it; other shells quote it themselves."""
    if os.environ.get(COMPLETING) != "complete_bash":
        return name
    words = os.environ.get("COMP_WORDS", "").split("\n")[-1].split(" ")
    is_in_quotes = any(word[:1] in ("'", '"') and word.count(word[0]) == 1 for word in words if word)
    return name if is_in_quotes else _UNSAFE_IN_BASH.sub(r"\\\1", name)
