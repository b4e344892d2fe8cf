"""A question with its answer → a statement: "When was Ana born?" and "1974" become "Ana was born in 1974".

Rules for the commonest forms of questions; where none applies, question and answer stand side by side.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

_FORMS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (r"who (?!did|do|does|is|are|was|were|has|had|have|will|can)(?P<rest>\w.+)", "{answer} {rest}"),
        (r"who (?P<verb>is|are|was|were) (?P<rest>the .+)", "{rest} {verb} {answer}"),
        (r"what (?P<verb>is|are|was|were) (?P<rest>(?:the|a|an|his|her|its|their) .+)", "{rest} {verb} {answer}"),
        (r"how many (?P<rest>.+)", "{answer} {rest}"),
        (r"(?:when|in (?:what|which) \w+|what year) (?P<verb>did|was|were|is|are|has|had) (?P<rest>.+)", "IN"),
        (r"where (?P<verb>did|was|were|is|are|does|do) (?P<rest>.+)", "IN"),
        (
            r"(?P<wh>(?:what|which) \w+) (?!did|do|does|was|were|is|are|has|had)(?P<rest>\w+(?:ed|s) .+)",
            "{answer} {rest}",
        ),
    ),
    "es": (
        (r"(?:quién|quiénes) (?P<rest>.+)", "{answer} {rest}"),
        (r"(?:cuál|cuáles) (?P<verb>es|son|era|eran|fue|fueron) (?P<rest>.+)", "{rest} {verb} {answer}"),
        (r"(?:cuántos|cuántas|cuánto|cuánta) (?P<rest>.+)", "{answer} {rest}"),
        (r"(?:cuándo|en qué (?P<noun>año|mes|siglo|década)) (?P<rest>.+)", "en {answer} {rest}"),
        (r"(?:dónde|en qué (?:país|ciudad|lugar|estado)) (?P<rest>.+)", "en {answer} {rest}"),
    ),
    "pt": (
        (r"quem (?P<rest>.+)", "{answer} {rest}"),
        (r"(?:qual|quais) (?P<verb>é|são|era|eram|foi|foram) (?P<rest>.+)", "{rest} {verb} {answer}"),
        (r"(?:quantos|quantas|quanto|quanta) (?P<rest>.+)", "{answer} {rest}"),
        (r"(?:quando|em que (?P<noun>ano|mês|século|década)) (?P<rest>.+)", "em {answer} {rest}"),
        (r"(?:onde|em que (?:país|cidade|lugar|estado)) (?P<rest>.+)", "em {answer} {rest}"),
    ),
}
_COMPILED = {
    language: [(re.compile(form, re.IGNORECASE), shape) for form, shape in forms] for language, forms in _FORMS.items()
}
_BEGINS_WITH_PLACE = re.compile(
    r"(?:in|on|at|en|em|no|na|nos|nas|by|from|during|after|before|since|until|entre|el|la)\b", re.I
)
LONGEST_ANSWER = 80


def declarative(
    question: str, answer: str, language: str, passage: str, sides: Sequence[str], draw: random.Random
) -> str:
    """Return a statement that the answer answers the question; `sides` are forms with both, side by side."""
    plain = question.strip().lstrip("¿").rstrip(" ?")
    answer = answer.strip().rstrip(".")
    if draw.random() < 0.75:
        for form, shape in _COMPILED.get(language, ()):
            found = form.fullmatch(plain)
            if found:
                made = _inside(found, answer, passage) if shape == "IN" else _filled(found, shape, answer)
                if made:
                    return made[:1].upper() + made[1:] + "."
    return draw.choice(sides).format(question=question.strip(), answer=answer)


def _filled(found: re.Match[str], shape: str, answer: str) -> str:
    parts = {name: value or "" for name, value in found.groupdict().items()}
    if shape.startswith(("en ", "em ")) and _BEGINS_WITH_PLACE.match(answer):
        shape = shape[3:]
    return shape.format(answer=answer, **parts)


def _inside(found: re.Match[str], answer: str, passage: str) -> str:
    """Put the verb behind the subject, which is taken to be the longest beginning that the passage has too."""
    verb, words = found["verb"], found["rest"].split()
    read = passage.lower()
    size = max((count for count in range(1, len(words)) if " ".join(words[:count]).lower() in read), default=0)
    if not size:
        return ""
    preposition = "" if _BEGINS_WITH_PLACE.match(answer) else "in "
    return " ".join((*words[:size], verb, *words[size:], preposition + answer))
