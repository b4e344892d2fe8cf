"""Terms, fields and filters as numbers, for both of Qdrant's engines: Edge and the server.

Names and values are hashed, so that the engine doesn't parse anything in a document or question as a path or pattern.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import blake2b
from typing import Any

from answerable.filters import AllOf, AnyOf, Between, Bound, Exists, Filter, Not, OneOf, Scalar, comparable
from answerable.stores.exact import Scored

# The fields that filters use most often: they are indexed before the first chunk is written.
USUAL_FIELDS = ("source", "type", "language", "document_id", "date", "sender", "page", "heading", "text_hash")
# Most equal scores to put in order: of more copies of a text, the order hardly matters. A round number, not measured.
MOST_EQUAL = 2_000


@dataclass(frozen=True, slots=True)
class Conditions:
    """Constructors of an engine's filter conditions.

    `one_of` takes a key and numbers; `within` takes a key and bounds by name (gt, gte, lt, lte); `lacks` takes a key;
    `all_of`, `any_of` and `none_of` take conditions.
    """

    one_of: Callable[[str, list[int]], Any]
    within: Callable[[str, dict[str, float]], Any]
    lacks: Callable[[str], Any]
    all_of: Callable[[list[Any]], Any]
    any_of: Callable[[list[Any]], Any]
    none_of: Callable[[list[Any]], Any]

    def translate(self, where: Filter) -> Any:
        """Translate a filter into a condition on `field_numbers`, equivalent to `filters.matches`."""
        match where:
            case OneOf(field, values):
                return self.one_of(equality_key(field), [hash_value(value) for value in values])
            case Between(field, gt, gte, lt, lte):
                given = {"gt": gt, "gte": gte, "lt": lt, "lte": lte}
                bounds = {name: bound for name, bound in given.items() if bound is not None}
                if not bounds:
                    return self.translate(Exists(field))
                key = range_key(field, next(iter(bounds.values())))
                return self.within(key, {name: _number(bound) for name, bound in bounds.items()})
            case Exists(field):
                return self.none_of([self.lacks(equality_key(field))])
            case AllOf(filters):
                return self.all_of([self.translate(inner) for inner in filters])
            case AnyOf(filters):
                return self.any_of([self.translate(inner) for inner in filters])
            case Not(inner):
                return self.none_of([self.translate(inner)])


def first_of_equals(k: int, search: Callable[[int], Iterable[tuple[int, float]]]) -> Scored:
    """Return the k best results of `search(limit)`, best first; of equal scores, the lowest chunk numbers.

    If more than `MOST_EQUAL` scores are equal, mostly of copies of one text, any of these chunks may be returned.
    """
    # Request more than k results, so that one search is usually enough.
    for limit in (2 * k, max(16 * k, MOST_EQUAL)):
        found = list(search(limit))
        last = found[min(k, len(found)) - 1][1] if found else 0.0
        # Of equal scores, the engine returns any: get all of them to find the lowest numbers.
        if len(found) < limit or found[-1][1] < last:
            break
    return sorted((pair for pair in found if pair[1] >= last), key=lambda pair: (-pair[1], pair[0]))[:k]


def sparse_vector(weights: Mapping[str, float]) -> dict[int, float]:
    """Convert weights by term to weights by hash of the term."""
    hashed: dict[int, float] = {}
    for term, weight in weights.items():
        key = term_hash(term)
        hashed[key] = hashed.get(key, 0.0) + weight
    return hashed


def term_hash(term: str) -> int:
    """Return the index of a term in sparse vectors, which few other terms share."""
    return zlib.crc32(term.encode("utf-8", "replace"))


def field_numbers(fields: Mapping[str, Sequence[Scalar]]) -> dict[str, list[Any]]:
    """Return fields in the form that filters use: hashes of the values, and numbers and dates for ranges."""
    payload: dict[str, list[Any]] = {}
    for name, values in fields.items():
        payload[equality_key(name)] = [hash_value(value) for value in values]
        for value in values:
            if (bound := comparable(value)) is not None:
                payload.setdefault(range_key(name, bound), []).append(_number(bound))
    return payload


def equality_key(field: str) -> str:
    """Return the key under which the hashes of a field's values are stored."""
    return f"e{digest(field) & (2**63 - 1):x}"


def range_key(field: str, bound: Bound) -> str:
    """Return the key under which a field's values comparable with `bound` are stored: numbers or dates."""
    # Numbers and dates can't be compared with each other: they have different keys.
    kind = "d" if isinstance(bound, datetime) else "n"
    return f"{kind}{digest(field) & (2**63 - 1):x}"


def digest(text: str) -> int:
    """Return the hash of a text, a signed 64-bit integer."""
    return int.from_bytes(blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "little", signed=True)


def hash_value(value: Scalar) -> int:
    """Return the hash of a field's value, a signed 64-bit integer."""
    # As in `filters.matches`, 1 and 1.0 are equal, and True is not.
    if isinstance(value, (str, bool)):
        return digest(f"{'text' if isinstance(value, str) else 'bool'}\0{value}")
    # Don't convert an integer to a float: it may be too large.
    is_whole = isinstance(value, int) or (math.isfinite(value) and value == int(value))
    return digest(f"number\0{int(value):x}" if is_whole else f"number\0{value}")


def _number(bound: Bound) -> float:
    if isinstance(bound, datetime):
        return bound.replace(tzinfo=timezone.utc).timestamp()
    # The engine's payloads are JSON, which has no infinity.
    return min(max(bound, -sys.float_info.max), sys.float_info.max)
