"""The name of a document as people type it → the documents it may mean."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from answerable.disk.names import source_of
from answerable.errors import DocumentNotFound
from answerable.protocols import Store, StoredDocument
from answerable.text.characters import encodable

_SHOWN = 5
_NOTE = ".md"
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,300})[^\[\]\n]*\]\]")


def resolve(store: Store, name: str) -> str:
    """Return the id of the one document with this name (see `documents_called`), or whose id begins with it.

    Raises DocumentNotFound if there is none or more than one.
    """
    # A name in another encoding reaches Python with lone surrogates, which no stored text has.
    plain = encodable(name)
    found = store.lookup(plain, plain)
    if len(found) != 1:
        documents = list(store.documents())
        beginning = [each for each in documents if name and each.id.startswith(name)]
        found = documents_called(documents, name) or beginning
    if len(found) == 1:
        return found[0].id
    if not found:
        raise DocumentNotFound(
            f"No document has the id, path, file name or title {plain[:200]!r}. `answerable list` shows them."
        )
    shown = ", ".join(f"{each.source or each.title or 'untitled'} ({each.id[:8]})" for each in found[:_SHOWN])
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise DocumentNotFound(
        f"{len(found)} documents are called {plain[:200]!r}: {shown}{more}. Give more of the path, or the id."
    )


def documents_called(documents: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Return the documents with this id or source; without any, with this title; or else whose path ends with it.

    A path may be relative to the working directory. The name of an archive means all of its members. A note in Markdown
    is also called by its name without suffix, by an alias, or by a link to it, `[[Note|shown]]`.
    """
    path = source_of(Path(os.path.expanduser(name)))
    plain = _plain(_in_link(name))
    rules: tuple[Callable[[StoredDocument], bool], ...] = (
        lambda each: name == each.id or each.source in (name, path) or each.source.startswith(f"{path}!/"),
        lambda each: _plain(each.title) == plain,
        lambda each: f"/{plain}" in _with_ends(each.source),
        lambda each: each.source.endswith(_NOTE) and f"/{plain}{_NOTE}" in _with_ends(each.source),
        lambda each: plain in map(_plain, _texts(each.metadata.get("aliases"))),
    )
    if not name:
        return []
    matches = ([each for each in documents if rule(each)] for rule in rules)
    return next(filter(None, matches), [])


def _in_link(name: str) -> str:
    """Return the name of the note in a wiki link; any other name unchanged."""
    found = _LINK.fullmatch(name.strip())
    return found[1].strip().removesuffix(_NOTE) if found else name


def _texts(values: object) -> list[str]:
    return [each for each in values if isinstance(each, str)] if isinstance(values, list | tuple) else []


def _plain(text: str) -> str:
    # Some systems store é in file names as two characters.
    return unicodedata.normalize("NFC", text).casefold()


def _with_ends(source: str) -> set[str]:
    """Return every ending of a path that begins with a slash; for an archive's member, also the archive's endings."""
    ends = set()
    for path in (source, source.partition("!/")[0]):
        steps = _plain(path).replace("\\", "/").strip("/").split("/")
        ends |= {"/" + "/".join(steps[start:]) for start in range(len(steps))}
    return ends
