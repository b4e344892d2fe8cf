"""Values in the form that PostgreSQL can store (text without NUL, JSON, vectors as bytes), and filters as conditions.

PostgreSQL rejects NUL and lone surrogates: they are written as U+0001 and four hexadecimal digits, and so is U+0001
itself. Different strings stay different and, except for strings with surrogates, keep their order.

Names and values of a filter are bound parameters, never part of the statement. Equality is containment in the indexed
jsonb column `fields` of `entries`; ranges use `comparables`, which has a row for every number and moment of a field.
Results are the same as those of `filters.matches`.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf, Scalar

_UNSTORABLE = re.compile("[\0\1\ud800-\udfff]")
_ESCAPED = re.compile("\1([0-9a-f]{4})")
# U+0001 in JSON.
_ESCAPE = "\\u0001"
_INFINITIES: Mapping[str, float] = {"\1inf": math.inf, "\1-inf": -math.inf}
# Characters; an entry of a B-tree must fit in a third of a page of 8 kB, and a character takes up to four bytes.
_LONGEST_KEY = 500


def encode(text: str) -> str:
    """Return a text as PostgreSQL stores it, with NUL, lone surrogates and U+0001 escaped."""
    return _UNSTORABLE.sub(lambda match: f"\1{ord(match[0]):04x}", text)


def decode(text: str) -> str:
    """Return the original of a text escaped by `encode`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "\1" in text else text


def key(text: str) -> str:
    """Return the index key of a string: the string itself, or a digest if the string is too long."""
    stored = encode(text)
    if len(stored) <= _LONGEST_KEY:
        return stored
    return f"\1#{blake2b(stored.encode(), digest_size=16).hexdigest()}"


def fields_to_json(fields: Mapping[str, Sequence[Scalar]]) -> str:
    """Return fields as a JSON object of lists. Two values are equal in JSON exactly if filters treat them as equal."""
    plain = {encode(name): [_to_plain(value) for value in values] for name, values in fields.items()}
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def fields_from_json(text: str) -> dict[str, Any]:
    """Return the inverse of `fields_to_json`; 2.0 comes back as 2."""
    fields: dict[str, Any] = json.loads(text)
    # Decode only if necessary: hardly any text has escapes.
    if _ESCAPE not in text:
        return fields
    return {decode(name): [_from_plain(value) for value in values] for name, values in fields.items()}


def json_to_bytes(text: str) -> bytes:
    """Return JSON in the form that PostgreSQL's `jsonb_recv` reads: the format's number, then the text."""
    return b"\1" + text.encode()


def numbers_to_text(numbers: Sequence[float]) -> str:
    """Return numbers, exact, in PostgreSQL's array notation; psycopg takes over a microsecond for each number."""
    return f"{{{','.join(map(repr, numbers))}}}"


def vector_to_text(vector: FloatArray) -> str:
    """Return a vector in pgvector's notation, exactly."""
    return f"[{','.join(map(repr, vector.tolist()))}]"


def vector_to_bytes(vector: FloatArray) -> bytes:
    """Return the inverse of `vector_from_bytes`, as pgvector's `vector_recv` reads it."""
    return len(vector).to_bytes(2, "big") + b"\0\0" + vector.astype(">f4").tobytes()


def vector_from_bytes(data: bytes) -> FloatArray:
    """Read a vector from pgvector's `vector_send`: two 16-bit numbers, then float32, big-endian."""
    return np.frombuffer(data, ">f4", offset=4).astype(np.float32)


def _to_plain(value: Scalar) -> Scalar:
    if isinstance(value, str):
        return encode(value)
    if isinstance(value, (bool, int)):
        return value
    if math.isinf(value):
        return "\1inf" if value > 0 else "\1-inf"
    # Write whole numbers in full: PostgreSQL reads 1e300 as the exact power of ten, not as the nearest float.
    return int(value) if value.is_integer() else value


def _from_plain(value: Any) -> Scalar:
    if isinstance(value, str):
        return _INFINITIES[value] if value in _INFINITIES else decode(value)
    assert isinstance(value, (bool, int, float))
    return value


Condition = tuple[str, list[Any]]

LOOKED_UP = 20
"""Most values of a condition to look up one by one in the index of fields. A round number, not measured."""


def condition(where: Filter) -> Condition:
    """Return an SQL condition on `entries` that is equivalent to the filter, and its bound parameters in order."""
    match where:
        case OneOf(field, values) if len(values) > LOOKED_UP:
            # With more values, read every entry and compare it with all values at once, by hash.
            listed = json.loads(fields_to_json({field: values}))[encode(field)]
            held = "EXISTS (SELECT FROM jsonb_array_elements(fields -> %s) AS held WHERE held = ANY (%s::jsonb[]))"
            return held, [encode(field), [json.dumps(value) for value in listed]]
        case OneOf(field, values):
            return "fields @> ANY (%s::jsonb[])", [[fields_to_json({field: [value]}) for value in values]]
        case Between():
            return _between(where)
        case Exists(field):
            return "fields ? %s", [encode(field)]
        case AllOf(filters):
            return _joined(" AND ", filters, "true")
        case AnyOf(filters):
            return _joined(" OR ", filters, "false")
        case Not(inner):
            text, parameters = condition(inner)
            return f"NOT ({text})", parameters


def _between(where: Between) -> Condition:
    given = ((">", where.gt), (">=", where.gte), ("<", where.lt), ("<=", where.lte))
    bounds = [(sign, bound) for sign, bound in given if bound is not None]
    if not bounds:
        return condition(Exists(where.field))
    tests = ["field = %s"]
    parameters: list[Any] = [key(where.field)]
    for sign, bound in bounds:
        tests.append(f"moment {sign} %s" if isinstance(bound, datetime) else f"number {sign} %s::float8")
        parameters.append(bound)
    return f"entries.number IN (SELECT chunk FROM comparables WHERE {' AND '.join(tests)})", parameters


def _joined(word: str, filters: Sequence[Filter], nothing: str) -> Condition:
    conditions = [condition(inner) for inner in filters]
    text = word.join(f"({text})" for text, _ in conditions) or nothing
    return text, [parameter for _, parameters in conditions for parameter in parameters]
