"""Values of what apps export as JSON, each as what is asked for or nothing, and text on lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from answerable.text.characters import encodable

_LONGEST_NAME = 200  # characters


def rows(value: Any) -> list[dict[str, Any]]:
    """Return the JSON objects in a list; [] for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def row(value: Any) -> dict[str, Any]:
    """Return a JSON object; {} for anything else."""
    return value if isinstance(value, dict) else {}


def words(value: Any) -> str:
    """Return a string, or an integer as a string; "" for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def first(*values: Any) -> str:
    """Return the first value that isn't blank, as a string, or ""."""
    return next((text for value in values if (text := words(value)).strip()), "")


def texts(value: Any) -> Iterator[str]:
    """Yield the strings in a list."""
    yield from (each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def epoch(value: Any, per_second: int = 1) -> datetime | None:
    """Return the time in UTC of seconds since 1970, or of shorter steps, given as a number or a string."""
    try:
        seconds = float(value) / per_second
    except (TypeError, ValueError, OverflowError):
        return None
    # The limit is in the year 9987: datetime has no years after 9999.
    if isinstance(value, bool) or not 0 <= seconds <= 253_000_000_000:
        return None
    return datetime(1970, 1, 1) + timedelta(seconds=int(seconds))


def moment(value: Any) -> tuple[datetime | None, timedelta | None]:
    """Return the time of an ISO timestamp without its zone, and the zone's offset from UTC; None if missing."""
    from dateutil.parser import isoparse  # type: ignore[import-untyped]

    text = words(value).strip()
    if len(text) < 16 or len(text) > 40:
        return None, None
    try:
        read = isoparse(text)
    except (ValueError, OverflowError):
        return None, None
    return read.replace(tzinfo=None, microsecond=0), read.utcoffset()


def plain_text(text: str) -> str:
    """Return text with `\\n` line ends, and without white space at its ends, lone surrogates and NULs."""
    return encodable(text).replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()


def one_line(text: str | None, longest: int) -> str:
    """Return text on one line; if it is over `longest` characters, cut it between words."""
    line = " ".join(plain_text((text or "")[: 4 * longest]).split())
    return line if len(line) <= longest else f"{line[:longest].rsplit(' ', 1)[0]}…"


def member_name(source: str, title: str, used: Counter[str]) -> str:
    """Return a place in a file that no other has: `notes.enex!/Boiler (2)`."""
    name = one_line(title, _LONGEST_NAME).replace("/", "-").replace("\\", "-") or "untitled"
    used[name] += 1
    return f"{source}!/{name}" if used[name] == 1 else f"{source}!/{name} ({used[name]})"
