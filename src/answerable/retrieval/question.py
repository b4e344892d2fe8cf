"""A question, read: its language and the terms to look for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from answerable.analysis.languages import question_language
from answerable.analysis.terms import question_words


@dataclass(frozen=True, slots=True)
class Question:
    """`language` is empty where it can't be told; a word is the set of its stems in the library's languages."""

    text: str
    language: str
    words: tuple[frozenset[str], ...]

    @property
    def terms(self) -> list[str]:
        """Every stem of every word, each once, in a steady order."""
        return sorted(frozenset[str]().union(*self.words))


def analyze_question(text: str, languages: Collection[str], topic: str | None = None) -> Question:
    """Reads a question for a library in these languages; its words are those of `topic`, where that is given."""
    language = question_language(text)
    return Question(text, language, tuple(question_words(text if topic is None else topic, language, languages)))
