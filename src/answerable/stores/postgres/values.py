"""Values as PostgreSQL can hold them: texts without NUL, scalars of filters as JSON, vectors.

PostgreSQL rejects NUL and lone surrogates: they are written as U+0001 and four hexadecimal digits, and so is U+0001
itself. Different texts stay different and, except for texts with surrogates, keep their order.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from answerable.datatypes import FloatArray
from answerable.filters import Scalar

_UNSTORABLE = re.compile("[\0\1\ud800-\udfff]")
_ESCAPED = re.compile("\1([0-9a-f]{4})")
# How JSON spells U+0001.
_ESCAPE = "\\u0001"
_INFINITIES: Mapping[str, float] = {"\1inf": math.inf, "\1-inf": -math.inf}
# An entry of a B-tree must fit on a third of a page.
_LONGEST_KEY = 500


def encode(text: str) -> str:
    """Return a text as PostgreSQL stores it, with NUL, lone surrogates and U+0001 escaped."""
    return _UNSTORABLE.sub(lambda match: f"\1{ord(match[0]):04x}", text)


def decode(text: str) -> str:
    """Return the original of a text escaped by `encode`."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text) if "\1" in text else text


def key(text: str) -> str:
    """Return the index key of a text: the text itself, or a digest if the text is too long."""
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
    # Hardly any text has escapes.
    if _ESCAPE not in text:
        return fields
    return {decode(name): [_from_plain(value) for value in values] for name, values in fields.items()}


def json_to_bytes(text: str) -> bytes:
    """Return JSON as `jsonb_recv` reads it: after the number of its format."""
    return b"\1" + text.encode()


def numbers_to_text(numbers: Sequence[float]) -> str:
    """Return an array of numbers in PostgreSQL's notation, exactly; psycopg takes a microsecond and more for each."""
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
    # PostgreSQL would read 1e300 as an exact power of ten: write whole numbers out.
    return int(value) if value.is_integer() else value


def _from_plain(value: Any) -> Scalar:
    if isinstance(value, str):
        return _INFINITIES[value] if value in _INFINITIES else decode(value)
    assert isinstance(value, (bool, int, float))
    return value
