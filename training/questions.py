"""Questions as people type them, and questions that the passage no longer answers."""

from __future__ import annotations

import random
import re
import unicodedata

NAME = re.compile(
    r"(?<!^)(?<![¿¡\"“«(])\b"
    r"(?:[A-ZÀ-Þ][\w'’-]+(?: (?:of |de |da |do |del |von )?[A-ZÀ-Þ][\w'’-]+){0,3}|\d[\d.,]*)"
)
"""A name inside a sentence, or a number."""


def as_typed(text: str, draw: random.Random) -> str:
    """Return a question in lower case, without marks or accents, with a typo, or as keywords, at random."""
    if draw.random() < 0.2:
        text = text.lower()
    if draw.random() < 0.25:
        text = text.rstrip(" ?").lstrip("¿")
    if draw.random() < 0.08:
        text = "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))
    if draw.random() < 0.04:
        text = _with_typo(text, draw)
    if draw.random() < 0.04:
        kept = [word for word in text.split() if len(word) > 3]
        text = " ".join(kept) if len(kept) > 1 else text
    return text


def with_another_name(question: str, passage: str, answers: list[str], draw: random.Random) -> str | None:
    """Return the question about another name or number of the passage, which therefore doesn't answer it, or None.

    "When was Ana born?" becomes "When was Luis born?", if the passage names both.
    """
    names = [match for match in NAME.finditer(question) if match[0] in passage]
    if not names:
        return None
    name = draw.choice(names)
    is_number = name[0][0].isdigit()
    others = {match[0].rstrip(".,") for match in NAME.finditer(passage) if match[0][0].isdigit() == is_number}
    taken = " ".join((question, *answers)).lower()
    free = sorted(other for other in others if other and other.lower() not in taken and other not in name[0])
    return question[: name.start()] + draw.choice(free) + question[name.end() :] if free else None


def _with_typo(text: str, draw: random.Random) -> str:
    """Exchange two neighbouring letters inside a word."""
    words = text.split()
    long = [number for number, word in enumerate(words) if len(word) > 4]
    if long:
        number = draw.choice(long)
        word = words[number]
        at = draw.randrange(1, len(word) - 2)
        words[number] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)
