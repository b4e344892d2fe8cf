"""Analyse a question: its language, its search terms and its exact strings."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from answerable.datatypes import Span
from answerable.retrieval.exact import exact_texts
from answerable.text.languages import keyword_language, question_language
from answerable.text.terms import question_words

# A run without spaces is one span: models tokenize "GLP-1R" otherwise than its parts.
_RUN = re.compile(r"\S*\w")


@dataclass(frozen=True, slots=True)
class Question:
    """An analysed question. `language` is "" if unknown; each word is the set of its stems; `exact`: see `exact.py`."""

    text: str
    language: str
    words: tuple[frozenset[str], ...]
    languages: frozenset[str] = frozenset()
    exact: tuple[str, ...] = ()

    @property
    def terms(self) -> list[str]:
        """All stems of all words, each once, sorted."""
        return sorted(frozenset[str]().union(*self.words))

    def spans(self, weights: Mapping[frozenset[str], float]) -> dict[Span, float]:
        """Return the spans of the words with their weights; words without a space between them are one span."""
        found = {}
        for run in _RUN.finditer(self.text):
            words = question_words(run[0], self.language, self.languages)
            found[run.span()] = max((weights.get(word, 0.0) for word in words), default=0.0)
        return found


def analyze_question(text: str, languages: Collection[str], topic: str | None = None) -> Question:
    """Analyse a question for a library in these languages; take the words from `topic` if it is given."""
    language = question_language(text, languages)
    words = question_words(text if topic is None else topic, language, languages)
    return Question(text, language, tuple(words), frozenset(languages), exact_texts(text))


def required(question: str) -> str:
    """Return the question without white space around it. Raise ValueError if nothing is left."""
    if not question.strip():
        raise ValueError("the question is empty: ask something")
    return question.strip()


def likely_language(question: str, languages: Sequence[str]) -> str:
    """Return the language of a question whose words don't tell it: by its letters, or the library's only one."""
    named = [language for language in languages if language]
    return keyword_language(question, named) or (named[0] if len(named) == 1 else "")
