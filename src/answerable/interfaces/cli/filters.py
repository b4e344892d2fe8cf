"""What people filter by, as options of a command or in a chat → a filter of the library."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from answerable.datatypes import DocumentType
from answerable.errors import FilterError
from answerable.filters import comparable, parse_filter
from answerable.library import Library
from answerable.retrieval.document_names import documents_called
from answerable.retrieval.typed_when import days_of, typed_when

Conditions: TypeAlias = Mapping[str, tuple[str, ...]]

KEYS = ("from", "since", "until", "type", "source", "language")
_REPEATABLE = ("from", "type", "source")
_CURLY = str.maketrans("“”„", '"""')


def comes_from(source: str, name: str) -> bool:
    """Whether a source is this file, or lies in this archive. The file itself may be gone."""
    from answerable.disk.names import source_of

    path = source_of(Path(os.path.expanduser(name)))
    return source in (name, path) or source.startswith(f"{path}!/")


def build_filter(
    library: Library,
    sender: Sequence[str] | None,
    since: str | None,
    until: str | None,
    kind: Sequence[DocumentType] | None,
    source: Sequence[str] | None,
    language: str | None,
    where: str | None,
) -> dict[str, Any] | None:
    """The filter that all of them make together; None for none. Raises FilterError."""
    conditions: list[dict[str, Any]] = []
    if sender:
        conditions.append({"sender": list(sender)})
    if since:
        conditions.append({"date": {"gte": _day(since, is_last=False)}})
    if until:
        conditions.append({"date": {"lte": _day(until, is_last=True)}})
    if kind:
        conditions.append({"type": [str(one) for one in kind]})
    if source:
        conditions.append({"source": [found for one in source for found in _sources(library, one)]})
    if language:
        conditions.append({"language": language})
    if where:
        conditions.append(_parse_where(where))
    return {"and": conditions} if conditions else None


def _day(text: str, is_last: bool) -> str:
    """The first or the last day of what is typed; ISO dates and times stay as they are. Raises FilterError."""
    if comparable(text) is not None:
        return text
    period = typed_when(text, datetime.now())
    if period is None:
        raise FilterError(
            f"{text[:80]!r} is no time. Write a day as 2024-03-31, a month as 2024-03 or March 2024, "
            "or yesterday, last week, 3 days ago (hace 3 días, há 3 dias)."
        )
    return days_of(period)[is_last].isoformat()


def _sources(library: Library, name: str) -> list[str]:
    documents = library.documents()
    sources = {document.source for document in documents}
    # Pages below an address are to a site what files are to a folder.
    path = name if "://" in name else os.path.abspath(os.path.expanduser(name))
    folder = path.replace(os.sep, "/").rstrip("/") + "/"
    found = {source for source in sources if comes_from(source, name) or source.startswith(folder)}
    found = found or {document.source for document in documents_called(documents, name)}
    if not found:
        raise FilterError(f"No document comes from {name[:200]!r}. `answerable list` shows where they come from.")
    return sorted(found)


def _parse_where(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FilterError(
            f'The filter is no valid JSON ({error}). Write it as \'{{"page": {{"gte": 3}}}}\'.'
        ) from error
    if not isinstance(parsed, dict):
        raise FilterError('The filter must be a JSON object, such as \'{"type": "pdf"}\'.')
    return parsed


def read_conditions(text: str, current: Conditions) -> Conditions:
    """The conditions after `from=Ana since=2024-03-01`; those not named stay, `from=` takes one away, `none` all."""
    if text.strip().casefold() == "none":
        return {}
    named: dict[str, tuple[str, ...]] = {}
    for word in _split(text):
        key, sign, value = word.partition("=")
        key = key.casefold()
        if not sign or key not in KEYS:
            raise FilterError(
                f'/filter doesn\'t take {word[:80]!r}. Write it as /filter from="Ana Lucía" since=2024-03-01, '
                f"with {', '.join(KEYS)}, or /filter none."
            )
        values = (value,) if value else ()
        named[key] = named.get(key, ()) + values if key in _REPEATABLE else values
    return {key: values for key, values in {**current, **named}.items() if values}


def conditions_filter(library: Library, conditions: Conditions) -> dict[str, Any] | None:
    """The filter that the conditions spell. Raises FilterError."""
    last = {key: values[-1] for key, values in conditions.items()}
    where = build_filter(
        library,
        sender=conditions.get("from"),
        since=last.get("since"),
        until=last.get("until"),
        kind=[_kind(name) for name in conditions.get("type", ())],
        source=conditions.get("source"),
        language=last.get("language"),
        where=None,
    )
    parse_filter(where)
    return where


def spell_conditions(conditions: Conditions) -> str:
    """The conditions as they are typed."""
    pairs = ((key, value) for key, values in conditions.items() for value in values)
    return " ".join(f'{key}="{value}"' if any(map(str.isspace, value)) else f"{key}={value}" for key, value in pairs)


def _split(text: str) -> list[str]:
    # Only double quotes are special: names have apostrophes, paths have backslashes.
    words = shlex.shlex(text.translate(_CURLY), posix=True, punctuation_chars=False)
    words.whitespace_split, words.quotes, words.escape, words.commenters = True, '"', "", ""
    try:
        return list(words)
    except ValueError as error:
        raise FilterError('/filter has a quote that isn\'t closed. Write it as /filter from="Ana Lucía".') from error


def _kind(name: str) -> DocumentType:
    try:
        return DocumentType(name.casefold())
    except ValueError as error:
        raise FilterError(f"There is no type {name[:80]!r}. Use {', '.join(DocumentType)}.") from error
