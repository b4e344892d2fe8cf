"""The blocks of a Slack message → text, for messages without a text of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from answerable.sources.chats.fields import first, row, rows, words

_DEEPEST = 20


def blocks_text(blocks: Any) -> str:
    """Return the text of blocks, with references as in a message's text: `<@U1>`, `<https://x.org|page>`."""
    return "\n".join(filter(None, ("".join(_pieces(block, 0)).strip() for block in rows(blocks))))


def _pieces(element: dict[str, Any], depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    text = element.get("text")
    match words(element.get("type")):
        case "link":
            yield f"<{words(element.get('url'))}|{words(text)}>" if text else f"<{words(element.get('url'))}>"
        case "user":
            yield f"<@{words(element.get('user_id'))}>"
        case "channel":
            yield f"<#{words(element.get('channel_id'))}>"
        case "broadcast":
            yield f"@{words(element.get('range'))}"
        case "emoji":
            yield f":{words(element.get('name'))}:"
        case "image":
            yield first(row(element.get("title")).get("text"), element.get("alt_text"))
        case _:
            yield from _inside(element, depth)


def _inside(element: dict[str, Any], depth: int) -> Iterator[str]:
    text = element.get("text")
    yield words(row(text).get("text")) if isinstance(text, dict) else words(text)
    is_list = element.get("type") == "rich_text_list"
    for inner in (*rows(element.get("elements")), *rows(element.get("fields"))):
        yield "\n- " if is_list else ""
        yield from _pieces(inner, depth + 1)
    if element.get("type") in ("rich_text_preformatted", "rich_text_quote", "rich_text_list"):
        yield "\n"
