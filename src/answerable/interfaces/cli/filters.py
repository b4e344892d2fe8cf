"""Convert filters that people type, as options of a command or in a chat, to a filter of the library."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, TypeAlias

from answerable.datatypes import DocumentType
from answerable.disk.files import expanded, source_of
from answerable.errors import FilterError
from answerable.filters import comparable, parse_filter
from answerable.interfaces.cli.options import FilterOptions
from answerable.library import Library
from answerable.retrieval.document_names import ambiguous, documents_called, documents_like
from answerable.retrieval.times import days_of, typed_when

Conditions: TypeAlias = Mapping[str, tuple[str, ...]]

KEYS = ("from", "since", "until", "type", "source", "language")
_REPEATABLE = ("from", "type", "source")
_CURLY = str.maketrans("“”„", '"""')


def build_filter(library: Library, given: FilterOptions) -> dict[str, Any] | None:
    """Combine the options into one filter; None if no option is set. Raise FilterError."""
    conditions: list[dict[str, Any]] = []
    if given.sender:
        conditions.append({"sender": list(given.sender)})
    if given.since:
        conditions.append({"date": {"gte": _day(given.since, is_last=False)}})
    if given.until:
        conditions.append({"date": {"lte": _day(given.until, is_last=True)}})
    if given.kind:
        conditions.append({"type": [str(kind) for kind in given.kind]})
    if given.source:
        conditions.append({"source": [found for name in given.source for found in _sources(library, name)]})
    if given.language:
        conditions.append({"language": given.language})
    if given.where:
        conditions.append(_parse_where(given.where))
    return {"and": conditions} if conditions else None


def _day(text: str, is_last: bool) -> str:
    """Return the first or last day of a typed period; ISO dates and times are returned unchanged.

    Raise FilterError.
    """
    if comparable(text) is not None:
        return text
    period = typed_when(text, datetime.now())
    if period is None:
        raise FilterError(
            f"{text[:80]!r} is not a date. Write a day as 2024-03-31, a month as 2024-03 or March 2024, "
            "or yesterday, last week, 3 days ago (hace 3 días, há 3 dias)."
        )
    return days_of(period)[is_last].isoformat()


def _sources(library: Library, name: str) -> list[str]:
    """Return the sources that a name selects: a path or URL with all below it, an archive, a name or part of a title.

    Raise FilterError if there is none, and DocumentNotFound if the name means several files or pages.
    """
    documents = library.documents()
    sources = {document.source for document in documents}
    path = name if "://" in name else os.path.abspath(expanded(name))
    below = path.replace(os.sep, "/").rstrip("/") + "/"
    file = source_of(Path(expanded(name)))
    found = {source for source in sources if source in (name, file) or source.startswith((f"{file}!/", below))}
    if not found:
        called = documents_called(documents, name) or documents_like(documents, name)
        found = {document.source for document in called}
        if len({source.partition("!/")[0] for source in found}) > 1:
            raise ambiguous(name, called)
    if not found:
        raise FilterError(f"No document comes from {name[:200]!r}. `answerable list` shows all sources.")
    return sorted(found)


def _parse_where(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FilterError(
            f'The filter is not valid JSON ({error}). Write it as \'{{"page": {{"gte": 3}}}}\'.'
        ) from error
    if not isinstance(parsed, dict):
        raise FilterError('The filter must be a JSON object, such as \'{"type": "pdf"}\'.')
    return parsed


def read_conditions(text: str, current: Conditions) -> Conditions:
    """Return the current conditions with the typed changes, such as `from=Ana since=2024-03-01`.

    `from=` removes a condition, `none` removes all.
    """
    if text.strip().casefold() == "none":
        return {}
    named: dict[str, tuple[str, ...]] = {}
    for word in _split(text):
        key, sign, value = word.partition("=")
        key = key.casefold()
        if not sign or key not in KEYS:
            raise FilterError(
                f'/filter doesn\'t accept {word[:80]!r}. Write it as /filter from="Ana Lucía" since=2024-03-01, '
                f"with {', '.join(KEYS)}, or /filter none."
            )
        values = (value,) if value else ()
        named[key] = named.get(key, ()) + values if key in _REPEATABLE else values
    return {key: values for key, values in {**current, **named}.items() if values}


def conditions_filter(library: Library, conditions: Conditions) -> dict[str, Any] | None:
    """Return the library's filter for the conditions typed in a chat. Raise FilterError."""
    last = {key: values[-1] for key, values in conditions.items()}
    given = FilterOptions(
        sender=list(conditions.get("from", ())),
        since=last.get("since"),
        until=last.get("until"),
        kind=[_kind(name) for name in conditions.get("type", ())],
        source=list(conditions.get("source", ())),
        language=last.get("language"),
    )
    where = build_filter(library, given)
    parse_filter(where)
    return where


def spell_conditions(conditions: Conditions) -> str:
    """Return the conditions as text, in the form in which a user types them."""
    pairs = ((key, value) for key, values in conditions.items() for value in values)
    return " ".join(f'{key}="{value}"' if any(map(str.isspace, value)) else f"{key}={value}" for key, value in pairs)


def _split(text: str) -> list[str]:
    # Only double quotes are special, since names contain apostrophes and paths contain backslashes.
    words = shlex.shlex(text.translate(_CURLY), posix=True, punctuation_chars=False)
    words.whitespace_split, words.quotes, words.escape, words.commenters = True, '"', "", ""
    try:
        return list(words)
    except ValueError as error:
        raise FilterError('/filter has an unclosed quote. Write it as /filter from="Ana Lucía".') from error


def _kind(name: str) -> DocumentType:
    try:
        return DocumentType(name.casefold())
    except ValueError as error:
        raise FilterError(f"There is no type {name[:80]!r}. Use {', '.join(DocumentType)}.") from error
