"""Make an answer safe for clients that render it as Markdown: nothing in it loads, runs or hides where it leads."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

_LIVE = re.compile(r"!(?=\[)|\](?=\()|(?<=\])(?=:)")
_TAG = re.compile(r"<(?=[a-z/!?])", re.IGNORECASE)
# Other tags can do nothing: `x<y and z>w` is text.
_ACTIVE = re.compile(r"=|</?(?:script|style|iframe|object|embed|base|meta|link|form)\b", re.IGNORECASE)


def inert(text: str) -> str:
    """Return a text as it is if Markdown makes nothing live of it, else with every image, link and tag escaped."""
    tokens = [each for token in _parser().parse(text) for each in (token, *(token.children or ()))]
    if not any(map(_is_live, tokens)):
        return text
    return _TAG.sub("&lt;", _LIVE.sub(lambda mark: f"{mark[0]}\\", text))


def _is_live(token: Token) -> bool:
    if token.type in ("html_inline", "html_block"):
        return _ACTIVE.search(token.content) is not None
    return token.type == "image" or (token.type == "link_open" and token.info != "auto")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True})
