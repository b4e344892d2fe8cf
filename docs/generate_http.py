"""Writes docs/http-api.md, the server's OpenAPI document to read: `python docs/generate_http.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from answerable.interfaces.http.server import create_app
from answerable.interfaces.http.service import Service

PAGE = Path(__file__).with_name("http-api.md")
HEAD = """# HTTP

Made from the server's OpenAPI document by `python docs/generate_http.py`; a server has the same at `/openapi.json`.
[The server](server.md) says what it is for, who may use it, and how streams work.

`{library}` is the name of a library, as `GET /api/v1/libraries` lists them. Errors of every operation are a
[problem](#problemout).
"""
TITLES = {
    "asking": "Asking",
    "documents": "Documents",
    "ingestion": "Adding",
    "following": "Sources that are followed",
    "sessions": "Conversations",
    "libraries": "Libraries",
    "settings": "Settings",
    "operations": "Running the server",
    "OpenAI": "OpenAI's protocol",
}
_EVENTS = "text/event-stream"
_SPELLED = {"string": "text", "integer": "whole number", "boolean": "true or false", "object": "object"}

Schema = Mapping[str, Any]


def page() -> str:
    """The page, from the app without any library."""
    described = create_app(cast(Service, None)).openapi()
    return "\n".join([HEAD, *_operations(described), "## Schemas", "", *_schemas(described["components"]["schemas"])])


def _operations(described: Schema) -> Iterator[str]:
    by_tag: dict[str, list[tuple[str, str, Schema]]] = {tag: [] for tag in TITLES}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            by_tag[operation["tags"][0]].append((method.upper(), path, operation))
    for tag, found in by_tag.items():
        yield from (f"## {TITLES[tag]}", "")
        for method, path, operation in found:
            yield from _operation(method, path, operation)


def _operation(method: str, path: str, operation: Schema) -> Iterator[str]:
    yield from (f"### {operation['summary']}", "", f"`{method} {path}`", "", operation["description"], "")
    rows = [
        [f"`{each['name']}`", each["in"], _type(each["schema"]), each.get("description", "")]
        for each in operation.get("parameters", ())
        if each["name"] != "library"
    ]
    yield from _table(["parameter", "in", "type", ""], rows)
    body = operation.get("requestBody", {}).get("content", {})
    for kind, content in body.items():
        yield from (f"Sent: {_type(content['schema'])}, `{kind}`", "")
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            contents = response.get("content", {})
            kinds = [
                f"{_type(content['schema'])}, `{kind}`" if content.get("schema") and kind != _EVENTS else f"`{kind}`"
                for kind, content in contents.items()
            ]
            yield from (f"Returned: {status}" + (", " + "; or ".join(kinds) if kinds else ""), "")
            if _EVENTS in contents:
                yield from _events(contents[_EVENTS]["schema"])


def _events(schema: Schema) -> Iterator[str]:
    found = [each["properties"] for each in schema.get("oneOf", [schema])]
    rows = [[f"`{each['event']['const']}`" if "event" in each else "", _type(each["data"])] for each in found]
    yield from _table(["event", "data"], rows)


def _schemas(schemas: Schema) -> Iterator[str]:
    for name, schema in sorted(schemas.items(), key=lambda item: _short(item[0]).lower()):
        yield from (f"### {_short(name)}", "")
        if name == "JsonValue" or schema.get("description"):
            yield from (schema.get("description", "Anything that JSON can hold."), "")
        required = schema.get("required", ())
        rows = [
            [f"`{field}`" + ("" if field in required else ", optional"), _type(each), each.get("description", "")]
            for field, each in schema.get("properties", {}).items()
        ]
        if isinstance(others := schema.get("additionalProperties"), Mapping) and rows:
            rows.append(["any other", _type(others), ""])
        if rows:
            yield from _table(["field", "type", ""], rows)
        elif "enum" in schema:
            yield from ("One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + ".", "")


def _type(schema: Schema) -> str:
    if "$ref" in schema:
        name = _short(schema["$ref"].rpartition("/")[2])
        return f"[{name}](#{name.lower()})"
    if "contentSchema" in schema:
        return _type(schema["contentSchema"])
    if "properties" in schema:
        return ", ".join(f"`{name}` ({_type(each)})" for name, each in schema["properties"].items())
    for keyword, word in (("anyOf", " or "), ("allOf", " and ")):
        if keyword in schema:
            return word.join(dict.fromkeys(map(_type, schema[keyword])))
    if "format" in schema:
        return {"binary": "file"}.get(schema["format"], schema["format"])
    if "enum" in schema or "const" in schema:
        return " or ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(_SPELLED.get(each, each) for each in kind)
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return _SPELLED.get(kind, kind) + _limits(schema)


def _short(name: str) -> str:
    """A schema's name without the module that is put before it where two have the same."""
    return re.sub(r"^answerable__.*__(\w+?)__(\d+)$", r"\1\2", name)


def _limits(schema: Schema) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low:g} to {high:g}"
    if high is not None or low is not None:
        return f", at most {high:g}" if low is None else f", at least {low:g}"
    return f", at most {schema['maxLength']:,} characters" if "maxLength" in schema else ""


def _table(head: list[str], rows: list[list[str]]) -> Iterator[str]:
    if rows:
        for cells in (head, ["---"] * len(head), *rows):
            yield f"| {' | '.join(' '.join(cell.replace('|', '/').split()) for cell in cells)} |"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
