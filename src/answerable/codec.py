"""Convert datatypes to JSON values and back, for rows of the stores, exports, other processes, and machine output.

A dataclass becomes an object with its fields in order; fields that have their default are left out. Data to decode is
untrusted: `made` checks that every value has the type of its field.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from answerable.datatypes import Part, PartKind

Made = TypeVar("Made")

# Levels of nesting: no real data is nested deeper, and Python's recursion limit depends on the current call stack.
DEPTH = 100
_KINDS = {kind.value: kind for kind in PartKind}
_NONE = (None, None, None, None, None)


def to_json(value: Any) -> str:
    """Return compact JSON; of the types that JSON lacks, sets become lists, dates ISO strings, and others strings."""
    return _ENCODER.encode(value)


def to_line(value: Any) -> bytes:
    """Return a dataclass or mapping as a line of JSON in UTF-8; nested dataclasses become objects as well."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_object)
    return f"{text}\n".encode()


def named(value: Any) -> dict[str, Any]:
    """Return a dataclass as a dictionary, without the fields that have their default value."""
    found = ((field, getattr(value, field.name)) for field in fields(value))
    return {field.name: inner for field, inner in found if inner != _default(field)}


def from_json(text: bytes) -> dict[str, Any]:
    """Parse a JSON object. Raises ValueError for anything else."""
    try:
        value = json.loads(text.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it isn't a JSON object")
    _check_texts(value, DEPTH)
    return value


def made(kind: type[Made], value: Any) -> Made:
    """Build a dataclass from JSON values. Raises ValueError that names the invalid field."""
    return cast(Made, _made(kind, value, kind.__name__))


def part_to_row(part: Part) -> list[Any]:
    """Return the fields of a part in order, without the last ones if empty, since rows of older versions lack them."""
    time = part.time.isoformat() if part.time else None
    row = [part.start, part.end, part.kind.value, part.page, part.headings, part.anchor, time, part.sender, part.body]
    last = [part.symbol, part.cells, part.place, part.seconds, part.box]
    while last and last[-1] in (None, ()):
        last.pop()
    return row + last


def parts_from_rows(rows: Sequence[Sequence[Any]]) -> tuple[Part, ...]:
    """Return the parts that `part_to_row` converted to these rows."""
    # Most parts share the strings that name their place: keep each string only once in memory.
    known: dict[Any, Any] = {}
    share = known.setdefault
    parts = []
    for start, end, kind, page, path, anchor, time, sender, body, *last in rows:
        headings, moment = tuple(path), datetime.fromisoformat(time) if time else None
        symbol, cells, name, seconds, box = (*last, *_NONE[len(last) :]) if last else _NONE
        place = page, share(headings, headings), anchor, moment, share(sender, sender), body, share(symbol, symbol)
        parts.append(
            Part(start, end, _KINDS[kind], *place, tuple(cells or ()), name, seconds, tuple(box) if box else None)
        )
    return tuple(parts)


def _plain(value: Any) -> Any:
    """Convert a value of a type that JSON lacks to a list or a string."""
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return value.isoformat() if isinstance(value, (date, datetime)) else str(value)


def _object(value: Any) -> Any:
    return named(value) if is_dataclass(value) else _plain(value)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _made(kind: Any, value: Any, name: str) -> Any:
    if kind is Any:
        return value
    if is_dataclass(kind):
        return _made_dataclass(kind, value, name)
    arguments = get_args(kind)
    origin = get_origin(kind)
    if origin in (Union, types.UnionType):
        return None if value is None else _made(arguments[0], value, name)
    if origin is tuple and isinstance(value, list):
        kinds = arguments[:1] * len(value) if arguments[-1] is Ellipsis else arguments
        if len(kinds) == len(value):
            return tuple(_made(inner, item, name) for inner, item in zip(kinds, value, strict=True))
    elif isinstance(origin, type) and issubclass(origin, Mapping) and isinstance(value, dict):
        return {key: _made(arguments[1], item, f"{name}.{key}") for key, item in value.items()}
    elif isinstance(kind, type) and issubclass(kind, (Enum, datetime)) and isinstance(value, str):
        return kind(value) if issubclass(kind, Enum) else datetime.fromisoformat(value)
    # In Python, a bool is an int; reject a bool where an int is expected.
    elif type(value) is kind:
        return value
    raise ValueError(f"{name} can't be {_shown(value)}")


def _made_dataclass(kind: Any, value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{name} can't be {_shown(value)}")
    hints = _hints(kind)
    unknown = sorted(value.keys() - hints.keys())
    missing = sorted(field.name for field in fields(kind) if _default(field) is MISSING and field.name not in value)
    if missing:
        raise ValueError(f"{name} has no {', '.join(missing)}")
    if unknown:
        raise ValueError(f"{name} has an unknown field {_shown(unknown[0])}")
    return kind(**{key: _made(hints[key], item, f"{name}.{key}") for key, item in value.items()})


# Reuse one encoder: making an encoder takes longer than encoding a small value.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


_hints = lru_cache(get_type_hints)


def _check_texts(value: Any, depth: int) -> None:
    """Raise ValueError for strings that no store can hold, and for values nested too deeply."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it contains half a character (a lone surrogate)") from None
    elif isinstance(value, (dict, list)):
        if not depth:
            raise ValueError("it is nested too deeply")
        for item in value:
            _check_texts(item, depth - 1)
        for item in value.values() if isinstance(value, dict) else ():
            _check_texts(item, depth - 1)


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return text if len(text) <= 60 else f"{text[:60]}…"
