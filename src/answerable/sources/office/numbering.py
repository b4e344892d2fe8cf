"""The numbers of lists and headings that word processors compute: `4.1`, `(a)`, `Article 2.`, `IV.`"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from answerable.text.notation import BOXES, written
from answerable.text.numerals import number_text

DEEPEST = 8
"""The last level of a list, from 0."""
LONGEST_LABEL = 100
"""Characters of the text around a list's number, which every item repeats; not measured."""
_PLACE = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Level:
    """A level of a list. `text` holds `%1` for the number of the first level; `shape` is Word's name of a format.

    The count begins anew when a level above `restart` is used; by default any level above this one. `style` is that of
    its paragraphs, if they have one of their own.
    """

    shape: str = "decimal"
    text: str = "%1."
    start: int = 1
    restart: int = DEEPEST + 1
    is_legal: bool = False
    gap: str = " "
    style: str = ""


@dataclass(frozen=True, slots=True)
class Numbering:
    """A list: its levels; the count that it shares with lists of the same `kind`; and the levels that it restarts."""

    kind: str
    levels: Mapping[int, Level]
    restarts: frozenset[int] = field(default=frozenset())


class Lists:
    """The lists of a document, and the numbers that they have reached."""

    def __init__(self, lists: Mapping[str, Numbering]) -> None:
        self._lists = lists
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._restarted: set[tuple[str, int]] = set()

    def restart(self, name: str) -> None:
        """Begin a list's numbers anew."""
        if name in self._lists:
            self._counts.pop(self._lists[name].kind, None)

    def marker(self, name: str, depth: int) -> str:
        """Return the marker of a list's next item: `- `, or its number and a space; "" if it has none."""
        numbering = self._lists.get(name) or Numbering("", {})
        levels, counts = numbering.levels, self._counts[numbering.kind]
        level = levels.get(depth)
        if level is None:
            return "- "
        is_new = depth in numbering.restarts and (name, depth) not in self._restarted
        self._restarted.add((name, depth))
        counts[depth] = level.start if is_new or depth not in counts else counts[depth] + 1
        for deeper in [each for each in counts if each > depth]:
            if depth < levels.get(deeper, level).restart:
                del counts[deeper]
        if level.shape == "bullet":
            return f"- {box} " if (box := written(level.text)) in BOXES else "- "
        text = _PLACE.sub(lambda place: _shown(int(place[1]) - 1, levels, counts, level.is_legal), level.text).strip()
        return text and text + level.gap


def _shown(depth: int, levels: Mapping[int, Level], counts: Mapping[int, int], is_legal: bool) -> str:
    level = levels.get(depth, Level())
    return number_text(counts.get(depth, level.start), "decimal" if is_legal else level.shape)
