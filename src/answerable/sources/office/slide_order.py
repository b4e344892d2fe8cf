"""Shapes of a slide → the order in which people read them.

Placeholders come first, in the order of the file. Other shapes are read column by column, from top to bottom; one that
is as wide as several columns divides them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from answerable.datatypes import Span

_DEEPEST = 8  # how often columns are looked for within columns: slides have two or three such levels
_MOST_PLACED = 500  # shapes; more are read from top to bottom, because each band is compared with those above it


class Edges(NamedTuple):
    """The left and right, and the top and bottom edge of a shape, in any unit."""

    across: Span
    down: Span


class _Placed(NamedTuple):
    across: Span
    down: Span
    shape: Any


def edges_of(left: int, top: int, width: int, height: int) -> Edges:
    """Return the edges of a shape."""
    return Edges((left, left + width), (top, top + height))


def in_reading_order(edges: Sequence[Edges | None], shapes: Sequence[Any]) -> list[Any]:
    """Return the shapes in order; those without edges come first as they are."""
    placed = [_Placed(*each, shape) for each, shape in zip(edges, shapes, strict=True) if each]
    return [shape for each, shape in zip(edges, shapes, strict=True) if not each] + _ordered(placed, 0)


def _ordered(placed: Sequence[_Placed], depth: int) -> list[Any]:
    if depth < _DEEPEST and 1 < len(placed) <= _MOST_PLACED:
        groups = _columns(placed)
        if len(groups) == 1:
            groups = []
            for band in _cut(placed, attrgetter("down")):
                if groups and len(_columns(groups[-1] + band)) > 1:
                    groups[-1] += band
                else:
                    groups.append(band)
        if len(groups) > 1:
            return [shape for group in groups for shape in _ordered(group, depth + 1)]
    return [each.shape for each in sorted(placed, key=lambda each: (each.down[0], each.across[0]))]


def _columns(placed: Sequence[_Placed]) -> list[list[_Placed]]:
    """Return the columns, from left to right, if all are next to each other; otherwise a single one."""
    found = _cut(placed, attrgetter("across"))
    tops = (min(each.down[0] for each in column) for column in found)
    bottoms = (max(each.down[1] for each in column) for column in found)
    return found if max(tops) < min(bottoms) else [list(placed)]


def _cut(placed: Sequence[_Placed], side: Callable[[_Placed], Span]) -> list[list[_Placed]]:
    """Divide shapes at the gaps that none of them crosses with more than a tenth: text seldom fills its shape."""
    groups: list[list[_Placed]] = []
    reached = 0
    for each in sorted(placed, key=side):
        first, last = side(each)
        slack = (last - first) // 10
        if groups and first + slack < reached:
            groups[-1].append(each)
        else:
            groups.append([each])
        reached = max(reached, last - slack)
    return groups
