"""Datatypes ↔ plain JSON: objects with the fields' names, in their order; what has its default value is left out.

What is read may come from anybody: every value must be of the type that its field has.
"""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import lru_cache
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from answerable.stores.records import plain

Made = TypeVar("Made")

# Nothing that people write is nested deeper, and Python's own limit depends on where it is reached.
DEPTH = 100


def to_line(value: Any) -> bytes:
    """A datatype, or a mapping, as a line of JSON in UTF-8."""
    return (json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain) + "\n").encode("utf-8")


def from_json(text: bytes) -> dict[str, Any]:
    """The object that a JSON text is. Raises ValueError for anything else, whatever it is."""
    try:
        value = json.loads(text.decode("utf-8"))
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    _check_texts(value, DEPTH)
    return value


def made(kind: type[Made], value: Any) -> Made:
    """The datatype that a plain value stands for. Raises ValueError that names the field that is wrong."""
    return cast(Made, _made(kind, value, kind.__name__))


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        named = ((field, getattr(value, field.name)) for field in fields(value))
        return {field.name: found for field, found in named if found != _default(field)}
    return plain(value)


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
    # To Python a truth value is a number; it isn't to us.
    elif type(value) is kind:
        return value
    raise ValueError(f"{name} can't be {_shown(value)}")


def _made_dataclass(kind: Any, value: Any, name: str) -> Any:
    if not isinstance(value, dict):
        raise ValueError(f"{name} can't be {_shown(value)}")
    hints = _hints(kind)
    unknown = sorted(value.keys() - hints.keys())
    missing = sorted(field.name for field in fields(kind) if _default(field) is MISSING and field.name not in value)
    if unknown or missing:
        raise ValueError(f"{name} has no {', '.join(missing)}" if missing else f"{name} knows no {_shown(unknown[0])}")
    return kind(**{key: _made(hints[key], item, f"{name}.{key}") for key, item in value.items()})


@lru_cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _check_texts(value: Any, depth: int) -> None:
    """Raises ValueError for texts that no store can hold, and for what is nested too deeply."""
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise ValueError("it has half a character (a lone surrogate)") from None
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
