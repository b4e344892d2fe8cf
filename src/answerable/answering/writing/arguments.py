"""Read the arguments of a tool call, which a model wrote, by the tool's JSON Schema.

Of JSON Schema: objects, lists, texts and whole numbers; properties, required, items, minItems, maxItems, enum, minimum,
maximum and maxLength. What models often write otherwise is understood: `"3"` for 3, 3 for `"3"`, a text for a list.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from answerable.text.characters import sendable

LONGEST = 20_000
"""Characters of the arguments of one call: many times what four queries or a table plan need. A guess, not measured."""
_KINDS: Mapping[str, tuple[type, str]] = {
    "object": (dict, "a JSON object"),
    "array": (list, "a list"),
    "string": (str, "a text"),
    "integer": (int, "a whole number"),
}


class WrongArguments(ValueError):
    """Arguments that a tool can't take; the message says on one line what to give."""


def read_arguments(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a call's arguments, with texts that UTF-8 can encode. Raise WrongArguments.

    Optional arguments that are null are left out.
    """
    if len(text) > LONGEST:
        raise WrongArguments(f"the arguments have {len(text):,} characters: give at most {LONGEST:,}")
    try:
        value = json.loads(text.strip() or "{}")
    except (ValueError, RecursionError) as error:
        raise WrongArguments("the arguments aren't valid JSON: give one JSON object") from error
    checked: dict[str, Any] = _checked(value, schema, "the arguments")
    return checked


def _checked(value: Any, schema: Mapping[str, Any], name: str) -> Any:
    kind, said = _KINDS[schema["type"]]
    if kind is list and isinstance(value, str) and schema["items"]["type"] == "string":
        value = [value]
    if kind is str and isinstance(value, (int, float)):
        value = json.dumps(_whole(value))
    if kind is int:
        value = _whole(value)
    if type(value) is not kind:
        raise WrongArguments(f"{name} must be {said}")
    checks: Mapping[type, Callable[..., Any]] = {dict: _object, list: _list, str: _text, int: _number}
    return checks[kind](value, schema, name)


def _object(value: dict[str, Any], schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    known: Mapping[str, Mapping[str, Any]] = schema["properties"]
    given = {key: each for key, each in value.items() if each is not None}
    if not given.keys() <= known.keys():
        raise WrongArguments(f"{name} may only have {', '.join(known)}")
    if missing := [key for key in schema.get("required", ()) if key not in given]:
        raise WrongArguments(f"{name} must have {', '.join(missing)}")
    return {key: _checked(each, known[key], key) for key, each in given.items()}


def _list(value: list[Any], schema: Mapping[str, Any], name: str) -> list[Any]:
    least, most = schema.get("minItems", 0), schema["maxItems"]
    if not least <= len(value) <= most:
        raise WrongArguments(f"{name} has {len(value):,} items: give {least} to {most}")
    return [_checked(each, schema["items"], f"each of {name}") for each in value]


def _text(value: str, schema: Mapping[str, Any], name: str) -> str:
    longest = schema.get("maxLength", LONGEST)
    if len(value) > longest:
        raise WrongArguments(f"{name} has {len(value):,} characters: give at most {longest}")
    if "enum" in schema and value not in schema["enum"]:
        raise WrongArguments(f"{name} must be one of {', '.join(schema['enum'])}")
    return sendable(value)


def _number(value: int, schema: Mapping[str, Any], name: str) -> int:
    if not schema["minimum"] <= value <= schema["maximum"]:
        raise WrongArguments(f"{name} must be from {schema['minimum']} to {schema['maximum']}")
    return value


def _whole(value: Any) -> Any:
    """Return `3.0` and `"3"` as 3, as some models write numbers; any other value unchanged."""
    # A number with more digits than ten is none that a tool takes.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value
