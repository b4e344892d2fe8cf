"""A passage that doesn't answer a question: the sentence nearest to the question, and which of its words are missing."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from answerable.datatypes import RetrievalResult
from answerable.text.sentences import is_furniture, sentence_spans
from answerable.text.terms import question_words, terms

_WORD = re.compile(r"\w+(?:[-'’.]\w+)*")


@dataclass(frozen=True, slots=True)
class Nearest:
    """The span of the nearest sentence in the document, and the words of the question that the passage has and lacks.

    Words are spelled as in the question; words without a meaning of their own ("the", "which") are left out.
    """

    start: int
    end: int
    present: tuple[str, ...]
    missing: tuple[str, ...]


def nearest(question: str, language: str, result: RetrievalResult) -> Nearest:
    """Return how near a passage comes to a question in this language."""
    chunk, spoken = result.chunk, result.document.language
    around = (result.document.title, chunk.context, *chunk.location.headings, *chunk.location.senders)
    held = set(terms(" ".join((*around, chunk.content)), spoken))
    asked = _words(question, language, {spoken, language})
    present = {word: stems for word, stems in asked.items() if _has(held, stems)}
    missing = tuple(word for word in asked if word not in present)
    start, end = _sentence(chunk.content, spoken, list(present.values()))
    return Nearest(chunk.start + start, chunk.start + end, tuple(present), missing)


def _words(question: str, language: str, languages: Collection[str]) -> dict[str, list[frozenset[str]]]:
    """Return the words of a question as it spells them, each once, with the stems of their parts."""
    found: dict[str, list[frozenset[str]]] = {}
    seen = set()
    for match in _WORD.finditer(question):
        stems = question_words(match[0], language, languages)
        if stems and frozenset(stems) not in seen:
            seen.add(frozenset(stems))
            found[match[0]] = stems
    return found


def _has(held: Collection[str], word: list[frozenset[str]]) -> bool:
    return all(not stems.isdisjoint(held) for stems in word)


def _sentence(content: str, language: str, wanted: list[list[frozenset[str]]]) -> tuple[int, int]:
    """Return the sentence that has the most of these words, the first of several; headings are no sentences."""
    spans = [span for span in sentence_spans(content, language) if not is_furniture(content, *span)]
    if not spans:
        return 0, len(content)

    def shared(span: tuple[int, int]) -> int:
        held = set(terms(content[slice(*span)], language))
        return sum(_has(held, word) for word in wanted)

    return max(spans, key=shared)
