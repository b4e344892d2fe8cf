"""Tables of word processors → tables with one header row: names over names, "Spring" over "Gas", are joined."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import islice, takewhile

from answerable.tables.grid import is_header
from answerable.tables.values import shape_of

LONGEST_REPEATED = 200
"""Characters of a cell merged over rows that each of the rows repeats; longer text doesn't name rows."""
_YEAR = re.compile(r"\b(?:1[89]|20|21)\d\d\b")
_SAMPLE = 200  # rows that a header is compared with: enough to show which columns hold figures; not measured


def with_one_header(rows: Sequence[Sequence[str | None]]) -> tuple[list[str], list[list[str]]]:
    """Return the titles above a table's header, and its rows with one header; None continues the cell to its left.

    A title is a cell as wide as the table.
    """
    titles = list(takewhile(_is_title, rows))
    if not titles or len(rows) < len(titles) + 2 or sum(map(bool, rows[len(titles)])) < 2:
        titles = []
    rows = rows[len(titles) :]
    plain = [[cell or "" for cell in row] for row in rows]
    if len(rows) > 2 and (names := joined(rows[0], plain[1], list(islice(plain, 2, _SAMPLE)))):
        plain[:2] = [names]
    return [row[0] or "" for row in titles], plain


def _is_title(row: Sequence[str | None]) -> bool:
    return len(row) > 1 and bool(row[0]) and all(cell is None for cell in row[1:])


def joined(top: Sequence[str | None], below: Sequence[str], others: Sequence[Sequence[str]]) -> list[str]:
    """Return the names of a header of two rows, `top` and `below`; [] if it has only one."""
    below = [*below, *[""] * (len(top) - len(below))]
    over: list[int] = []
    for column, name in enumerate(below):
        # A name in the upper row belongs to the columns from its own up to the next name or a gap.
        above = top[column] if column < len(top) else ""
        over.append(over[-1] if over and not above and name and over[-1] >= 0 else column if above else -1)
    width = Counter(over)
    single = [column for column, place in enumerate(over) if width[place] == 1 or place < 0]
    grouped = [column for column, place in enumerate(over) if width[place] > 1 and place >= 0]
    both = ((top[place] if place >= 0 else "", name) for place, name in zip(over, below, strict=True))
    names = [" ".join(dict.fromkeys(name for name in pair if name)) for pair in both]
    is_over = (over[column] >= 0 and below[column] not in ("", top[column]) for column in single)
    if not grouped or not any(top[1:]) or any(is_over):
        return []
    if any(shape_of(name) and not _YEAR.fullmatch(name) for name in below) or not all(below[each] for each in grouped):
        return []
    figures = [bool(shape_of(row[column])) for row in others for column in grouped if column < len(row) and row[column]]
    is_sure = None in top and (single or len({below[column] for column in grouped}) < len(grouped))
    # "2023 Gas" would be taken for an amount.
    are_names = is_header([_YEAR.sub(r"of \g<0>", name) for name in names], others)
    return names if are_names and (is_sure or sum(figures) * 2 > len(figures)) else []
