"""The rows of tables and lists of objects: CSV, TSV, JSON and JSON lines."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

from answerable.datatypes import Document, Part
from answerable.tables.delimited import readings
from answerable.tables.grid import MOST_CELLS, WIDEST, Line, make_table
from answerable.tables.table import Table
from answerable.tables.values import Customs

DELIMITED = frozenset({".csv", ".tsv", ".tab"})
"""Suffixes of files whose rows are lines with delimiters."""

_SMALLEST, _LARGEST = 1e-15, 1e15
_DEEPEST = 5


def records_table(document: Document, customs: Customs) -> Table | None:
    """Return the table of a document of records, or None if it has none."""
    if PurePosixPath(document.source.lower()).suffix in DELIMITED or not _is_json(document):
        return _delimited(document, customs)
    return _objects(document, customs)


def _is_json(document: Document) -> bool:
    first = document.parts[0] if document.parts else None
    return first is not None and document.content[first.start : first.start + 1] in ("{", "[")


def _delimited(document: Document, customs: Customs) -> Table | None:
    for found in readings(document.content):
        try:
            return make_table((Line(*row) for row in found), document.title, customs)
        except csv.Error:
            continue
    return None


def _objects(document: Document, customs: Customs) -> Table | None:
    customs = replace(customs, decimal=".")
    read = ((part, _parsed(document.content, part)) for part in document.parts[: MOST_CELLS + 1])
    records = [(part, record) for part, record in read if record]
    names: dict[str, int] = {}
    flat: list[tuple[Part, dict[str, str]]] = []
    for part, record in records:
        if isinstance(record, list):
            continue
        fields = dict(_fields(record))
        flat.append((part, fields))
        for name in fields:
            if len(names) < WIDEST:
                names.setdefault(name, len(names))
    if not flat:
        lists = (Line(part.start, part.end, [_text(each) for each in record]) for part, record in records)
        return make_table(lists, document.title, customs, is_mark_known=True)
    rows = (Line(part.start, part.end, [fields.get(name, "") for name in names]) for part, fields in flat)
    return make_table(rows, document.title, customs, names=list(names), is_mark_known=True)


def _parsed(content: str, part: Part) -> Any:
    try:
        return json.loads(content[part.start : part.end], parse_float=_literal, parse_int=str)
    except (ValueError, RecursionError):
        return None


def _literal(number: str) -> str:
    """Return a number as written, but without an exponent."""
    if "e" not in number.lower() or not _SMALLEST < abs(float(number)) < _LARGEST:
        return number
    return f"{Decimal(number):f}"


def _fields(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of an object; those of an object in it are named "address.city"."""
    for name, value in record.items():
        if isinstance(value, dict) and value:
            yield from ((_text(f"{name}.{inner}"), _text(each)) for inner, each in value.items())
        else:
            yield _text(name), _text(value)


def _text(value: Any, depth: int = 0) -> str:
    if depth == _DEEPEST:
        return "…"
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case list():
            return ", ".join(_text(each, depth + 1) for each in value)
        case dict():
            return ", ".join(f"{_text(name)}: {_text(each, depth + 1)}" for name, each in value.items())
    # An escape such as \ud800 alone denotes no character.
    return str(value).encode("utf-8", "replace").decode()
