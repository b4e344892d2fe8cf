"""A model's text without HTML tags and without the control tokens of chat templates that are written like them."""

from __future__ import annotations

import re

from answerable.answering.safety.turn_marks import ANGLED_TOKEN, NAMES

LONGEST_TAG = 1000

_ELEMENTS = NAMES | frozenset(
    """
    a abbr address applet area article aside audio b base basefont bdi bdo bgsound big blink blockquote body br button
    canvas caption center cite code col colgroup data datalist dd del details dfn dialog dir div dl dt em embed fieldset
    figcaption figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html i iframe image img
    input ins isindex kbd keygen label legend li link listing main map mark marquee math menu meta meter nav nobr
    noembed noframes noscript object ol optgroup option output p param picture plaintext portal pre progress q rp rt
    ruby s samp script search section select slot small source span strike strong style sub summary sup svg table tbody
    td template textarea tfoot th thead time title tr track tt u ul var video wbr xmp passage passages
    """.split()
)
# A `<` that opens nothing: less than, a shift, an arrow.
_OPERATOR = re.compile(r"<+(?=[\s=\d-])")
_ENCLOSED = re.compile(rf"<([^<>]{{0,{LONGEST_TAG}}})>")
_OPENED = re.compile(r"<[^<>]*")
_AUTOLINK = re.compile(r"[a-z][a-z0-9+.-]{0,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+", re.IGNORECASE)
# `List<String>`, `<T, U>`, `<config>`: what stands so in code and has no attributes does nothing in HTML.
_PARAMETER = re.compile(r"/?([A-Za-z]\w*)(?:\.\w+)*(?:, ?[A-Za-z][\w.]*)*")


class TagFreeText:
    """Takes tags out of a text that comes in pieces; how it is cut makes no difference.

    `<https://…>` loses its brackets. A `<` that begins a tag which doesn't end becomes `‹`.
    """

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str, is_final: bool = False) -> str:
        """What can be said of the text so far, less what was said before. Never longer than what came in."""
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
    """What becomes of the `<` at a place, and where reading goes on; None when more text has to come first."""
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
    if parameter and parameter[1].lower() not in _ELEMENTS:
        return tag[0]
    return "" if inner[:1].isalpha() or inner[:1] in ("/", "!", "?", "|", "｜") else f"‹{inner}>"
