"""Read the `key: value` lines between two rules at the top of a Markdown document."""

from __future__ import annotations

import re

_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*))?$")
_COMMENT = re.compile(r"(?<=\s)#")


def front_matter(content: str) -> tuple[dict[str, str], int]:
    """Return the metadata at the top of a file, and where its text begins.

    Understands `key: value` lines, quoted values, comments, and lists (as comma-separated text); deeper values are
    skipped. A block with any other line isn't front matter, but text between two rules.
    """
    match = _FRONT_MATTER.match(content)
    if not match:
        return {}, 0
    values: dict[str, list[str]] = {}
    key = ""
    for line in match[1].splitlines():
        entry = line.strip()
        found = _KEY.match(line)
        if not entry or entry.startswith("#"):
            continue
        if found:
            key = found[1]
            values[key] = [found[2] or ""]
        elif key and entry.startswith("- ") and ":" not in entry:
            values[key].append(entry[2:])
        elif not key or not line[0].isspace():
            return {}, 0
    joined = {key: ", ".join(filter(None, map(_plain, lines))) for key, lines in values.items()}
    return {key: value for key, value in joined.items() if value}, match.end()


def _plain(value: str) -> str:
    """Return a front matter value without quotes, trailing comment and brackets of a list."""
    value = value.strip()
    if value[:1] in ("'", '"'):
        closing = value.find(value[0], 1)
        return value[1:closing] if closing > 0 else value[1:]
    if comment := _COMMENT.search(value):
        value = value[: comment.start()].rstrip()
    if value.startswith("[") and value.endswith("]"):
        items = (item.strip() for item in value[1:-1].split(","))
        return ", ".join(_plain(item) for item in items if item and item[0] != "[")
    # Nested or multi-line values.
    return "" if value[:1] in ("{", "|", ">", "&", "*", "!") else value
