"""Search in conversations: texts without case and accents, and the line that has what was searched for."""

from __future__ import annotations

from collections.abc import Sequence

from answerable.text.terms import fold

_LONGEST = 160
_BEFORE = 40


def folded(text: str) -> str:
    """Return the text without case and accents."""
    return fold(text.casefold())


def excerpt_of(said: str, wanted: Sequence[str]) -> str:
    """Return the line that has the most of the folded words, cut around the first of them; "" if none has any."""
    lines = [line.strip() for line in said.splitlines()] if wanted else []
    best, line = max(
        ((sum(word in plain for word in wanted), line) for line in lines for plain in (folded(line),)),
        key=lambda pair: pair[0],
        default=(0, ""),
    )
    if not best or len(line) <= _LONGEST:
        return line if best else ""
    plain = folded(line)
    # Nearly the same place in the line: folding changes few lengths.
    first = max(min(plain.index(word) for word in wanted if word in plain) - _BEFORE, 0)
    cut = line[first : first + _LONGEST].strip()
    return f"{'…' if first else ''}{cut}{'…' if first + _LONGEST < len(line) else ''}"
