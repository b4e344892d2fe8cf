"""Turn sentences in English, Spanish and Portuguese into the questions that they answer, by patterns.

The rules are in `drafts/`, one file per language; `drafts/en.toml` explains the format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from answerable.text.stop_words import STOP_WORDS
from answerable.text.word_lists import LANGUAGES, read_toml

_FOLDER = Path(__file__).with_name("drafts")
_DANGLING = frozenset("not never also no nunca también lo la le se los las não também".split())
_POINTING_BACK = re.compile(
    r"(?i)\b(?:these|those|such|est[aeo]s?|es[aeo]s?|dich[oa]s?|[dn]?(?:ess|est)[aes]{1,2}|[dn]?(?:isso|isto))\b"
)
_MOST_WORDS = 6
"""Longer subjects are usually two clauses."""
_FEMININE = re.compile(r"(?:as|ades|[cs]iones|[çs]ões)$")
_YEAR = r"(?:1\d{3}|20\d{2})(?![\d.,]\d)"
_NAME = r"[A-ZÀ-Þ][\w’'-]+(?: (?:(?:de|da|do|del|of|von|van) )?[A-ZÀ-Þ][\w’'-]+){0,3}"


@dataclass(frozen=True, slots=True)
class Rule:
    """A sentence pattern, the question as a format string of the pattern's groups, and the type of the answer."""

    type: str
    pattern: re.Pattern[str]
    question: str


@dataclass(frozen=True, slots=True)
class Asking:
    """A question that a sentence answers, and the span of the answer in the sentence."""

    type: str
    question: str
    start: int
    end: int


def questions_of(sentence: str, language: str) -> Iterator[Asking]:
    """Yield the questions that a sentence answers by its form; no question for languages without rules."""
    for rule in rules_of(language) if language in LANGUAGES else ():
        match = rule.pattern.match(sentence)
        if match and _is_subject(match["s"]) and (rule.type != "definition" or _is_whole(match["a"], language)):
            groups = {name: text or "" for name, text in match.groupdict().items()}
            groups["s"] = _within(groups["s"], language)
            groups["plain"] = _words("en").get("infinitives", {}).get(groups.get("v"), "")
            groups["many"] = "as" if _FEMININE.search(groups.get("u", "")) else "os"
            yield Asking(rule.type, " ".join(rule.question.format(**groups).split()), *match.span("a"))


def heading_question(language: str, title: str, heading: str) -> str:
    """Return a question about a section, in a language of `LANGUAGES`."""
    question: str = _words(language)["heading_question"]
    return question.format(title=title, heading=heading)


@cache
def rules_of(language: str) -> tuple[Rule, ...]:
    """Return the rules of a language of `LANGUAGES`, in the order in which they are tried."""
    words = _words(language)
    date = words["date"].replace("<month>", words["months"]).replace("<year>", _YEAR)
    openings = "|".join(words["openings"].split())
    parts = {
        "<s>": rf"(?P<s>(?!(?:{openings})\b)[A-ZÀ-Þ][^,;:.!?()|\n“”\"«»]{{1,60}}?)",
        "<rest>": r"(?P<rest>(?: [^,;:.!?()|\n]{1,40}?)?)",
        "<date>": rf"(?P<a>{date})\b",
        "<number>": rf"(?:{words['about']})?(?:\d[\d.,]*(?<=\d)|{words['numbers']})",
        "<amount>": r"(?P<a>[$€£]\s?\d[\d.,]*(?<=\d)|\d[\d.,]*(?<=\d)(?: ?[^\W\d_]+| ?[€%])?)",
        "<time>": f"(?:{words['times']})",
        "<name>": rf"(?P<a>{_NAME})",
        "<done>": words["done"],
        "<what>": r"[^,.;:!?()|\n]{8,120}\b(?= ?[,;:(]|[.!?]?$)",
    }
    found = []
    for kind, pattern, question in words["rules"]:
        for name, part in parts.items():
            pattern = pattern.replace(name, part)
        found.append(Rule(kind, re.compile(pattern), question))
    return tuple(found)


def _words(language: str) -> dict[str, Any]:
    return read_toml(_FOLDER / f"{language}.toml")


def _is_subject(text: str) -> bool:
    words = text.split()
    return len(words) <= _MOST_WORDS and words[-1].lower() not in _DANGLING


def _is_whole(definition: str, language: str) -> bool:
    """Return whether the definition is complete and does not refer to another sentence."""
    return definition.split()[-1].lower() not in STOP_WORDS[language] and not _POINTING_BACK.search(definition)


def _within(subject: str, language: str) -> str:
    """Return the subject as written inside a sentence: a determiner at its start gets a small letter."""
    is_determiner = subject.split(" ", 1)[0] in _words(language)["determiners"].split()
    return subject[0].lower() + subject[1:] if is_determiner else subject
