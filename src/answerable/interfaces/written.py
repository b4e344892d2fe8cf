"""What doors show of a model's work: its calls of tools and, in plain text, signs after sentences not verified."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from answerable.datatypes import Answer, SentenceCheck, Step

SIGNS: Mapping[str, Mapping[str, str]] = {
    "check": {"en": "[check]", "es": "[comprobar]", "pt": "[conferir]"},
    "unsupported": {"en": "[no source]", "es": "[sin fuente]", "pt": "[sem fonte]"},
}
"""The sign of each mark that a reader must see, by language. The text of an answer itself has none."""

_NAME = re.compile(r"^\w+: ")


def asked_of(step: Step) -> str:
    """Return what a model asks a tool for, without the name of the first argument."""
    return _NAME.sub("", str(step.given.get("asked", "")))


def signed_pieces(found: Answer) -> Iterator[tuple[str, str]]:
    """Yield the text of an answer with its signs, in (text, mark) pairs; the mark is "" outside of marked sentences."""
    done = 0
    for check, start in _placed(found):
        if check.support not in SIGNS:
            continue
        end = start + len(check.text)
        yield found.text[done:start], ""
        sign = SIGNS[check.support].get(found.language, SIGNS[check.support]["en"])
        body, close = _open(check.text)
        yield f"{body}{sign}", check.support
        yield close, ""
        done = end
    yield found.text[done:], ""


def signed(found: Answer) -> str:
    """Return the text of an answer with a sign after each sentence that isn't verified."""
    return "".join(text for text, _ in signed_pieces(found))


def _placed(found: Answer) -> Iterator[tuple[SentenceCheck, int]]:
    """Yield the checks whose sentences are in the text, each with its start. Nothing is said between two of them."""
    done = 0
    for check in found.checks:
        start = found.text.find(check.text, done) if check.text else -1
        if start >= 0 and not any(map(str.isalnum, found.text[done:start])):
            yield check, start
            done = start + len(check.text)


def _open(sentence: str) -> tuple[str, str]:
    """Return a sentence up to where its sign goes, and the rest: in a table's last cell, below a block of code."""
    if sentence.endswith(("```", "~~~")):
        return f"{sentence}\n", ""
    if sentence.startswith("|") and sentence.endswith("|"):
        return f"{sentence[:-1].rstrip()} ", " |"
    return f"{sentence} ", ""
