"""Values of untrusted JSON: each function takes anything, and returns nothing where it isn't what is expected."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

_EPOCH = datetime(1970, 1, 1)
_MOST_SECONDS = 253_000_000_000


def rows(value: Any) -> list[dict[str, Any]]:
    """Return the objects in a list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def row(value: Any) -> dict[str, Any]:
    """Return an object, or an empty one."""
    return value if isinstance(value, dict) else {}


def words(value: Any) -> str:
    """Return a text, or a number as a text; "" for anything else."""
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def first(*values: Any) -> str:
    """Return the first text that isn't blank, or ""."""
    return next((text for value in values if (text := words(value)).strip()), "")


def epoch(value: Any) -> datetime | None:
    """Return the time in UTC of seconds since 1970, given as a number or a text."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if isinstance(value, bool) or not 0 <= seconds <= _MOST_SECONDS:
        return None
    return _EPOCH + timedelta(seconds=int(seconds))


def milliseconds(value: Any) -> datetime | None:
    """Return the time in UTC of milliseconds since 1970."""
    try:
        return epoch(float(value) / 1000)
    except (TypeError, ValueError, OverflowError):
        return None


def moment(value: Any) -> tuple[datetime | None, timedelta | None]:
    """Return the clock time of an ISO date without its zone, and the zone's distance from UTC if it has one."""
    text = words(value).strip()
    if len(text) < 16 or len(text) > 40:
        return None, None
    # Python 3.10 reads no Z, and fractions of three or six digits only.
    text = text[:-1] + "+00:00" if text[-1] in "Zz" else text
    whole, zone = text[:19], text[19:]
    zone = zone[max(zone.rfind("+"), zone.rfind("-")) :] if "+" in zone or "-" in zone else ""
    try:
        read = datetime.fromisoformat(whole + zone)
    except ValueError:
        return None, None
    return read.replace(tzinfo=None), read.utcoffset()


def zone_name(offsets: set[timedelta | None], unknown: str) -> str:
    """Return the name of the zone that all times of an export share."""
    if len(offsets) != 1:
        return "as written, with several offsets from UTC" if offsets - {None} else unknown
    (offset,) = offsets
    return unknown if offset is None else "UTC" if not offset else str(timezone(offset))


def file_name(path: Any) -> str:
    """Return the name at the end of a path or address."""
    return words(path).split("?", 1)[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def counted(names: list[str], count: Any) -> str:
    """Return who reacted, or how many."""
    if names:
        more = count - len(names) if isinstance(count, int) and count > len(names) else 0
        return ", ".join(names[:5]) + (f" and {more + len(names[5:])} more" if more or names[5:] else "")
    return str(count) if isinstance(count, int) and not isinstance(count, bool) and count > 1 else ""


def texts(value: Any) -> Iterator[str]:
    """Yield the texts in a list."""
    yield from (each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
