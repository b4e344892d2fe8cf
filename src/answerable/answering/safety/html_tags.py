"""Remove HTML tags, and control tokens of chat templates in angle brackets, from a model's text."""

from __future__ import annotations

import re
from functools import cache

from answerable.answering.safety.turn_marks import ANGLED_TOKEN, NAMES
from answerable.answering.word_lists import word_lists

LONGEST_TAG = 1000

# A `<` that opens no tag: less than, a shift, an arrow.
_OPERATOR = re.compile(r"<+(?=[\s=\d-])")
_ENCLOSED = re.compile(rf"<([^<>]{{0,{LONGEST_TAG}}})>")
_OPENED = re.compile(r"<[^<>]*")
_AUTOLINK = re.compile(r"[a-z][a-z0-9+.-]{0,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+", re.IGNORECASE)
# Code such as `List<String>`, `<T, U>`, `<config>`: without attributes it does nothing in HTML.
_PARAMETER = re.compile(r"/?([A-Za-z]\w*)(?:\.\w+)*(?:, ?[A-Za-z][\w.]*)*")


class TagFreeText:
    """A filter that removes tags from a stream; the result doesn't depend on how the stream is cut.

    `<https://…>` loses its brackets. The `<` of an unclosed tag becomes `‹`.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str, is_final: bool = False) -> str:
        """Return the text that is now final and wasn't returned before."""
        text = self._held + text
        kept, position = [], 0
        while position < len(text):
            start = text.find("<", position)
            kept.append(text[position : start if start >= 0 else len(text)])
            position = start if start >= 0 else len(text)
            if start >= 0:
                decided = _decide(text, start, is_final)
                if decided is None:
                    break
                kept.append(decided[0])
                position = decided[1]
        self._held = text[position:]
        return "".join(kept)


def _decide(text: str, start: int, is_final: bool) -> tuple[str, int] | None:
    """Return the replacement of the `<` at `start` and the position after it; None if more text is needed."""
    operator = _OPERATOR.match(text, start)
    if operator:
        return operator[0], operator.end()
    enclosed = _ENCLOSED.match(text, start)
    if enclosed:
        return _without_tag(enclosed), enclosed.end()
    opened = _OPENED.match(text, start)
    assert opened is not None
    is_open = opened.end() == len(text) and len(opened[0]) <= LONGEST_TAG
    is_run = not text[start:].strip("<")
    if (is_open or is_run) and not is_final:
        return None
    return ("<" * (len(text) - start), len(text)) if is_run else ("‹", start + 1)


def _without_tag(tag: re.Match[str]) -> str:
    inner = tag[1]
    if ANGLED_TOKEN.fullmatch(tag[0]):
        return ""
    if _AUTOLINK.fullmatch(inner):
        return inner
    parameter = _PARAMETER.fullmatch(inner)
    if parameter and parameter[1].lower() not in _elements():
        return tag[0]
    return "" if inner[:1].isalpha() or inner[:1] in ("/", "!", "?", "|", "｜") else f"‹{inner}>"


@cache
def _elements() -> frozenset[str]:
    return NAMES | frozenset(word_lists("html")["elements"].split())
