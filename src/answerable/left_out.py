"""What of a file its reader leaves out, such as pages without text: counted, so that users know what can't be found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

MOST_NAMES = 50  # names that are kept of each kind: who looks for them opens the file; a round number, not measured
_SHOWN = 5  # names that are displayed: about half a line


class LeftOutKind(str, Enum):
    """The kinds of what is left out."""

    PAGE = "page"
    PICTURE = "picture"
    CHART = "chart"
    EQUATION = "equation"
    COMMENT = "comment"
    RECORDING = "recording"
    FILE = "file"
    ATTACHMENT = "attachment"
    RESULT = "result"

    __str__ = str.__str__


_MORE = {
    **{LeftOutKind.PAGE: " without text", LeftOutKind.FILE: " in it"},
    **{LeftOutKind.ATTACHMENT: " not read", LeftOutKind.RESULT: " cut"},
}


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many things of a kind weren't read, and the names (of pages, the numbers) of the first `MOST_NAMES`."""

    kind: LeftOutKind
    count: int
    names: tuple[str, ...] = ()

    @classmethod
    def named(cls, kind: LeftOutKind, names: Iterable[object]) -> Iterator[LeftOut]:
        """Yield what was left out if there are names."""
        if listed := tuple(map(str, names)):
            yield cls(kind, len(listed), listed[:MOST_NAMES])

    @classmethod
    def counted(cls, counts: Iterable[tuple[LeftOutKind, int]]) -> Iterator[LeftOut]:
        """Yield the sum of the counts of each kind, in their order, without kinds of which there are none."""
        sums: defaultdict[LeftOutKind, int] = defaultdict(int)
        for kind, count in counts:
            sums[kind] += count
        yield from (cls(kind, sums[kind]) for kind in LeftOutKind if sums[kind])

    def __str__(self) -> str:
        """Return a short description in English: `2 pages without text (3, 7)`."""
        shown = ", ".join((*self.names[:_SHOWN], *(["…"] if self.count > _SHOWN else [])))
        words = f"{self.count:,} {self.kind}{'s' * (self.count != 1)}{_MORE.get(self.kind, '')}"
        return f"{words} ({shown})" if self.names else words


def to_rows(found: Sequence[LeftOut]) -> list[list[Any]]:
    """Return what was left out as JSON values."""
    return [[each.kind.value, each.count, list(each.names)] for each in found]


def from_rows(rows: Iterable[Sequence[Any]]) -> tuple[LeftOut, ...]:
    """Return the inverse of `to_rows`. Raise ValueError or TypeError for other values."""
    return tuple(LeftOut(LeftOutKind(kind), int(count), tuple(map(str, names))) for kind, count, names in rows)
