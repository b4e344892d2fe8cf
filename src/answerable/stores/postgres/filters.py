"""Filters → conditions on `entries`. Names and values are bound parameters, never part of the statement.

Equality is containment in the indexed jsonb column `fields`; ranges use `comparables`, which has a row for every number
and moment of a field. Results are the same as those of `filters.matches`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from answerable.filters import AllOf, AnyOf, Between, Exists, Filter, Not, OneOf
from answerable.stores.postgres.values import encode, fields_to_json, key

Condition = tuple[str, list[Any]]

LOOKED_UP = 20
"""Up to this number, values are looked up in the index of fields one by one."""


def condition(where: Filter) -> Condition:
    """Return an SQL condition on `entries` that is equivalent to the filter, and its bound parameters in order."""
    match where:
        case OneOf(field, values) if len(values) > LOOKED_UP:
            # Compare each entry with all values at once, by hash.
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
