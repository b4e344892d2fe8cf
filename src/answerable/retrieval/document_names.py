"""Find the documents that a name may mean, as people type it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path

from answerable.datatypes import DocumentType
from answerable.disk.files import expanded, source_of
from answerable.errors import DocumentNotFound
from answerable.formats.locate import shown_source
from answerable.protocols import Store, StoredDocument
from answerable.text.characters import encodable
from answerable.text.terms import fold

_SHOWN = 8  # documents listed in an error message, a few lines: a guess, not measured
_SHORTEST = 3  # characters of a name; shorter ones begin too many words: a guess, not measured
_NOTE = ".md"
_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,300})[^\[\]\n]*\]\]")


def resolve(store: Store, name: str) -> str:
    """Return the id of the one document with this name (see `documents_called`), or whose id begins with it.

    Otherwise the name may be part of a title or file name. Raise DocumentNotFound if it means no document or several.
    """
    # A name typed in another encoding reaches Python with lone surrogates, which no stored text contains.
    plain = encodable(name)
    found = store.lookup(plain, plain)
    if len(found) != 1:
        documents = list(store.documents())
        beginning = [each for each in documents if name and each.id.startswith(name)]
        found = documents_called(documents, name) or beginning or documents_like(documents, name)
    if len(found) == 1:
        return found[0].id
    if not found:
        raise DocumentNotFound(
            f"No document has the id, path, file name or title {plain[:200]!r}. `answerable list` shows them."
        )
    raise ambiguous(name, found)


def ambiguous(name: str, found: Sequence[StoredDocument]) -> DocumentNotFound:
    """Return the error for a name that means several documents; the error lists them."""
    more = [f"… and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    return DocumentNotFound(
        f"{len(found)} documents match {encodable(name)[:200]!r}. Give more of the name or path, or the id:",
        (*map(_described, found[:_SHOWN]), *more),
    )


def _described(document: StoredDocument) -> str:
    source = shown_source(document)
    title = document.title if _plain(document.title) not in _plain(source) else ""
    return "  ".join(filter(None, (document.id[:8], title, day_sent(document), source))) or "untitled"


def day_sent(document: StoredDocument) -> str:
    """Return the day an e-mail was sent, since many e-mails share a subject; "" for other documents."""
    return str(document.metadata.get("first_day", "")) if document.type == DocumentType.MAIL else ""


def documents_called(documents: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Return the documents with this id or source; else with this title; else whose path ends with the name.

    A path may be relative to the working directory. The name of an archive means all of its members. A Markdown note
    can also be named by its file name without suffix, by an alias, or by a link to it, `[[Note|shown]]`.
    """
    path = source_of(Path(expanded(name)))
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


def documents_like(documents: Sequence[StoredDocument], name: str) -> list[StoredDocument]:
    """Return the documents whose title or file name has a word that begins with this name; else has all its words.

    Case and accents don't matter. A name of fewer than three characters means no document.
    """
    wanted = _bare(name)
    if len(wanted) < _SHORTEST:
        return []
    names = [_bare(f"{each.title}\n{each.source.replace(chr(92), '/').rpartition('/')[2]}") for each in documents]
    for parts in ([wanted], wanted.split()):
        patterns = [re.compile(rf"(?<!\w){re.escape(part)}") for part in parts]
        found = [
            document
            for document, own in zip(documents, names, strict=True)
            if all(pattern.search(own) for pattern in patterns)
        ]
        if found:
            return found
    return []


def _bare(text: str) -> str:
    return fold(" ".join(encodable(text).split()).casefold())


def _in_link(name: str) -> str:
    """Return the name of the note in a wiki link; any other name unchanged."""
    found = _LINK.fullmatch(name.strip())
    return found[1].strip().removesuffix(_NOTE) if found else name


def _texts(values: object) -> list[str]:
    return [each for each in values if isinstance(each, str)] if isinstance(values, list | tuple) else []


def _plain(text: str) -> str:
    # Some systems store é in file names as two code points.
    return unicodedata.normalize("NFC", text).casefold()


def _with_ends(source: str) -> set[str]:
    """Return every suffix of a path from a slash on; for an archive member, also those of the archive's path."""
    ends = set()
    for path in (source, source.partition("!/")[0]):
        steps = _plain(path).replace("\\", "/").strip("/").split("/")
        ends |= {"/" + "/".join(steps[start:]) for start in range(len(steps))}
    return ends


def no_document(document_id: str) -> DocumentNotFound:
    """Return the error for an id that no document has."""
    return DocumentNotFound(f"No document has the id {document_id!r}. `answerable list` shows them.")
