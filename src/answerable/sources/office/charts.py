"""Charts of slides and Word documents → their title, and a table of the values that the file stores for them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.markdown import table
from answerable.sources.office.packages import Package, relations
from answerable.sources.xml import whole_number
from answerable.tables.number_formats import decimal_mark, shown

_CACHES = ("{*}strCache", "{*}numCache", "{*}strLit", "{*}numLit", "{*}lvl")
# The names of points and their values; of charts of points, where these are.
_LABELS, _VALUES = ("{*}cat", "{*}xVal"), ("{*}val", "{*}yVal", "{*}bubbleSize")


def charts(package: Package, part: str) -> dict[str, list[str]]:
    """Return the blocks of each chart that a part refers to, by the id of the relation."""
    return {key: list(_blocks(package.xml(path))) for key, kind, path in relations(package, part) if kind == "chart"}


def _blocks(root: Any) -> Iterator[str]:
    mark = decimal_mark(text for each in root.iter("{*}v", "{*}t") if (text := each.text))
    is_1904 = any(each.get("val") in ("1", "true") for each in root.iterchildren("{*}date1904"))

    def points(series: Any, names: tuple[str, ...]) -> dict[int, str]:
        return next((_points(each, mark, is_1904) for each in series.iterchildren(*names)), {})

    yield _words(root.find("{*}chart/{*}title"))
    # Series with the same labels are columns of one table.
    tables: dict[tuple[tuple[int, str], ...], list[tuple[str, dict[int, str]]]] = {}
    for series in root.iter("{*}ser"):
        columns = [(" ".join(points(series, ("{*}tx",)).values()), points(series, (name,))) for name in _VALUES]
        found = tables.setdefault(tuple(points(series, _LABELS).items()), [])
        found += [column for column in columns if column[1]]
    axis = _words(root.find(".//{*}catAx/{*}title"))
    for pairs, columns in tables.items():
        labels = dict(pairs)
        places = sorted({*labels, *(place for _, values in columns for place in values)})
        rows = [[labels.get(place, ""), *(values.get(place, "") for _, values in columns)] for place in places]
        yield table([[axis, *(name for name, _ in columns)], *rows]) if rows else ""


def _words(title: Any) -> str:
    texts = (each.text or "" for each in title.iter("{*}t", "{*}v")) if title is not None else ()
    return " ".join("".join(texts).split())


def _points(element: Any, mark: str, is_1904: bool) -> dict[int, str]:
    """Return the texts of points by their numbers; labels of several levels as `2025 Spring`."""
    found: dict[int, str] = {}
    for cache in element.iter(*_CACHES):
        own = {}
        for point in cache.iterchildren("{*}pt"):
            code = point.get("formatCode") or cache.findtext("{*}formatCode") or "General"
            text = " ".join(point.findtext("{*}v", "").split())
            is_number = cache.tag.endswith(("numCache", "numLit"))
            own[whole_number(point.get("idx"))] = _formatted(text, code, mark, is_1904) if is_number else text
        above = ""
        for place in sorted(found or own):
            # A label of an outer level is that of all points up to the next one.
            above = own.get(place, above)
            found[place] = f"{above} {found.get(place, '')}".strip()
    # A name may be written as it is, without a cache.
    return found or dict(enumerate(each.text or "" for each in element.iterchildren("{*}v")))


def _formatted(text: str, code: str, mark: str, is_1904: bool) -> str:
    try:
        return shown(float(text), code, mark, is_1904)
    except ValueError:
        return text
